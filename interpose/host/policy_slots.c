/* SPDX-License-Identifier: MIT */

/*
 * A policy lives in one of a few slots, which count who holds it. The counts are in the slots and not in the policies,
 * so that a thread which comes too late counts in memory that is still there: it adds itself, looks whether the slot
 * still is the one in force, and goes back if not. Whoever frees looks the other way round: first the slot is no more
 * in force, then its count is 0. Of two such pairs one always sees the other (all four are sequentially consistent).
 */

#include <stdatomic.h>
#include <stddef.h>

#include "interpose/host/policy_slots.h"
#include "interpose/host/tsan.h"

#define SLOT_BITS 3
#define SLOTS     (1 << SLOT_BITS)

struct slot {
	/* Each on a line of its own: all threads count in the one that is in force. */
	_Alignas(64) _Atomic uint64_t holders;
	const struct policy *policy; /* changes only while the slot isn't in force */
};

static struct slot slots[SLOTS];
static _Atomic uint64_t current; /* a version, whose low bits are the slot; 0: no policy is in force */

static struct slot *slot_of(uint64_t version)
{
	return &slots[version & (SLOTS - 1)];
}

void policy_slots_hold(struct policy_hold *hold)
{
	uint64_t version = atomic_load(&current);
	hold->policy = NULL;
	while (version != 0) {
		struct slot *slot = slot_of(version);
		atomic_fetch_add(&slot->holders, 1);
		uint64_t now = atomic_load(&current);
		if (now == version) {
			tsan_acquire(&current);
			hold->policy = slot->policy;
			hold->version = version;
			return;
		}
		atomic_fetch_sub(&slot->holders, 1);
		version = now;
	}
}

void policy_slots_release(const struct policy_hold *hold)
{
	struct slot *slot = slot_of(hold->version);
	tsan_release(slot);
	atomic_fetch_sub(&slot->holders, 1);
}

static bool is_free(struct slot *slot)
{
	uint64_t version = atomic_load(&current);
	return (version == 0 || slot != slot_of(version)) && atomic_load(&slot->holders) == 0;
}

void policy_slots_sweep(void)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct slot *slot = &slots[i];
		if (!slot->policy || !is_free(slot))
			continue;
		tsan_acquire(slot);
		policy_free(slot->policy);
		slot->policy = NULL;
	}
}

/*
 * All slots are held by operations that began before the last policies, or by what a fork left behind, whose holders
 * exist in the parent only. Then the policy of one that isn't in force is never freed.
 */
static struct slot *find_slot(void)
{
	uint64_t version = atomic_load(&current);
	policy_slots_sweep();
	for (size_t i = 0; i < SLOTS; i++)
		if (!slots[i].policy && is_free(&slots[i]))
			return &slots[i];
	return version != 0 && slot_of(version) == &slots[0] ? &slots[1] : &slots[0];
}

void policy_slots_publish(const struct policy *policy)
{
	static uint64_t count;
	if (!policy) {
		atomic_store(&current, 0);
		return;
	}
	struct slot *slot = find_slot();
	slot->policy = policy;
	tsan_release(&current);
	atomic_store(&current, ++count << SLOT_BITS | (uint64_t)(slot - slots));
}

const struct policy *policy_slots_peek(void)
{
	uint64_t version = atomic_load(&current);
	return version != 0 ? slot_of(version)->policy : NULL;
}
