/* SPDX-License-Identifier: MIT */
/* What libcurl sends again by itself: how it counts, and how it is forbidden. */
#include "tests/unit/conduct_scene.h"

#define QUICK  "backoff_base_ms = 100\n"
#define FORBID QUICK "resend = forbid\n"

/* A kept connection was dead: libcurl makes another one, and nobody is told but by the prereq function. */
#define RESENDS                                                                                                        \
	{                                                                                                              \
		.events = EVENTS(SENDS, SENDS, ANSWERS("200 OK", "hello"))                                             \
	}

static void sends_are_counted(void **state)
{
	static const struct {
		struct fake_attempt only;
		int sends, resends;
	} cases[] = {
	    {GOOD, 1, 0},
	    {RESENDS, 2, 1},
	    {{.events = EVENTS(SENDS, SENDS, SENDS, ANSWERS("200 OK", "hello"))}, 3, 2},
	    {{.events =
	          EVENTS(SENDS, HEADERS("HTTP/1.1 302 Go\r\nLocation: /b\r\n\r\n"), SENDS, ANSWERS("200 OK", "hello"))},
	     2,
	     0},
	    {{.events = EVENTS(SENDS, HEADERS("HTTP/1.1 401 Who\r\n\r\n"), SENDS, SENDS, ANSWERS("200 OK", "hello"))},
	     3,
	     1},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		scene_begin(&it, QUICK);
		scene_set_number(&it, CURLOPT_FOLLOWLOCATION, 1);
		ASSERT_ENDED(&it, scene_perform(&it, &cases[i].only, 1), CURLE_OK, ENGINE_SUCCESS, 1);
		assert_int_equal(it.told_of.sends, cases[i].sends);
		assert_int_equal(it.told_of.resends, cases[i].resends);
		assert_string_equal(it.body, "hello");
		scene_end(&it);
	}
}

/* They count against the cap as attempts do. */
static void resends_use_attempts_up(void **state)
{
	static const struct fake_attempt attempts[] = {{.events = EVENTS(SENDS, SENDS, ANSWERS("503 Busy", "sorry"))}};
	struct scene it;

	(void)state;
	scene_begin(&it, QUICK "max_attempts = 2\n");
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_ATTEMPT_CAP, 1);
	scene_end(&it);
}

/* `resend = forbid`: the attempt ends there, with what the resend would have hidden. */
static void a_forbidden_resend_is_an_empty_reply(void **state)
{
	static const struct fake_attempt attempts[] = {RESENDS, GOOD};
	struct scene it;

	(void)state;
	scene_begin(&it, FORBID "max_attempts = 1\n");
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_GOT_NOTHING, ENGINE_ATTEMPT_CAP, 1);
	assert_string_equal(it.error_text, "Empty reply from server");
	assert_int_equal(it.told_of.failure, ENGINE_CLASS_EMPTY);
	scene_end(&it);

	scene_begin(&it, FORBID);
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_SUCCESS, 2);
	assert_int_equal(it.told_of.sends, 2);
	assert_int_equal(it.told_of.resends, 0);
	assert_string_equal(it.body, "hello");
	scene_end(&it);
}

static void the_program_decides_before_us(void **state)
{
	static const struct fake_attempt attempts[] = {RESENDS};
	struct scene it;

	(void)state;
	scene_begin(&it, FORBID);
	it.deed = (struct deed){.moment = AT_REQUEST, .turn = 2, .refuses = true};
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_ABORTED_BY_CALLBACK, ENGINE_CANCELLED, 1);
	scene_end(&it);
}

static void without_a_prereq_function_of_the_programs_all_is_counted(void **state)
{
	static const struct fake_attempt attempts[] = {RESENDS};
	struct scene it;

	(void)state;
	scene_begin(&it, QUICK);
	scene_set(&it, OPTION_PREREQFUNCTION, NULL);
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_SUCCESS, 1);
	assert_int_equal(it.told_of.resends, 1);
	/* Without an operation nothing is. */
	fake_play(&it.fake, attempts, 1);
	assert_int_equal(it.fake.functions.perform(it.handle->curl), CURLE_OK);
	scene_end(&it);
}

/* An abort of the program's in the attempt after it is one. */
static void a_forbidden_resend_is_of_one_attempt(void **state)
{
	static const struct fake_attempt attempts[] = {RESENDS, GOOD};
	struct scene it;

	(void)state;
	scene_begin(&it, FORBID);
	it.deed = (struct deed){.moment = AT_REQUEST, .perform = 2, .refuses = true};
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_ABORTED_BY_CALLBACK, ENGINE_CANCELLED, 2);
	scene_end(&it);
}

/* What it replaces is an attempt that failed; it takes a token as a retry does. */
static void resends_are_charged(void **state)
{
	static const struct {
		const char *lines;
		enum engine_reason reason;
	} cases[] = {
	    {QUICK "budget_tokens = 1\nbudget_refill_per_s = 0\nbreaker = off\n", ENGINE_BUDGET_EMPTY},
	    {QUICK "breaker_failures = 2\nbreaker_outage_ms = 0\n", ENGINE_BREAKER_OPEN},
	};
	static const struct fake_attempt attempts[] = {{.events = EVENTS(SENDS, SENDS, ANSWERS("503 Busy", "sorry"))}};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		scene_begin(&it, cases[i].lines);
		ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, cases[i].reason, 1);
		scene_end(&it);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sends_are_counted),
	    cmocka_unit_test(resends_use_attempts_up),
	    cmocka_unit_test(a_forbidden_resend_is_an_empty_reply),
	    cmocka_unit_test(the_program_decides_before_us),
	    cmocka_unit_test(without_a_prereq_function_of_the_programs_all_is_counted),
	    cmocka_unit_test(a_forbidden_resend_is_of_one_attempt),
	    cmocka_unit_test(resends_are_charged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
