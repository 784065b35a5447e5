/* SPDX-License-Identifier: MIT */

/*
 * Who retries an intent: what is left of its limits under `nested = own`, and when an outer layer is left alone under
 * `nested = yield`.
 */

#include "tests/unit/test_engine_intent.h"

static struct policy_rules own_rules(void)
{
	struct policy_rules rules = test_rules();

	rules.nested = POLICY_NESTED_OWN;
	rules.nested_window_ms = 60000;
	rules.nested_quiet_ms = 5000;
	return rules;
}

/* nested = own. */

/* Two attempts of four, all within one deadline; the policies differ in what they limit. */
static void what_is_left_is_handed_on(void **state)
{
	static const struct {
		int64_t deadline_ms, window_ms, min_try_ms; /* from BEGAN_MS */
		int attempts;
		int64_t since_ms; /* now, from BEGAN_MS */
		bool left;
	} cases[] = {
	    {0, 30000, 100, 2, 2000, true},
	    {0, 30000, 100, 3, 2000, true},
	    {0, 30000, 100, 4, 2000, false},
	    {0, 30000, 100, 1000, 2000, false},
	    {0, 30000, 100, 2, 30000, true},
	    {0, 30000, 100, 2, 30001, false},
	    {0, 0, 100, 2, 80000000, true},
	    {10000, 0, 100, 2, 9900, true},
	    {10000, 0, 100, 2, 9901, false},
	    {10000, 0, 0, 2, 9999, true},
	    {10000, 0, 0, 2, 10000, false},
	    {10000, 5000, 100, 2, 5001, false},
	    {INT64_MAX, INT64_MAX, INT64_MAX, 2, 2000, true},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = own_rules();
		struct engine_request request = test_request(ENGINE_METHOD_GET);
		struct engine_intent intent = failed_intent();

		rules.deadline_ms = cases[i].deadline_ms;
		rules.retry_max_time_ms = cases[i].window_ms;
		rules.min_try_ms = cases[i].min_try_ms;
		intent.attempts = cases[i].attempts;
		intent.sent_ms = BEGAN_MS + cases[i].since_ms;
		if (engine_intent_admit(&intent, &rules, BEGAN_MS + cases[i].since_ms, &request) != cases[i].left)
			fail_msg("case %zu", i);
		if (!cases[i].left)
			continue;
		assert_int_equal(request.prior_attempts, cases[i].attempts);
		assert_int_equal(request.prior_ms, cases[i].since_ms);
	}
}

