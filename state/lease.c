/* SPDX-License-Identifier: MIT */
/*
 * A lease is one word: the instant at which it ends. To take one is to put a later instant where there is 0 or one that
 * has passed, by compare-and-swap, in the first `limit` places only: that makes the limit exact without a counter that
 * a killed process would leave too high. No process id is involved: ids are used again, and mean nothing across
 * containers that share the file.
 */
#include "state/lease.h"

#include <stdatomic.h>

#include "state/layout.h"

enum { TICKS_PER_S = 16 };

/* An end further away than any wait is nonsense, or 8.5 years old: not held. */
#define TICKS_MAX (UINT32_C(1) << 31)

/* Rounded down. */
static uint32_t tick_of(int64_t now_ms)
{
	return (uint32_t)(now_ms / 1000 * TICKS_PER_S + now_ms % 1000 * TICKS_PER_S / 1000);
}

static uint32_t end_of(int64_t now_ms, int64_t hold_ms)
{
	const int64_t hold_max_ms = (int64_t)(TICKS_MAX / TICKS_PER_S - 1) * 1000;
	if (hold_ms > hold_max_ms)
		hold_ms = hold_max_ms;
	uint32_t end = tick_of(now_ms + (hold_ms > 0 ? hold_ms : 0)) + 1;
	return end != 0 ? end : 1;
}

static bool is_held(uint32_t end, uint32_t now)
{
	return end != 0 && end != now && end - now <= TICKS_MAX;
}

bool state_lease_acquire(struct state_entry *entry, int64_t limit, int64_t now_ms, int64_t hold_ms,
                         struct state_lease *lease)
{
	uint32_t places = limit < STATE_LEASES ? (uint32_t)limit : STATE_LEASES;
	uint32_t now = tick_of(now_ms), end = end_of(now_ms, hold_ms);

	*lease = (struct state_lease){0};
	if (limit <= 0)
		return true;
	for (uint32_t slot = 0; slot < places; slot++) {
		uint32_t seen = atomic_load_explicit(&entry->leases[slot], memory_order_relaxed);
		if (is_held(seen, now) ||
		    !atomic_compare_exchange_strong_explicit(&entry->leases[slot], &seen, end, memory_order_acq_rel,
		                                             memory_order_relaxed))
			continue;
		*lease = (struct state_lease){.entry = entry, .slot = slot, .end = end};
		return true;
	}
	return false;
}

void state_lease_release(struct state_lease *lease)
{
	uint32_t mine = lease->end;
	if (lease->entry)
		atomic_compare_exchange_strong_explicit(&lease->entry->leases[lease->slot], &mine, 0,
		                                        memory_order_acq_rel, memory_order_relaxed);
	*lease = (struct state_lease){0};
}

uint64_t state_leases_held(const struct state_entry *entry, int64_t now_ms)
{
	uint64_t held = 0;
	for (size_t slot = 0; slot < STATE_LEASES; slot++)
		held += is_held(atomic_load_explicit(&entry->leases[slot], memory_order_relaxed), tick_of(now_ms));
	return held;
}
