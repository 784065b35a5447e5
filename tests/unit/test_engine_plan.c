/* SPDX-License-Identifier: MIT */

/* How long an attempt may take, and whether there is one at all. */

#include "tests/unit/test_engine.h"

enum { ENTRY_MS = 5000 };

#define NEVER ENGINE_NEVER

static void fail_attempt(struct engine_operation *operation, int64_t now_ms)
{
	struct test_ports ports = {.tokens = true};
	struct engine_ports engine_ports = test_engine_ports(&ports);
	struct engine_outcome outcome = test_status(503);

	engine_judge(operation, &outcome, now_ms, &engine_ports);
}

static void limit_is_the_tightest(void **state)
{
	static const struct {
		int64_t per_try_ms, deadline_ms, inherited_ms, program_ms; /* inherited: after entry */
		int64_t first_ms;                                          /* at entry */
		int64_t second_ms;                                         /* 400 ms later */
	} cases[] = {
	    {0, 0, NEVER, 0, NEVER, NEVER},
	    {600, 0, NEVER, 0, 600, 600},
	    {0, 1500, NEVER, 0, 1500, 1100},
	    {600, 1500, NEVER, 0, 600, 600},
	    {600, 900, NEVER, 0, 600, 500},
	    {0, 0, 900, 0, 900, 500},
	    {0, 1500, 900, 0, 900, 500},
	    {0, 700, 900, 0, 700, 300},
	    {0, 0, NEVER, 800, NEVER, 400},
	    {600, 0, NEVER, 800, 600, 400},
	    {900, 0, NEVER, 800, NEVER, 400},
	    {0, 800, NEVER, 800, NEVER, 400},
	    {0, 0, 700, 800, 700, 300},
	    {0, 401, NEVER, 0, 401, 1},
	    {0, 400, NEVER, 0, 400, 1},
	    {0, 200, NEVER, 0, 200, 1},
	    {0, 0, NEVER, 1, NEVER, 1},
	    {INT64_MAX, INT64_MAX, NEVER, INT64_MAX, NEVER, NEVER},
	    {0, INT64_MAX - 1, NEVER, 0, NEVER, NEVER},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = test_rules();
		struct engine_request request = test_request(ENGINE_METHOD_GET);
		struct engine_operation operation;
		struct engine_plan plan;

		rules.per_try_ms = cases[i].per_try_ms;
		rules.deadline_ms = cases[i].deadline_ms;
		request.program_timeout_ms = cases[i].program_ms;
		if (cases[i].inherited_ms != NEVER)
			request.inherited_deadline_ms = ENTRY_MS + cases[i].inherited_ms;
		engine_begin(&operation, &rules, &request, ENTRY_MS);
		assert_true(engine_plan(&operation, ENTRY_MS, &plan));
		assert_int_equal(plan.number, 1);
		assert_int_equal(plan.limit_ms, cases[i].first_ms);
		fail_attempt(&operation, ENTRY_MS);
		assert_true(engine_plan(&operation, ENTRY_MS + 400, &plan));
		assert_int_equal(plan.number, 2);
		assert_int_equal(plan.limit_ms, cases[i].second_ms);
	}
}

/* The program's timeout runs from entry; an attempt that starts later must be told what is left of it. */
static void late_first_attempt_gets_what_is_left(void **state)
{
	struct policy_rules rules = test_rules();
	struct engine_request request = test_request(ENGINE_METHOD_GET);
	struct engine_operation operation;
	struct engine_plan plan;

	(void)state;
	request.program_timeout_ms = 800;
	engine_begin(&operation, &rules, &request, ENTRY_MS);
	assert_true(engine_plan(&operation, ENTRY_MS + 300, &plan));
	assert_int_equal(plan.limit_ms, 500);
}

static void too_little_time_at_entry_plans_nothing(void **state)
{
	static const struct {
		int64_t deadline_ms, inherited_ms, program_ms, min_try_ms;
		bool planned;
	} cases[] = {
	    {100, NEVER, 0, 100, true},
	    {99, NEVER, 0, 100, false},
	    {0, ENTRY_MS + 100, 0, 100, true},
	    {0, ENTRY_MS + 99, 0, 100, false},
	    {0, ENTRY_MS, 0, 0, false},
	    {0, ENTRY_MS - 1, 0, 0, false},
	    {0, INT64_MIN, 0, 0, false},
	    {0, ENTRY_MS + 1, 0, 0, true},
	    {60000, ENTRY_MS + 1, 0, 100, false},
	    /* The program's own timeout is for libcurl to enforce: one attempt is always made. */
	    {0, NEVER, 1, 100, true},
	    {0, NEVER, 99, 100, true},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = test_rules();
		struct engine_request request = test_request(ENGINE_METHOD_GET);
		struct engine_operation operation;
		struct engine_plan plan;

		rules.deadline_ms = cases[i].deadline_ms;
		rules.min_try_ms = cases[i].min_try_ms;
		request.inherited_deadline_ms = cases[i].inherited_ms;
		request.program_timeout_ms = cases[i].program_ms;
		engine_begin(&operation, &rules, &request, ENTRY_MS);
		assert_int_equal(engine_plan(&operation, ENTRY_MS, &plan), cases[i].planned);
		assert_int_equal(operation.attempts, cases[i].planned ? 1 : 0);
	}
}