static void once_used_up_one_attempt_goes_out_after_the_quiet(void **state)
{
	static const struct {
		int64_t quiet_ms, asked_ms, gap_ms; /* asked, gap: after the last send */
		bool admitted;
	} cases[] = {
	    {5000, 0, 0, false},        {5000, 0, 4999, false},   {5000, 0, 5000, true},
	    {5000, 3000, 4999, false},  {5000, 3000, 5000, true}, {5000, 20000, 19999, false},
	    {5000, 20000, 20000, true}, {5000, 0, 1000000, true}, {0, 0, 0, true},
	    {0, 1, 0, false},           {INT64_MAX, 0, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = own_rules();
		struct engine_request request = test_request(ENGINE_METHOD_GET);
		struct engine_intent intent = failed_intent();

		rules.nested_quiet_ms = cases[i].quiet_ms;
		rules.deadline_ms = 10000;
		intent.attempts = 4;
		intent.asked_until_ms = cases[i].asked_ms > 0 ? ENDED_MS + cases[i].asked_ms : 0;
		if (engine_intent_admit(&intent, &rules, ENDED_MS + cases[i].gap_ms, &request) != cases[i].admitted)
			fail_msg("case %zu", i);
		/* One more attempt is all that is left, with the whole of its time. */
		assert_int_equal(request.prior_attempts, 3);
		assert_int_equal(request.prior_ms, 0);
	}
}

/* Attempts are left, but the server asked for a wait that the program's timeout, say, had no room for. */
static void repeat_comes_no_earlier_than_asked(void **state)
{
	struct policy_rules rules = own_rules();
	struct engine_request request = test_request(ENGINE_METHOD_GET);
	struct engine_intent intent = failed_intent();

	(void)state;
	intent.asked_until_ms = ENDED_MS + 7000;
	assert_false(engine_intent_admit(&intent, &rules, ENDED_MS + 5000, &request));
	assert_false(engine_intent_admit(&intent, &rules, ENDED_MS + 6999, &request));
	assert_true(engine_intent_admit(&intent, &rules, ENDED_MS + 7000, &request));
	assert_int_equal(request.prior_attempts, 2);
	assert_int_equal(request.prior_ms, ENDED_MS + 7000 - BEGAN_MS);
}

static void given_up_is_used_up(void **state)
{
	struct policy_rules rules = own_rules();
	struct engine_request request = test_request(ENGINE_METHOD_GET);
	struct engine_intent intent = failed_intent();

	(void)state;
	intent.stopped = true;
	assert_false(engine_intent_admit(&intent, &rules, ENDED_MS + 4999, &request));
	assert_true(engine_intent_admit(&intent, &rules, ENDED_MS + 5000, &request));
	assert_int_equal(request.prior_attempts, 3);
}

static void what_has_not_failed_has_all_its_limits(void **state)
{
	struct policy_rules rules = own_rules();
	struct engine_request request = test_request(ENGINE_METHOD_GET);
	struct engine_intent succeeded = failed_intent();
	struct engine_intent never_tried = failed_intent();

	(void)state;
	succeeded.last_failure = ENGINE_CLASS_NONE;
	succeeded.attempts = 4;
	succeeded.stopped = true;
	never_tried.attempts = 0;
	never_tried.stopped = true;
	for (int i = 0; i < 2; i++) {
		request.prior_attempts = 7;
		request.prior_ms = 7;
		assert_true(engine_intent_admit(i == 0 ? &succeeded : &never_tried, &rules, ENDED_MS, &request));
		assert_int_equal(request.prior_attempts, 0);
		assert_int_equal(request.prior_ms, 0);
	}
}

/* One loop around another around us, all of three tries, with us as the owner: three requests. */
static int sends_of_nested_loops(const struct policy_rules *rules, int calls, int64_t gap_ms)
{
	struct engine_intent intent = {.began_ms = BEGAN_MS};
	struct test_ports ports = {.draw = 1, .tokens = true};
	struct engine_ports engine_ports = test_engine_ports(&ports);
	struct engine_outcome busy = test_status(503);
	int64_t now_ms = BEGAN_MS;
	int sends = 0;

	for (int call = 0; call < calls; call++, now_ms += gap_ms) {
		struct engine_request request = test_request(ENGINE_METHOD_GET);
		struct engine_operation operation;
		struct engine_verdict verdict;
		struct engine_plan plan;

		if (call > 0)
			engine_intent_resume(&intent, engine_intent_return(&intent, now_ms), now_ms);
		if (!engine_intent_admit(&intent, rules, now_ms, &request))
			continue;
		engine_begin(&operation, rules, &request, now_ms);
		do {
			assert_true(engine_plan(&operation, now_ms, &plan));
			verdict = engine_judge(&operation, &busy, now_ms, &engine_ports);
			now_ms += verdict.action == ENGINE_RETRY ? verdict.wait_ms : 0;
			sends++;
		} while (verdict.action == ENGINE_RETRY);

		struct engine_intent_result result = failure(verdict.failure, operation.attempts, verdict.reason);
		result.ended_ms = result.sent_ms = now_ms;
		engine_intent_add(&intent, &result);
	}
	return sends;
}

static void owner_of_three_tries_makes_three(void **state)
{
	struct policy_rules rules = own_rules();

	(void)state;
	rules.max_attempts = 3;
	assert_int_equal(sends_of_nested_loops(&rules, 9, 0), 3);
	assert_int_equal(sends_of_nested_loops(&rules, 9, 500), 3);
	/* A caller that never gives up: one more for every five seconds of silence, from 0, 5 … 40 s after the third.
	 */
	assert_int_equal(sends_of_nested_loops(&rules, 41, 1000), 3 + 8);
	rules.nested_quiet_ms = 0;
	assert_int_equal(sends_of_nested_loops(&rules, 9, 1), 3 + 8);
}

/* nested = yield. */

static void outer_layer_is_left_alone_once_it_shows(void **state)
{
	static const struct {
		uint32_t failures;
		int32_t extra_attempts;
		bool returned;
		enum engine_class failure;
		int made;
		bool yields;
	} cases[] = {
	    /* The first operation is as any other, whatever the intent says. */
	    {0, 0, false, ENGINE_CLASS_STATUS, 1, false},
	    {0, 3, false, ENGINE_CLASS_STATUS, 4, false},
	    {SET(ENGINE_CLASS_STATUS), 3, false, ENGINE_CLASS_STATUS, 1, false},
	    /* Who came back after a 503 will again. */
	    {SET(ENGINE_CLASS_STATUS), 0, true, ENGINE_CLASS_STATUS, 1, true},
	    {SET(ENGINE_CLASS_STATUS), 3, true, ENGINE_CLASS_STATUS, 1, true},
	    {SET(ENGINE_CLASS_STATUS) | SET(ENGINE_CLASS_CONNECT), 0, true, ENGINE_CLASS_CONNECT, 1, true},
	    /* A reset it may not retry: ours, but only what is left of three retries. */
	    {SET(ENGINE_CLASS_STATUS), 0, true, ENGINE_CLASS_RECEIVE, 1, false},
	    {SET(ENGINE_CLASS_STATUS), 0, true, ENGINE_CLASS_RECEIVE, 3, false},
	    {SET(ENGINE_CLASS_STATUS), 0, true, ENGINE_CLASS_RECEIVE, 4, true},
	    {SET(ENGINE_CLASS_STATUS), 2, true, ENGINE_CLASS_RECEIVE, 1, false},
	    {SET(ENGINE_CLASS_STATUS), 2, true, ENGINE_CLASS_RECEIVE, 2, true},
	    {SET(ENGINE_CLASS_STATUS), 3, true, ENGINE_CLASS_RECEIVE, 1, true},
	    {SET(ENGINE_CLASS_STATUS), INT32_MAX, true, ENGINE_CLASS_RECEIVE, 2, true},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = test_rules();
		struct engine_intent intent = failed_intent();

		intent.failures = cases[i].failures;
		intent.extra_attempts = cases[i].extra_attempts;
		if (engine_intent_yields(&intent, &rules, cases[i].returned, cases[i].failure, cases[i].made) !=
		    cases[i].yields)
			fail_msg("case %zu", i);
	}
}

/* What each call of a loop fails with, and how often the request goes out until we or the loop yield. */
static int sends_of_loop(const enum engine_class *failures, size_t calls, int max_attempts, int64_t success_gap_ms)
{
	struct policy_rules rules = test_rules();
	struct engine_intent intent = {.began_ms = BEGAN_MS, .success_gap_ms = success_gap_ms};
	int64_t now_ms = BEGAN_MS;
	int sends = 0;

	rules.max_attempts = max_attempts;
	for (size_t call = 0; call < calls; call++, now_ms += 1000) {
		bool returned = false;
		int made = 1;

		if (call > 0) {
			enum engine_return how = engine_intent_return(&intent, now_ms);

			engine_intent_resume(&intent, how, now_ms);
			returned = how == ENGINE_RETURN_RETRY;
		}
		if (failures[call] != ENGINE_CLASS_NONE)
			while (made < max_attempts &&
			       !engine_intent_yields(&intent, &rules, returned, failures[call], made))
				made++;
		sends += made;

		struct engine_intent_result result = failure(failures[call], made, ENGINE_ATTEMPT_CAP);
		result.ended_ms = result.sent_ms = now_ms;
		engine_intent_add(&intent, &result);
	}
	return sends;
}

static void loops_are_multiplied_by_nothing(void **state)
{
	static const enum engine_class busy[9] = {ENGINE_CLASS_STATUS, ENGINE_CLASS_STATUS, ENGINE_CLASS_STATUS,
	                                          ENGINE_CLASS_STATUS, ENGINE_CLASS_STATUS, ENGINE_CLASS_STATUS,
	                                          ENGINE_CLASS_STATUS, ENGINE_CLASS_STATUS, ENGINE_CLASS_STATUS};
	static const enum engine_class mixed[4] = {ENGINE_CLASS_STATUS, ENGINE_CLASS_RECEIVE, ENGINE_CLASS_CONNECT,
	                                           ENGINE_CLASS_STATUS};

	(void)state;
	assert_int_equal(sends_of_loop(busy, 9, 3, 0), 9 + 2);
	assert_int_equal(sends_of_loop(busy, 4, 4, 0), 7);
	assert_int_equal(sends_of_loop(busy, 9, 1, 0), 9);
	/* Never more than max_attempts - 1 above the loop's own, whatever it meets. */
	assert_int_equal(sends_of_loop(mixed, 4, 3, 0), 4 + 2);
}

/* A poller, once a second, whose rhythm shows at its first success: each of its faults gets all our retries. */
static void pollers_faults_are_all_ours(void **state)
{
	static const enum engine_class rounds[6] = {ENGINE_CLASS_NONE,   ENGINE_CLASS_STATUS, ENGINE_CLASS_STATUS,
	                                            ENGINE_CLASS_STATUS, ENGINE_CLASS_NONE,   ENGINE_CLASS_CONNECT};
	const enum engine_class *outage = rounds + 1;

	(void)state;
	assert_int_equal(sends_of_loop(rounds, 6, 3, 0), 1 + 3 + 3 + 3 + 1 + 3);
	/* Without a success it is taken for a retry layer; if its rhythm is known, for a poller to within a fifth. */
	assert_int_equal(sends_of_loop(outage, 3, 3, 0), 3 + 1 + 1);
	assert_int_equal(sends_of_loop(outage, 3, 3, 1250), 3 + 3 + 3);
	assert_int_equal(sends_of_loop(outage, 3, 3, 1251), 3 + 1 + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_left_is_handed_on),
	    cmocka_unit_test(once_used_up_one_attempt_goes_out_after_the_quiet),
	    cmocka_unit_test(repeat_comes_no_earlier_than_asked),
	    cmocka_unit_test(given_up_is_used_up),
	    cmocka_unit_test(what_has_not_failed_has_all_its_limits),
	    cmocka_unit_test(owner_of_three_tries_makes_three),
	    cmocka_unit_test(outer_layer_is_left_alone_once_it_shows),
	    cmocka_unit_test(loops_are_multiplied_by_nothing),
	    cmocka_unit_test(pollers_faults_are_all_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
