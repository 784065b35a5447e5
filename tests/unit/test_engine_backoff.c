/* SPDX-License-Identifier: MIT */

/* Backoff, and how it goes together with what a server asks for. */

#include "tests/unit/test_engine.h"

#include "engine/backoff.h"

static void grows_to_the_cap(void **state)
{
	static const struct {
		int64_t base_ms;
		double multiplier;
		int64_t cap_ms;
		int retry;
		int64_t expected_ms;
	} cases[] = {
	    {200, 2, 800, 1, 200},    {200, 2, 800, 2, 400},          {200, 2, 800, 3, 800},   {200, 2, 800, 4, 800},
	    {200, 2, 800, 1000, 800}, {333, 2, 5000, 3, 1332},        {100, 1, 5000, 50, 100}, {100, 1.5, 5000, 3, 225},
	    {900, 2, 500, 1, 500},    {10, 10, INT64_MAX, 5, 100000},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = test_rules();

		rules.jitter = POLICY_JITTER_NONE;
		rules.backoff_base_ms = cases[i].base_ms;
		rules.backoff_multiplier = cases[i].multiplier;
		rules.backoff_cap_ms = cases[i].cap_ms;
		assert_int_equal(engine_backoff_ms(&rules, cases[i].retry, 0.5), cases[i].expected_ms);
	}
}

static void absurd_policies_stay_in_range(void **state)
{
	struct policy_rules rules = test_rules();

	(void)state;
	rules.backoff_base_ms = INT64_MAX;
	rules.backoff_multiplier = 1e300;
	rules.backoff_cap_ms = INT64_MAX;
	assert_true(engine_backoff_ms(&rules, INT32_MAX, 1) > INT64_MAX / 4);
}

static void jitter_spreads_the_draw(void **state)
{
	static const struct {
		enum policy_jitter jitter;
		double draw;
		int64_t min_ms;
		int64_t expected_ms;
	} cases[] = {
	    {POLICY_JITTER_FULL, 0, 0, 0},
	    {POLICY_JITTER_FULL, 0.25, 0, 250},
	    {POLICY_JITTER_FULL, 0.9999, 0, 999},
	    {POLICY_JITTER_FULL, 1, 0, 1000},
	    {POLICY_JITTER_EQUAL, 0, 0, 500},
	    {POLICY_JITTER_EQUAL, 0.5, 0, 750},
	    {POLICY_JITTER_EQUAL, 1, 0, 1000},
	    {POLICY_JITTER_NONE, 0, 0, 1000},
	    {POLICY_JITTER_NONE, 1, 0, 1000},
	    {POLICY_JITTER_FULL, 0, 50, 50},
	    {POLICY_JITTER_FULL, 0.25, 50, 250},
	    {POLICY_JITTER_NONE, 0, 5000, 5000},
	    /* Dice that are broken don't break the wait. */
	    {POLICY_JITTER_FULL, -1, 0, 0},
	    {POLICY_JITTER_FULL, 2, 0, 1000},
	    {POLICY_JITTER_FULL, __builtin_nan(""), 0, 0},
	    {POLICY_JITTER_FULL, __builtin_inf(), 0, 1000},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = test_rules();

		rules.jitter = cases[i].jitter;
		rules.backoff_min_ms = cases[i].min_ms;
		assert_int_equal(engine_backoff_ms(&rules, 1, cases[i].draw), cases[i].expected_ms);
	}
}

/* M-07: an outage of 3 s ends before the last of the built-in policy's attempts begins. */
static void builtin_waits_outlast_3_s(void **state)
{
	const struct policy_rules *rules = &policy_builtin()->sections[0].rules;
	int64_t shortest_ms = 0;

	(void)state;
	for (int retry = 1; retry < rules->max_attempts; retry++)
		shortest_ms += engine_backoff_ms(rules, retry, 0);
	assert_true(shortest_ms > 3000);
}

static void demand_is_a_floor_with_jitter_above_it(void **state)
{
	static const struct {
		int64_t asked_ms, pct;
		double draw;
		int64_t room_ms, expected_ms;
	} cases[] = {
	    {2000, 10, 0, ENGINE_NEVER, 2000},
	    {2000, 10, 0.5, ENGINE_NEVER, 2100},
	    {2000, 10, 1, ENGINE_NEVER, 2200},
	    {2000, 0, 1, ENGINE_NEVER, 2000},
	    {2000, 10, 1, 2150, 2150}, /* jitter is cut to what fits */
	    {2000, 10, 1, 2000, 2000},
	    {2000, 10, 1, 1999, 2000}, /* the demand isn't: it no longer fits, and says so */
	    {2000, 10, 1, -5, 2000},
	    {300, 0, 0.5, ENGINE_NEVER, 500}, /* the backoff is longer */
	    {300, 0, 0.5, 400, 500},
	    {1, 100, 0, ENGINE_NEVER, 1},
	    {INT64_MAX - 5, 100, 0.5, ENGINE_NEVER, ENGINE_NEVER},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = test_rules();
		struct engine_retry_after asked = {ENGINE_RETRY_AFTER_WAIT, cases[i].asked_ms};

		rules.retry_after_jitter_pct = cases[i].pct;
		assert_int_equal(engine_wait_ms(&rules, 1, cases[i].draw, asked, cases[i].room_ms),
		                 cases[i].expected_ms);
	}
}

static void no_demand_leaves_the_backoff(void **state)
{
	struct policy_rules rules = test_rules();
	struct engine_retry_after none = {ENGINE_RETRY_AFTER_NONE, 0};

	(void)state;
	assert_int_equal(engine_wait_ms(&rules, 2, 0.5, none, 10), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(grows_to_the_cap),
	    cmocka_unit_test(absurd_policies_stay_in_range),
	    cmocka_unit_test(jitter_spreads_the_draw),
	    cmocka_unit_test(builtin_waits_outlast_3_s),
	    cmocka_unit_test(demand_is_a_floor_with_jitter_above_it),
	    cmocka_unit_test(no_demand_leaves_the_backoff),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
