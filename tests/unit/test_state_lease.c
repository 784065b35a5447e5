/* SPDX-License-Identifier: MIT */

/* Leases: the limit is exact, they end by time alone, and nobody gives back what isn't his. */

#include "tests/unit/test_state_support.h"

#include <pthread.h>
#include <stdatomic.h>

static struct state state;
static struct state_entry *entry;

static int open_entry(void **unused)
{
	int failed = make_test_directory(unused);
	if (!failed) {
		open_shared(&state);
		entry = state_find_entry(&state, ORIGIN, "policy");
	}
	return failed;
}

static int close_entry(void **unused)
{
	state_close(&state);
	return remove_test_directory(unused);
}

static size_t acquire_all(int64_t limit, int64_t now_ms, int64_t hold_ms, struct state_lease *leases)
{
	size_t count = 0;
	while (count < 300 && state_lease_acquire(entry, limit, now_ms, hold_ms, &leases[count]))
		count++;
	return count;
}

static void limit_is_exact(void **unused)
{
	(void)unused;
	static const struct {
		int64_t limit;
		size_t expected;
	} cases[] = {{1, 1}, {2, 2}, {64, 64}, {255, 255}, {256, 256}, {257, 256}, {INT64_MAX, 256}};
	struct state_lease leases[300];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t count = acquire_all(cases[i].limit, 5000, 1000, leases);
		assert_int_equal(count, cases[i].expected);
		assert_int_equal(state_leases_held(entry, 5000), count);
		for (size_t j = 0; j < count; j++) {
			struct state_lease one;
			state_lease_release(&leases[j]);
			assert_true(state_lease_acquire(entry, cases[i].limit, 5000, 1000, &one));
			state_lease_release(&one);
		}
		assert_int_equal(state_leases_held(entry, 5000), 0);
	}
}

static void no_limit_needs_no_lease(void **unused)
{
	(void)unused;
	struct state_lease leases[300];
	assert_int_equal(acquire_all(0, 5000, 1000, leases), 300);
	assert_int_equal(state_leases_held(entry, 5000), 0);
	assert_null(leases[0].entry);
	state_lease_release(&leases[0]);
}

static void leases_end_by_themselves(void **unused)
{
	(void)unused;
	struct state_lease leases[303];
	assert_int_equal(acquire_all(3, 10000, 1000, leases), 3);
	/* Never too early, and at most one tick of 1/16 s (and its rounding) too late. */
	assert_int_equal(acquire_all(3, 11000, 1000, leases + 3), 0);
	assert_int_equal(acquire_all(3, 11125, 1000, leases + 3), 3);
	/* The old holders' release doesn't touch the new ones. */
	for (size_t i = 0; i < 3; i++)
		state_lease_release(&leases[i]);
	assert_int_equal(state_leases_held(entry, 11125), 3);
}

static void a_lease_of_no_time_is_one_all_the_same(void **unused)
{
	(void)unused;
	struct state_lease one, two;
	assert_true(state_lease_acquire(entry, 1, 10000, 0, &one));
	assert_false(state_lease_acquire(entry, 1, 10000, -5, &two));
	state_lease_release(&one);
	assert_true(state_lease_acquire(entry, 1, 10000, -5, &two));
	assert_false(state_lease_acquire(entry, 1, 10000, 0, &one));
}

/* The instants wrap every 8.5 years. */
static void clock_may_wrap(void **unused)
{
	(void)unused;
	const int64_t wrap_ms = (INT64_C(1) << 32) * 1000 / 16;
	for (int64_t before_ms = 0; before_ms < 300; before_ms += 10) {
		struct state_lease one, two;
		int64_t now_ms = wrap_ms - before_ms;
		assert_true(state_lease_acquire(entry, 1, now_ms, 100, &one));
		assert_false(state_lease_acquire(entry, 1, now_ms, 100, &two));
		assert_false(state_lease_acquire(entry, 1, now_ms + 100, 100, &two));
		assert_true(state_lease_acquire(entry, 1, now_ms + 250, 100, &two));
		state_lease_release(&two);
	}
}

static void very_long_waits_are_held(void **unused)
{
	(void)unused;
	static const int64_t holds_ms[] = {86400000, INT64_C(365) * 86400000, INT64_MAX / 2, INT64_MAX};
	for (size_t i = 0; i < sizeof(holds_ms) / sizeof(holds_ms[0]); i++) {
		struct state_lease one, two;
		assert_true(state_lease_acquire(entry, 1, 1000, holds_ms[i], &one));
		assert_false(state_lease_acquire(entry, 1, 80000000, 1, &two));
		state_lease_release(&one);
	}
}

static void rubbish_holds_nothing_for_ever(void **unused)
{
	(void)unused;
	struct state_lease lease;
	atomic_store(&entry->leases[0], UINT32_C(0xFFFFFFFF));
	assert_true(state_lease_acquire(entry, 1, 1000000, 1000, &lease));
}

/* A process that is gone with its lease. */
static int acquire_and_die(void *unused)
{
	(void)unused;
	struct state_lease lease;
	return state_lease_acquire(entry, 1, 10000, 60000, &lease) ? 0 : 1;
}

static void a_dead_holder_is_outlived(void **unused)
{
	(void)unused;
	struct state_lease lease;
	assert_int_equal(run_in_child(acquire_and_die, NULL), 0);
	assert_false(state_lease_acquire(entry, 1, 10000, 60000, &lease));
	assert_false(state_lease_acquire(entry, 1, 70000, 60000, &lease));
	assert_true(state_lease_acquire(entry, 1, 70125, 60000, &lease));
}

/* Threads that take, check and give back; the clock goes on, but no lease is held beyond its end. */

enum { THREADS = 6, ROUNDS = 20000, LIMIT = 3 };

static _Atomic int64_t clock_now_ms;
static _Atomic int held, held_max, granted;

static void *take_and_give(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		struct state_lease lease;
		int64_t now_ms = atomic_fetch_add(&clock_now_ms, 1);
		if (!state_lease_acquire(entry, LIMIT, now_ms, 1000000, &lease))
			continue;
		int now_held = atomic_fetch_add(&held, 1) + 1;
		int seen = atomic_load(&held_max);
		while (now_held > seen && !atomic_compare_exchange_weak(&held_max, &seen, now_held))
			;
		atomic_fetch_add(&granted, 1);
		atomic_fetch_sub(&held, 1);
		state_lease_release(&lease);
	}
	return NULL;
}

static void threads_never_exceed_the_limit(void **unused)
{
	(void)unused;
	pthread_t threads[THREADS];
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, NULL), 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_in_range(atomic_load(&held_max), 1, LIMIT);
	assert_true(atomic_load(&granted) > 0);
	assert_int_equal(state_leases_held(entry, atomic_load(&clock_now_ms)), 0);
}

#define WITH_ENTRY(test) cmocka_unit_test_setup_teardown(test, open_entry, close_entry)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_ENTRY(limit_is_exact),
	    WITH_ENTRY(no_limit_needs_no_lease),
	    WITH_ENTRY(leases_end_by_themselves),
	    WITH_ENTRY(a_lease_of_no_time_is_one_all_the_same),
	    WITH_ENTRY(clock_may_wrap),
	    WITH_ENTRY(very_long_waits_are_held),
	    WITH_ENTRY(rubbish_holds_nothing_for_ever),
	    WITH_ENTRY(a_dead_holder_is_outlived),
	    WITH_ENTRY(threads_never_exceed_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
