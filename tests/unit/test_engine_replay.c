/* SPDX-License-Identifier: MIT */

/* Which requests may be repeated, which repeats are called ambiguous, and what proves that nothing was sent. */

#include "tests/unit/test_engine.h"

#include "engine/facts.h"
#include "engine/replay.h"

enum { GOT_NOTHING = 52, COULDNT_CONNECT = 7 };

static void verbs_are_methods(void **state)
{
	static const struct {
		const char *verb;
		enum engine_method method;
	} cases[] = {
	    {"GET", ENGINE_METHOD_GET},     {"HEAD", ENGINE_METHOD_HEAD},   {"OPTIONS", ENGINE_METHOD_OPTIONS},
	    {"TRACE", ENGINE_METHOD_TRACE}, {"PUT", ENGINE_METHOD_PUT},     {"DELETE", ENGINE_METHOD_DELETE},
	    {"POST", ENGINE_METHOD_OTHER},  {"PATCH", ENGINE_METHOD_OTHER}, {"PROPFIND", ENGINE_METHOD_OTHER},
	    {"get", ENGINE_METHOD_OTHER},   {"GET ", ENGINE_METHOD_OTHER},  {"GETX", ENGINE_METHOD_OTHER},
	    {"", ENGINE_METHOD_OTHER},      {NULL, ENGINE_METHOD_OTHER},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++)
		assert_int_equal(engine_method_from_verb(cases[i].verb), cases[i].method);
}

/* What an attempt came to: sent and lost, proved unsent, answered 429 where that is a refusal. */
enum fate { LOST, UNSENT, REFUSED };

static struct engine_outcome outcome_of(enum fate fate)
{
	struct engine_outcome outcome = fate == REFUSED ? test_status(429) : test_code(GOT_NOTHING);

	outcome.unsent = fate == UNSENT;
	return outcome;
}

static void replay_table(void **state)
{
	/* For each value of `replay`: after LOST, UNSENT, REFUSED. */
	static const struct {
		struct engine_request request;
		bool unsent[3], idempotent[3], all[3];
	} cases[] = {
	    {{.method = ENGINE_METHOD_GET}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}},
	    {{.method = ENGINE_METHOD_HEAD}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}},
	    {{.method = ENGINE_METHOD_OPTIONS}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}},
	    {{.method = ENGINE_METHOD_TRACE}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}},
	    {{.method = ENGINE_METHOD_PUT}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}},
	    {{.method = ENGINE_METHOD_DELETE}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}},
	    {{.method = ENGINE_METHOD_GET, .conditional = true}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}},
	    {{.method = ENGINE_METHOD_PUT, .conditional = true}, {0, 1, 1}, {0, 1, 1}, {1, 1, 1}},
	    {{.method = ENGINE_METHOD_DELETE, .conditional = true}, {0, 1, 1}, {0, 1, 1}, {1, 1, 1}},
	    {{.method = ENGINE_METHOD_OTHER}, {0, 1, 1}, {0, 1, 1}, {1, 1, 1}},
	    {{.method = ENGINE_METHOD_OTHER, .has_idempotency_key = true}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		for (int fate = LOST; fate <= REFUSED; fate++) {
			struct policy_rules rules = test_rules();
			struct engine_outcome outcome = outcome_of((enum fate)fate);

			test_add_status(&rules.refused_status, 429);
			rules.replay = POLICY_REPLAY_NONE;
			assert_false(engine_is_safe_to_replay(&rules, &cases[i].request, &outcome));
			rules.replay = POLICY_REPLAY_UNSENT;
			assert_int_equal(engine_is_safe_to_replay(&rules, &cases[i].request, &outcome),
			                 cases[i].unsent[fate]);
			rules.replay = POLICY_REPLAY_IDEMPOTENT;
			assert_int_equal(engine_is_safe_to_replay(&rules, &cases[i].request, &outcome),
			                 cases[i].idempotent[fate]);
			rules.replay = POLICY_REPLAY_ALL;
			assert_int_equal(engine_is_safe_to_replay(&rules, &cases[i].request, &outcome),
			                 cases[i].all[fate]);
		}
	}
}

/* Without refused_status a 429 says nothing about whether the request was executed. */
static void status_alone_is_no_refusal(void **state)
{
	struct policy_rules rules = test_rules();
	struct engine_request post = test_request(ENGINE_METHOD_OTHER);
	struct engine_outcome outcome = test_status(429);

	(void)state;
	assert_false(engine_is_safe_to_replay(&rules, &post, &outcome));
}

