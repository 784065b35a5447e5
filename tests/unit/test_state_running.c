/* SPDX-License-Identifier: MIT */

/* What is under way: kept, read by others, dropped. How the table works is test_state_intent.c's; it is the same. */

#include "tests/unit/test_state_support.h"

#include "state/running.h"

#define NOW_MS  INT64_C(1000000)
#define HOUR_MS INT64_C(3600000)

static struct state_running found[STATE_RUNNING];

static struct state_running running_of(uint64_t key)
{
	struct state_running running = {
	    .key = key,
	    .expires_ms = NOW_MS + HOUR_MS,
	    .pid = 4711,
	    .start_ticks = 17,
	    .attempts = 2,
	    .phase = STATE_PHASE_WAITING,
	};
	state_running_text(running.origin, ORIGIN);
	state_running_text(running.path, "/a\x1b[31m");
	return running;
}

static size_t read_at(const struct state *state, int64_t now_ms)
{
	struct state_snapshot *snapshot = state_snapshot_take(state);
	assert_non_null(snapshot);
	size_t count = state_snapshot_running(snapshot, now_ms, found);
	state_snapshot_free(snapshot);
	return count;
}

static void is_seen_by_others_until_it_is_over(void **unused)
{
	(void)unused;
	struct state state, other;
	open_shared(&state);
	open_shared(&other);
	struct state_running running = running_of(7), second = running_of(8);
	state_running_keep(&state, &running, NOW_MS);
	running.phase = STATE_PHASE_PERFORMING;
	state_running_keep(&state, &running, NOW_MS);
	assert_int_equal(read_at(&other, NOW_MS), 1);
	assert_int_equal(found[0].phase, STATE_PHASE_PERFORMING);
	assert_int_equal(found[0].pid, 4711);
	assert_string_equal(found[0].origin, ORIGIN);
	assert_string_equal(found[0].path, "/a?[31m");
	state_running_keep(&state, &second, NOW_MS);
	assert_int_equal(read_at(&other, NOW_MS), 2);
	state_running_drop(&state, 7);
	assert_int_equal(read_at(&other, NOW_MS), 1);
	assert_int_equal(found[0].key, 8);
	assert_int_equal(read_at(&other, NOW_MS + HOUR_MS), 0);
	state_close(&other);
	state_close(&state);
}

static void more_than_there_are_places(void **unused)
{
	(void)unused;
	struct state state;
	open_shared(&state);
	for (uint64_t key = 1; key <= 4 * STATE_RUNNING; key++) {
		struct state_running running = running_of(key);
		state_running_keep(&state, &running, NOW_MS);
	}
	size_t count = read_at(&state, NOW_MS);
	assert_true(count > STATE_RUNNING / 2 && count <= STATE_RUNNING);
	state_reset(&state, false);
	assert_int_equal(read_at(&state, NOW_MS), 0);
	state_close(&state);
}

/* What a process keeps to itself nobody could read. */
static void nothing_is_kept_where_nothing_is_shared(void **unused)
{
	(void)unused;
	struct state state = {.shared = NULL};
	struct state_running running = running_of(7);
	state_running_keep(&state, &running, NOW_MS);
	assert_int_equal(read_at(&state, NOW_MS), 0);
	state_running_drop(&state, 7);
	state_close(&state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_DIRECTORY(is_seen_by_others_until_it_is_over),
	    WITH_DIRECTORY(more_than_there_are_places),
	    WITH_DIRECTORY(nothing_is_kept_where_nothing_is_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