static void connect_limit_is_the_policys(void **state)
{
	struct policy_rules rules = test_rules();
	struct engine_request request = test_request(ENGINE_METHOD_GET);
	struct engine_operation operation;
	struct engine_plan plan;

	(void)state;
	engine_begin(&operation, &rules, &request, ENTRY_MS);
	assert_true(engine_plan(&operation, ENTRY_MS, &plan));
	assert_int_equal(plan.connect_limit_ms, NEVER);
	rules.connect_timeout_ms = 250;
	assert_true(engine_plan(&operation, ENTRY_MS, &plan));
	assert_int_equal(plan.connect_limit_ms, 250);
}

static void only_retries_have_a_header_limit(void **state)
{
	static const struct {
		int64_t window_ms, later_ms, expected_ms;
	} cases[] = {{30000, 400, 29600}, {0, 400, NEVER}, {400, 400, 1}, {300, 400, 1}, {INT64_MAX, 400, NEVER}};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = test_rules();
		struct engine_request request = test_request(ENGINE_METHOD_GET);
		struct engine_operation operation;
		struct engine_plan plan;

		rules.retry_max_time_ms = cases[i].window_ms;
		engine_begin(&operation, &rules, &request, ENTRY_MS);
		assert_true(engine_plan(&operation, ENTRY_MS, &plan));
		assert_int_equal(plan.header_limit_ms, NEVER);
		assert_true(engine_plan(&operation, ENTRY_MS + cases[i].later_ms, &plan));
		assert_int_equal(plan.header_limit_ms, cases[i].expected_ms);
	}
}

/* An intent that began 1000 ms before the operation: its own limits run from there, the program's timeout doesn't. */
static void limits_of_an_intent_run_from_its_begin(void **state)
{
	static const struct {
		int64_t deadline_ms, inherited_ms, program_ms, window_ms; /* inherited: after entry */
		bool planned;
		int64_t limit_ms, header_limit_ms; /* of attempt 2, 400 ms after entry */
	} cases[] = {
	    {0, NEVER, 0, 0, true, NEVER, NEVER},
	    {3000, NEVER, 0, 0, true, 1600, NEVER},
	    {1100, NEVER, 0, 0, true, 1, NEVER},
	    {1099, NEVER, 0, 0, false, 0, 0},
	    {500, NEVER, 0, 0, false, 0, 0},
	    {3000, 800, 0, 0, true, 400, NEVER},
	    {0, 800, 0, 0, true, 400, NEVER},
	    {0, NEVER, 800, 0, true, 400, NEVER},
	    {0, NEVER, 0, 30000, true, NEVER, 28600},
	    {0, NEVER, 0, 1400, true, NEVER, 1},
	    {0, NEVER, 0, INT64_MAX, true, NEVER, NEVER},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = test_rules();
		struct engine_request request = test_request(ENGINE_METHOD_GET);
		struct engine_operation operation;
		struct engine_plan plan;

		rules.deadline_ms = cases[i].deadline_ms;
		rules.retry_max_time_ms = cases[i].window_ms;
		request.program_timeout_ms = cases[i].program_ms;
		request.prior_ms = 1000;
		if (cases[i].inherited_ms != NEVER)
			request.inherited_deadline_ms = ENTRY_MS + cases[i].inherited_ms;
		engine_begin(&operation, &rules, &request, ENTRY_MS);
		assert_int_equal(engine_plan(&operation, ENTRY_MS, &plan), cases[i].planned);
		if (!cases[i].planned)
			continue;
		assert_int_equal(plan.number, 1);
		assert_int_equal(plan.header_limit_ms, NEVER);
		assert_true(engine_plan(&operation, ENTRY_MS + 400, &plan));
		assert_int_equal(plan.limit_ms, cases[i].limit_ms);
		assert_int_equal(plan.header_limit_ms, cases[i].header_limit_ms);
	}
}

/* A clock near the ends of its range must not wrap a limit into the past. */
static void extreme_clocks_do_not_overflow(void **state)
{
	static const int64_t entries[] = {INT64_MIN, -1, 0, INT64_MAX - 2};

	(void)state;
	for (size_t i = 0; i < countof(entries); i++) {
		struct policy_rules rules = test_rules();
		struct engine_request request = test_request(ENGINE_METHOD_GET);
		struct engine_operation operation;
		struct engine_plan plan;

		rules.deadline_ms = 10000;
		engine_begin(&operation, &rules, &request, entries[i]);
		assert_true(engine_plan(&operation, entries[i], &plan));
		assert_true(plan.limit_ms >= 10000);
		fail_attempt(&operation, entries[i] + 1);
		assert_true(engine_plan(&operation, entries[i] + 1, &plan));
		assert_true(plan.limit_ms >= 9999);
		assert_true(plan.header_limit_ms >= 29999);
	}
}

static void intent_older_than_the_clock_has_no_time_left(void **state)
{
	struct policy_rules rules = test_rules();
	struct engine_request request = test_request(ENGINE_METHOD_GET);
	struct engine_operation operation;
	struct engine_plan plan;

	(void)state;
	rules.deadline_ms = 10000;
	request.prior_ms = INT64_MAX;
	engine_begin(&operation, &rules, &request, INT64_MIN + 5);
	assert_false(engine_plan(&operation, INT64_MIN + 5 + 10000, &plan));
	assert_int_equal(operation.attempts, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(limit_is_the_tightest),
	    cmocka_unit_test(late_first_attempt_gets_what_is_left),
	    cmocka_unit_test(too_little_time_at_entry_plans_nothing),
	    cmocka_unit_test(connect_limit_is_the_policys),
	    cmocka_unit_test(only_retries_have_a_header_limit),
	    cmocka_unit_test(limits_of_an_intent_run_from_its_begin),
	    cmocka_unit_test(intent_older_than_the_clock_has_no_time_left),
	    cmocka_unit_test(extreme_clocks_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
