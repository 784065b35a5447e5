/* SPDX-License-Identifier: MIT */

/* An intent's account: what a next operation is to it, and what one that is over leaves in it. */

#include "tests/unit/test_engine_intent.h"

/* Who comes back. */

static void what_comes_back_is_told_by_when(void **state)
{
	static const struct {
		enum engine_class last_failure;
		int64_t success_gap_ms, gap_ms;
		enum engine_return expected;
	} cases[] = {
	    {ENGINE_CLASS_NONE, 0, 0, ENGINE_RETURN_FRESH},
	    {ENGINE_CLASS_NONE, 0, 60000, ENGINE_RETURN_FRESH},
	    {ENGINE_CLASS_NONE, 1000, 1000, ENGINE_RETURN_FRESH},
	    /* Never seen to come back after a success: any gap is a backoff. */
	    {ENGINE_CLASS_STATUS, 0, 0, ENGINE_RETURN_RETRY},
	    {ENGINE_CLASS_STATUS, 0, 60000, ENGINE_RETURN_RETRY},
	    {ENGINE_CLASS_CONNECT, 0, 1, ENGINE_RETURN_RETRY},
	    /* A poller's rhythm, to within a fifth. */
	    {ENGINE_CLASS_STATUS, 1000, 0, ENGINE_RETURN_RETRY},
	    {ENGINE_CLASS_STATUS, 1000, 799, ENGINE_RETURN_RETRY},
	    {ENGINE_CLASS_STATUS, 1000, 800, ENGINE_RETURN_POLL},
	    {ENGINE_CLASS_STATUS, 1000, 60000, ENGINE_RETURN_POLL},
	    {ENGINE_CLASS_RESOLVE, 1003, 802, ENGINE_RETURN_RETRY},
	    {ENGINE_CLASS_RESOLVE, 1003, 803, ENGINE_RETURN_POLL},
	    {ENGINE_CLASS_STATUS, 1, 0, ENGINE_RETURN_RETRY},
	    {ENGINE_CLASS_STATUS, 1, 1, ENGINE_RETURN_POLL},
	    {ENGINE_CLASS_STATUS, INT64_MAX, 1000000, ENGINE_RETURN_RETRY},
	    {ENGINE_CLASS_STATUS, 1000, INT64_MAX - ENDED_MS, ENGINE_RETURN_POLL},
	    /* A clock that stands behind the last end is a gap of none. */
	    {ENGINE_CLASS_STATUS, 1, -5, ENGINE_RETURN_RETRY},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct engine_intent intent = failed_intent();

		intent.last_failure = cases[i].last_failure;
		intent.success_gap_ms = cases[i].success_gap_ms;
		if (engine_intent_return(&intent, ENDED_MS + cases[i].gap_ms) != cases[i].expected)
			fail_msg("case %zu", i);
	}
}

static void what_never_was_begins_afresh(void **state)
{
	struct engine_intent intent = {0};

	(void)state;
	assert_int_equal(engine_intent_return(&intent, 5000), ENGINE_RETURN_FRESH);
	engine_intent_resume(&intent, ENGINE_RETURN_FRESH, 5000);
	assert_int_equal(intent.began_ms, 5000);
	/* Nothing succeeded before, so that the time since then is nobody's rhythm. */
	assert_int_equal(intent.success_gap_ms, 0);
}

static void fresh_return_forgets_the_failures(void **state)
{
	struct engine_intent intent = failed_intent();

	(void)state;
	intent.failures = SET(ENGINE_CLASS_STATUS) | SET(ENGINE_CLASS_CONNECT);
	intent.stopped = true;
	intent.asked_until_ms = ENDED_MS + 60000;
	intent.last_failure = ENGINE_CLASS_NONE;
	engine_intent_resume(&intent, ENGINE_RETURN_FRESH, ENDED_MS + 700);
	assert_int_equal(intent.began_ms, ENDED_MS + 700);
	assert_int_equal(intent.operations, 0);
	assert_int_equal(intent.attempts, 0);
	assert_int_equal(intent.extra_attempts, 0);
	assert_int_equal(intent.failures, 0);
	assert_int_equal(intent.asked_until_ms, 0);
	assert_false(intent.stopped);
	assert_int_equal(intent.success_gap_ms, 700);
}