static struct engine_verdict judge_next(struct engine_operation *operation, const struct engine_outcome *outcome)
{
	struct test_ports test_ports = {.tokens = true};
	struct engine_ports ports = test_engine_ports(&test_ports);
	struct engine_plan plan;

	assert_true(engine_plan(operation, 0, &plan));
	return engine_judge(operation, outcome, 0, &ports);
}

static void ambiguous_is_what_may_have_happened_twice(void **state)
{
	static const struct {
		enum engine_method method;
		enum fate first;
		bool first_ambiguous;
		enum fate second;
		bool second_ambiguous;
	} cases[] = {
	    {ENGINE_METHOD_GET, LOST, false, LOST, false},
	    {ENGINE_METHOD_HEAD, LOST, false, LOST, false},
	    {ENGINE_METHOD_OPTIONS, LOST, false, LOST, false},
	    {ENGINE_METHOD_TRACE, LOST, false, LOST, false},
	    {ENGINE_METHOD_PUT, LOST, true, LOST, true},
	    {ENGINE_METHOD_DELETE, LOST, true, UNSENT, true}, /* the first one may still have been executed */
	    {ENGINE_METHOD_OTHER, UNSENT, false, LOST, true},
	    {ENGINE_METHOD_OTHER, UNSENT, false, REFUSED, false},
	    {ENGINE_METHOD_PUT, REFUSED, false, UNSENT, false},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = test_rules();
		struct engine_request request = test_request(cases[i].method);
		struct engine_outcome first = outcome_of(cases[i].first);
		struct engine_outcome second = outcome_of(cases[i].second);
		struct engine_operation operation;
		struct engine_verdict verdict;

		rules.replay = POLICY_REPLAY_ALL;
		test_add_status(&rules.refused_status, 429);
		engine_begin(&operation, &rules, &request, 0);
		verdict = judge_next(&operation, &first);
		assert_int_equal(verdict.action, ENGINE_RETRY);
		assert_int_equal(verdict.ambiguous, cases[i].first_ambiguous);
		verdict = judge_next(&operation, &second);
		assert_int_equal(verdict.action, ENGINE_RETRY);
		assert_int_equal(verdict.ambiguous, cases[i].second_ambiguous);
	}
}

/* An answer doesn't say whether the request was carried out before it. */
static void post_repeated_after_503_is_ambiguous(void **state)
{
	struct policy_rules rules = test_rules();
	struct engine_request request = test_request(ENGINE_METHOD_OTHER);
	struct engine_outcome outcome = test_status(503);
	struct engine_operation operation;

	(void)state;
	rules.replay = POLICY_REPLAY_ALL;
	engine_begin(&operation, &rules, &request, 0);
	assert_true(judge_next(&operation, &outcome).ambiguous);
}

