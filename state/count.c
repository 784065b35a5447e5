/* SPDX-License-Identifier: MIT */
/*
 * Counters are added to and nothing else. What can be summed up is not counted twice: how many operations there were is
 * the sum of their histogram by attempts, so the numbers agree whenever a process is killed between two additions.
 *
 * An addition to a line that another processor has just written costs as much as fifty others, so operations that
 * succeed at once are counted by the bucket of their duration alone, and everything else follows from it.
 */
#include "state/count.h"

#include <stdatomic.h>
#include <stddef.h>

#include "state/entries.h"
#include "state/layout.h"

const int64_t state_ms_bounds[STATE_MS_BUCKETS - 1] = {5,    10,   25,    50,    100,   250,    500,   1000,
                                                       2500, 5000, 10000, 30000, 60000, 120000, 300000};

static void add(_Atomic uint64_t *counter, int64_t value)
{
	atomic_fetch_add_explicit(counter, value > 0 ? (uint64_t)value : 0, memory_order_relaxed);
}

/* The last one counts whatever has no place of its own. */
static void add_at(_Atomic uint64_t *counters, size_t count, int64_t index)
{
	add(&counters[index >= 0 && index < (int64_t)count ? (size_t)index : count - 1], 1);
}

static void add_ms(_Atomic uint64_t *buckets, _Atomic uint64_t *sum, int64_t ms)
{
	size_t bucket = 0;
	while (bucket < STATE_MS_BUCKETS - 1 && ms > state_ms_bounds[bucket])
		bucket++;
	add(&buckets[bucket], 1);
	add(sum, ms);
}

void state_count_plain_success(struct state_entry *entry, int64_t elapsed_ms)
{
	add_ms(entry->plain.ms, &entry->plain.ms_sum, elapsed_ms);
}

void state_count_operation(struct state_entry *entry, const struct state_operation *operation)
{
	struct state_other_counters *counters = &entry->other;
	if (operation->succeeded && operation->attempts == 1 && operation->sends == 1) {
		state_count_plain_success(entry, operation->elapsed_ms);
		return;
	}
	add_at(counters->attempts[operation->succeeded], STATE_COUNT_BUCKETS, operation->attempts);
	add(&counters->attempts_sum, operation->attempts);
	add_at(counters->sends, STATE_COUNT_BUCKETS, operation->sends);
	add(&counters->sends_sum, operation->sends);
	add_at(counters->stops, STATE_REASONS_MAX, operation->reason);
	if (operation->succeeded)
		add_ms(counters->success_ms, &counters->success_ms_sum, operation->elapsed_ms);
}

void state_count_retry(struct state_entry *entry, int failure, int64_t wait_ms)
{
	add_at(entry->other.retries, STATE_CLASSES_MAX, failure);
	add_ms(entry->other.waits_ms, &entry->other.waits_ms_sum, wait_ms);
}

void state_count_event(struct state_entry *entry, enum state_event event)
{
	add_at(entry->other.events, STATE_EVENTS_MAX, event);
}

void state_count_lost_records(struct state *state, uint64_t count)
{
	struct state_layout *layout = state_layout_to_write(state);
	if (layout)
		atomic_fetch_add_explicit(&layout->header.lost_records, count, memory_order_relaxed);
}