static void shortest_gap_after_a_success_is_the_rhythm(void **state)
{
	static const struct {
		int64_t known_ms, gap_ms, expected_ms;
	} cases[] = {{0, 1000, 1000}, {1000, 900, 900}, {900, 1000, 900},  {1000, 0, 1},
	             {0, 0, 1},       {0, -3, 1},       {0, 60000, 60000}, {1, 1, 1}};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct engine_intent intent = failed_intent();

		intent.last_failure = ENGINE_CLASS_NONE;
		intent.success_gap_ms = cases[i].known_ms;
		engine_intent_resume(&intent, ENGINE_RETURN_FRESH, ENDED_MS + cases[i].gap_ms);
		assert_int_equal(intent.success_gap_ms, cases[i].expected_ms);
	}
}

static void repeats_are_counted_by_what_failed(void **state)
{
	struct engine_intent intent = failed_intent();

	(void)state;
	engine_intent_resume(&intent, ENGINE_RETURN_RETRY, ENDED_MS);
	assert_int_equal(intent.failures, SET(ENGINE_CLASS_STATUS));
	intent.last_failure = ENGINE_CLASS_TIMEOUT;
	engine_intent_resume(&intent, ENGINE_RETURN_RETRY, ENDED_MS);
	assert_int_equal(intent.failures, SET(ENGINE_CLASS_STATUS) | SET(ENGINE_CLASS_TIMEOUT));
	assert_int_equal(intent.began_ms, BEGAN_MS);
	assert_int_equal(intent.attempts, 2);
	assert_int_equal(intent.extra_attempts, 1);
	/* No class, as only a damaged state could say. */
	intent.last_failure = 77;
	engine_intent_resume(&intent, ENGINE_RETURN_RETRY, ENDED_MS);
	assert_int_equal(intent.failures, SET(ENGINE_CLASS_STATUS) | SET(ENGINE_CLASS_TIMEOUT));
}

static void poller_gets_its_retries_again(void **state)
{
	struct engine_intent before = failed_intent();
	struct engine_intent intent;

	(void)state;
	before.success_gap_ms = 1000;
	before.stopped = true;
	intent = before;
	engine_intent_resume(&intent, ENGINE_RETURN_POLL, ENDED_MS + 1000);
	assert_int_equal(intent.extra_attempts, 0);
	assert_int_equal(intent.operations, 0);
	intent.extra_attempts = before.extra_attempts;
	intent.operations = before.operations;
	assert_memory_equal(&intent, &before, sizeof intent);
}

/* What an operation leaves. */

static void operations_add_up(void **state)
{
	struct engine_intent intent = {.began_ms = BEGAN_MS};
	struct engine_intent_result result = failure(ENGINE_CLASS_STATUS, 3, ENGINE_ATTEMPT_CAP);

	(void)state;
	result.resends = 1;
	result.sent_ms = ENDED_MS - 10;
	result.asked_until_ms = ENDED_MS + 4000;
	engine_intent_add(&intent, &result);
	assert_int_equal(intent.operations, 1);
	assert_int_equal(intent.attempts, 4);
	assert_int_equal(intent.extra_attempts, 3);
	assert_int_equal(intent.began_ms, BEGAN_MS);
	assert_int_equal(intent.ended_ms, ENDED_MS);
	assert_int_equal(intent.sent_ms, ENDED_MS - 10);
	assert_int_equal(intent.asked_until_ms, ENDED_MS + 4000);
	assert_int_equal(intent.last_failure, ENGINE_CLASS_STATUS);
	assert_int_equal(intent.failures, 0);
	assert_true(intent.stopped);

	result = failure(ENGINE_CLASS_RECEIVE, 1, ENGINE_NESTED);
	result.ended_ms = result.sent_ms = ENDED_MS + 500;
	engine_intent_add(&intent, &result);
	assert_int_equal(intent.operations, 2);
	assert_int_equal(intent.attempts, 5);
	assert_int_equal(intent.extra_attempts, 3);
	assert_int_equal(intent.ended_ms, ENDED_MS + 500);
	assert_int_equal(intent.sent_ms, ENDED_MS + 500);
	assert_int_equal(intent.last_failure, ENGINE_CLASS_RECEIVE);
	assert_false(intent.stopped);
	/* Nobody took back what the server asked for. */
	assert_int_equal(intent.asked_until_ms, ENDED_MS + 4000);
}

