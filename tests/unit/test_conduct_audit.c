/* SPDX-License-Identifier: MIT */
/* Audit watches, and a log changes nothing. */
#include "tests/unit/conduct_scene.h"

#define QUICK "backoff_base_ms = 100\n"

/* A kept connection was dead: libcurl makes another one, and nobody is told but by the prereq function. */
#define RESENDS                                                                                                        \
	{                                                                                                              \
		.events = EVENTS(SENDS, SENDS, ANSWERS("200 OK", "hello"))                                             \
	}

static const struct fake_attempt bad_good[] = {BAD, GOOD};

#define AUDIT "mode = audit\nlog = stderr\n"

/* One attempt, as it would be without us; what would have been done is noted. */
static void audit_watches(void **state)
{
	static const struct fake_attempt unreachable = UNREACHABLE, bad = BAD, good = GOOD, resends = RESENDS;
	const struct {
		struct fake_attempt only;
		CURLcode result;
		enum engine_action action;
		const char *body;
	} cases[] = {
	    {good, CURLE_OK, ENGINE_DELIVER, "hello"},
	    {bad, CURLE_OK, ENGINE_RETRY, "sorry"},
	    {unreachable, CURLE_COULDNT_CONNECT, ENGINE_RETRY, ""},
	    {resends, CURLE_OK, ENGINE_DELIVER, "hello"},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		scene_begin(&it, AUDIT "resend = forbid\ndeadline_ms = 10000\n");
		scene_take_progress(&it);
		int setopts = it.fake.setopts;
		CURLcode result = scene_perform(&it, &cases[i].only, 1);
		assert_int_equal(result, cases[i].result);
		assert_int_equal(it.told_of.action, cases[i].action);
		assert_int_equal(it.told_of.attempts, 1);
		assert_string_equal(it.body, cases[i].body);
		assert_int_equal(it.slept_ms, 0);
		/* But for the callbacks nothing is lent. */
		assert_in_range(it.fake.setopts - setopts, 0, 8);
		scene_end(&it);
	}
}

static void audit_knows_what_could_be_rewound(void **state)
{
	static const struct {
		const char *lines;
		enum engine_reason reason;
	} cases[] = {
	    {AUDIT, ENGINE_TRANSIENT_FAILURE},
	    {AUDIT "replay_body_bytes = 0\n", ENGINE_BODY_NOT_REPLAYABLE},
	};
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, READS(9), ANSWERS("503 Busy", "sorry"))}};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		scene_begin(&it, cases[i].lines);
		scene_give_upload(&it, "the cargo");
		ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, cases[i].reason, 1);
		assert_string_equal(it.fake.sent, "the cargo");
		scene_end(&it);
	}
}

/* With a log all that was asked for is written down, and nothing else changes. */
static void a_log_changes_nothing(void **state)
{
	struct scene it;

	(void)state;
	scene_begin(&it, QUICK "log = stderr\nlog_events = all\n");
	ASSERT_ENDED(&it, PERFORM(&it, bad_good), CURLE_OK, ENGINE_SUCCESS, 2);
	assert_string_equal(it.body, "hello");
	scene_end(&it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(audit_watches),
	    cmocka_unit_test(audit_knows_what_could_be_rewound),
	    cmocka_unit_test(a_log_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
