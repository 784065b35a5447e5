/* SPDX-License-Identifier: MIT */

/* Counters, as a reader sees them. */

#include "tests/unit/test_state_support.h"

static uint64_t sum_of(const uint64_t *values, size_t count)
{
	uint64_t total = 0;
	for (size_t i = 0; i < count; i++)
		total += values[i];
	return total;
}

static struct state_view view_after(const struct state_operation *operations, size_t count)
{
	struct state state;
	struct state_view view = {0};
	open_shared(&state);
	for (size_t i = 0; i < count; i++)
		state_count_operation(state_find_entry(&state, ORIGIN, "policy"), &operations[i]);
	assert_true(view_of(&state, ORIGIN, &view));
	state_close(&state);
	return view;
}

static void operations_add_up(void **unused)
{
	(void)unused;
	static const struct state_operation operations[] = {
	    {.succeeded = true, .attempts = 1, .sends = 1, .elapsed_ms = 4, .reason = 3},
	    {.succeeded = true, .attempts = 1, .sends = 1, .elapsed_ms = 300001, .reason = 3},
	    {.succeeded = true, .attempts = 1, .sends = 2, .elapsed_ms = 6, .reason = 3},
	    {.succeeded = true, .attempts = 3, .sends = 3, .elapsed_ms = 2500, .reason = 3},
	    {.succeeded = false, .attempts = 4, .sends = 12, .elapsed_ms = 9000, .reason = 7},
	    {.succeeded = false, .attempts = 0, .sends = 0, .elapsed_ms = 0, .reason = 13},
	};
	struct state_view view = view_after(operations, sizeof(operations) / sizeof(operations[0]));
	assert_int_equal(view.operations[0], 2);
	assert_int_equal(view.operations[1], 4);
	assert_int_equal(view.rescued, 1);

	assert_int_equal(view.attempts[0], 1);
	assert_int_equal(view.attempts[1], 3);
	assert_int_equal(view.attempts[3], 1);
	assert_int_equal(view.attempts[4], 1);
	assert_int_equal(sum_of(view.attempts, STATE_COUNT_BUCKETS), 6);
	assert_int_equal(view.attempts_sum, 10);

	assert_int_equal(view.sends[0], 1);
	assert_int_equal(view.sends[1], 2);
	assert_int_equal(view.sends[2], 1);
	assert_int_equal(view.sends[3], 1);
	assert_int_equal(view.sends[STATE_COUNT_BUCKETS - 1], 1);
	assert_int_equal(view.sends_sum, 19);

	assert_int_equal(view.success_ms[0], 1);
	assert_int_equal(view.success_ms[1], 1);
	assert_int_equal(view.success_ms[8], 1);
	assert_int_equal(view.success_ms[STATE_MS_BUCKETS - 1], 1);
	assert_int_equal(sum_of(view.success_ms, STATE_MS_BUCKETS), 4);
	assert_int_equal(view.success_ms_sum, 4 + 300001 + 6 + 2500);

	assert_int_equal(view.stops[3], 2);
	assert_int_equal(view.stops[7], 1);
	assert_int_equal(view.stops[13], 1);
}

static void bounds_are_inclusive(void **unused)
{
	for (size_t i = 0; i < STATE_MS_BUCKETS - 1; i++) {
		const struct state_operation operations[] = {
		    {.succeeded = true, .attempts = 1, .sends = 1, .elapsed_ms = state_ms_bounds[i]},
		    {.succeeded = true, .attempts = 1, .sends = 1, .elapsed_ms = state_ms_bounds[i] + 1},
		};
		struct state_view view = view_after(operations, 2);
		assert_int_equal(view.success_ms[i], 1);
		assert_int_equal(view.success_ms[i + 1], 1);
		assert_int_equal(remove_test_directory(unused), 0);
		assert_int_equal(make_test_directory(unused), 0);
	}
}

/* Numbers that can't be come somewhere, and nowhere else. */
static void nonsense_is_counted_last(void **unused)
{
	(void)unused;
	static const struct state_operation operations[] = {
	    {.succeeded = false, .attempts = -1, .sends = INT64_MIN, .elapsed_ms = -5, .reason = -1},
	    {.succeeded = false, .attempts = INT32_MAX, .sends = INT64_MAX, .elapsed_ms = 0, .reason = 1000},
	};
	struct state_view view = view_after(operations, 2);
	assert_int_equal(view.operations[0], 2);
	assert_int_equal(view.attempts[STATE_COUNT_BUCKETS - 1], 2);
	assert_int_equal(view.sends[STATE_COUNT_BUCKETS - 1], 2);
	assert_int_equal(view.stops[STATE_REASONS_MAX - 1], 2);
	assert_int_equal(view.attempts_sum, INT32_MAX);
	assert_int_equal(view.sends_sum, INT64_MAX);
}

static void retries_and_events(void **unused)
{
	(void)unused;
	struct state state;
	struct state_view view;
	open_shared(&state);
	struct state_entry *entry = state_find_entry(&state, ORIGIN, "policy");
	state_count_retry(entry, 1, 1000);
	state_count_retry(entry, 1, 7);
	state_count_retry(entry, 4, 0);
	state_count_event(entry, STATE_EVENT_EXHAUSTED);
	state_count_event(entry, STATE_EVENT_BREAKER_OPENED);
	state_count_event(entry, STATE_EVENT_BREAKER_OPENED);
	assert_true(view_of(&state, ORIGIN, &view));
	assert_int_equal(view.retries[1], 2);
	assert_int_equal(view.retries[4], 1);
	assert_int_equal(sum_of(view.retries, STATE_CLASSES_MAX), 3);
	assert_int_equal(sum_of(view.waits_ms, STATE_MS_BUCKETS), 3);
	assert_int_equal(view.waits_ms[0], 1);
	assert_int_equal(view.waits_ms[1], 1);
	assert_int_equal(view.waits_ms_sum, 1007);
	assert_int_equal(view.events[STATE_EVENT_EXHAUSTED], 1);
	assert_int_equal(view.events[STATE_EVENT_BUDGET_EMPTY], 0);
	assert_int_equal(view.events[STATE_EVENT_BREAKER_OPENED], 2);
	assert_int_equal(sum_of(view.operations, STATE_RESULTS), 0);
	state_close(&state);
}

static uint64_t lost_records_of(const struct state *state)
{
	struct state_snapshot *snapshot = state_snapshot_take(state);
	assert_non_null(snapshot);
	uint64_t lost = state_snapshot_lost_records(snapshot);
	state_snapshot_free(snapshot);
	return lost;
}

/* By all processes together, and by one that shares nothing. */
static void lost_records_are_counted(void **unused)
{
	(void)unused;
	struct state one, other, alone = {.shared = NULL};
	open_shared(&one);
	open_shared(&other);
	state_count_lost_records(&one, 3);
	state_count_lost_records(&other, 4);
	state_count_lost_records(&alone, 5);
	assert_int_equal(lost_records_of(&one), 7);
	assert_int_equal(lost_records_of(&alone), 5);
	state_reset(&one, false);
	assert_int_equal(lost_records_of(&other), 0);
	state_close(&one);
	state_close(&other);
	state_close(&alone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_DIRECTORY(operations_add_up),        WITH_DIRECTORY(bounds_are_inclusive),
	    WITH_DIRECTORY(nonsense_is_counted_last), WITH_DIRECTORY(retries_and_events),
	    WITH_DIRECTORY(lost_records_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