static void facts_prove(void **state)
{
	static const struct {
		struct engine_facts facts;
		bool unsent, single;
	} cases[] = {
	    /* Sends are counted. */
	    {{.sends = 0}, true, true},
	    {{.sends = 1}, false, true},
	    {{.sends = 2}, false, false},
	    {{.sends = 0, .kept_connections = 9, .connect_status = 502, .request_bytes = 97}, true, true},
	    {{.sends = 1, .connect_status = 502, .request_bytes = 187}, false, true}, /* a kept tunnel lost it */
	    {{.sends = 1, .status = 429}, false, true},
	    {{.sends = 2, .status = 429}, false, false}, /* sent again by libcurl */
	    {{.sends = 2, .redirects = 1, .status = 429}, false, false},
	    {{.sends = 0, .connect_status = 200}, true, true}, /* the tunnel stood, nothing went through it */
	    {{.sends = 0, .redirects = 1}, false, false},
	    /* Nobody counts. */
	    {{.sends = ENGINE_UNCOUNTED}, true, true},
	    {{.sends = ENGINE_UNCOUNTED, .kept_connections = 9}, true, false},
	    {{.sends = ENGINE_UNCOUNTED, .request_bytes = 1}, false, true},
	    {{.sends = ENGINE_UNCOUNTED, .redirects = 1}, false, false},
	    {{.sends = ENGINE_UNCOUNTED, .early_data_bytes = 40}, false, true},
	    {{.sends = ENGINE_UNCOUNTED, .early_data_bytes = -40}, false, true}, /* refused by the server */
	    {{.sends = ENGINE_UNCOUNTED, .fast_open = true}, false, true},
	    {{.sends = ENGINE_UNCOUNTED, .status = 200}, false, true},
	    {{.sends = ENGINE_UNCOUNTED, .connect_status = 200}, true, true},
	    {{.sends = ENGINE_UNCOUNTED, .connect_status = 200, .request_bytes = 90}, false, true},
	    {{.sends = ENGINE_UNCOUNTED, .connect_status = 502, .request_bytes = 97}, true, true}, /* of CONNECT */
	    {{.sends = ENGINE_UNCOUNTED, .connect_status = 407}, true, true},
	    {{.sends = ENGINE_UNCOUNTED, .connect_status = 502, .kept_connections = 1, .new_connections = 1},
	     false,
	     false},
	    {{.sends = ENGINE_UNCOUNTED, .connect_status = 502, .redirects = 1}, false, false},
	    {{.sends = ENGINE_UNCOUNTED, .connect_status = 502, .status = 302, .request_bytes = 90}, false, true},
	    {{.sends = ENGINE_UNCOUNTED, .status = 429, .new_connections = 1}, false, true},
	    {{.sends = ENGINE_UNCOUNTED, .status = 429, .kept_connections = 1}, false, true},
	    {{.sends = ENGINE_UNCOUNTED, .status = 429, .kept_connections = 1, .new_connections = 1}, false, false},
	    {{.sends = ENGINE_UNCOUNTED, .status = 429, .kept_connections = 2}, false, false},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		assert_int_equal(engine_proves_unsent(&cases[i].facts), cases[i].unsent);
		assert_int_equal(engine_proves_single(&cases[i].facts), cases[i].single);
	}
}

static void facts_count(void **state)
{
	static const struct {
		struct engine_facts facts;
		int64_t sends;
	} cases[] = {
	    {{.sends = 0}, 0},
	    {{.sends = 3, .redirects = 1}, 3},
	    {{.sends = ENGINE_UNCOUNTED}, 0},
	    {{.sends = ENGINE_UNCOUNTED, .request_bytes = 90, .status = 200}, 1},
	    {{.sends = ENGINE_UNCOUNTED, .request_bytes = 180, .redirects = 2, .status = 200}, 3},
	    /* A resend is possible, and proved by nothing. */
	    {{.sends = ENGINE_UNCOUNTED, .request_bytes = 180, .kept_connections = 1, .new_connections = 1}, 1},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++)
		assert_int_equal(engine_proved_sends(&cases[i].facts), cases[i].sends);
}

/* The last answer is a refusal; what was asked before it was not refused. */
static void refusal_is_of_one_request(void **state)
{
	struct policy_rules rules = test_rules();
	struct engine_request post = test_request(ENGINE_METHOD_OTHER);
	struct engine_outcome outcome = test_status(429);

	(void)state;
	test_add_status(&rules.refused_status, 429);
	assert_true(engine_is_safe_to_replay(&rules, &post, &outcome));
	outcome.single = false;
	assert_false(engine_is_safe_to_replay(&rules, &post, &outcome));
}

static void unsent_post_is_retried(void **state)
{
	struct policy_rules rules = test_rules();
	struct engine_request request = test_request(ENGINE_METHOD_OTHER);
	struct engine_outcome outcome = test_code(COULDNT_CONNECT);
	struct engine_operation operation;

	(void)state;
	engine_begin(&operation, &rules, &request, 0);
	assert_reason(judge_next(&operation, &outcome).reason, ENGINE_UNSAFE_REPLAY);
	outcome.unsent = true;
	engine_begin(&operation, &rules, &request, 0);
	assert_int_equal(judge_next(&operation, &outcome).action, ENGINE_RETRY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(verbs_are_methods),
	    cmocka_unit_test(replay_table),
	    cmocka_unit_test(status_alone_is_no_refusal),
	    cmocka_unit_test(ambiguous_is_what_may_have_happened_twice),
	    cmocka_unit_test(post_repeated_after_503_is_ambiguous),
	    cmocka_unit_test(facts_prove),
	    cmocka_unit_test(facts_count),
	    cmocka_unit_test(refusal_is_of_one_request),
	    cmocka_unit_test(unsent_post_is_retried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