static void success_ends_the_failure(void **state)
{
	struct engine_intent intent = failed_intent();
	struct engine_intent_result result = failure(ENGINE_CLASS_NONE, 1, ENGINE_SUCCESS);

	(void)state;
	intent.stopped = true;
	engine_intent_add(&intent, &result);
	assert_int_equal(intent.last_failure, ENGINE_CLASS_NONE);
	assert_false(intent.stopped);
	assert_int_equal(engine_intent_return(&intent, ENDED_MS), ENGINE_RETURN_FRESH);
}

static void operation_without_an_attempt_changes_nothing(void **state)
{
	struct engine_intent before = failed_intent();
	struct engine_intent intent = before;
	struct engine_intent_result result = failure(ENGINE_CLASS_CONNECT, 0, ENGINE_NESTED);

	(void)state;
	result.ended_ms = result.sent_ms = ENDED_MS + 3000;
	result.asked_until_ms = ENDED_MS + 9000;
	result.resends = 5;
	engine_intent_add(&intent, &result);
	assert_memory_equal(&intent, &before, sizeof intent);
}

static void only_what_we_gave_up_stops_the_intent(void **state)
{
	static const enum engine_reason stopping[] = {
	    ENGINE_ATTEMPT_CAP,  ENGINE_RETRY_AFTER_LIMIT, ENGINE_RETRY_MAX_TIME, ENGINE_WAIT_EXCEEDS_DEADLINE,
	    ENGINE_BREAKER_OPEN, ENGINE_RETRY_CONCURRENCY, ENGINE_BUDGET_EMPTY};

	(void)state;
	for (enum engine_reason reason = ENGINE_CANCELLED; reason <= ENGINE_PASSED_THROUGH; reason++) {
		struct engine_intent intent = failed_intent();
		struct engine_intent_result result = failure(ENGINE_CLASS_STATUS, 1, reason);
		bool expected = false;

		for (size_t i = 0; i < countof(stopping); i++)
			expected = expected || stopping[i] == reason;
		engine_intent_add(&intent, &result);
		if (intent.stopped != expected)
			fail_msg("%s", engine_reason_name(reason));
	}
}

static void counts_stop_at_their_end(void **state)
{
	struct engine_intent intent = failed_intent();
	struct engine_intent_result result = failure(ENGINE_CLASS_STATUS, INT32_MAX, ENGINE_ATTEMPT_CAP);
	struct policy_rules rules = test_rules();

	(void)state;
	result.resends = INT32_MAX;
	intent.operations = INT32_MAX;
	for (int i = 0; i < 3; i++)
		engine_intent_add(&intent, &result);
	assert_int_equal(intent.operations, INT32_MAX);
	assert_int_equal(intent.attempts, INT32_MAX);
	assert_int_equal(intent.extra_attempts, INT32_MAX);
	assert_true(engine_intent_yields(&intent, &rules, true, ENGINE_CLASS_STATUS, INT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_comes_back_is_told_by_when),
	    cmocka_unit_test(what_never_was_begins_afresh),
	    cmocka_unit_test(fresh_return_forgets_the_failures),
	    cmocka_unit_test(shortest_gap_after_a_success_is_the_rhythm),
	    cmocka_unit_test(repeats_are_counted_by_what_failed),
	    cmocka_unit_test(poller_gets_its_retries_again),
	    cmocka_unit_test(operations_add_up),
	    cmocka_unit_test(success_ends_the_failure),
	    cmocka_unit_test(operation_without_an_attempt_changes_nothing),
	    cmocka_unit_test(only_what_we_gave_up_stops_the_intent),
	    cmocka_unit_test(counts_stop_at_their_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
