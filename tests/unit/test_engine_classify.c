/* SPDX-License-Identifier: MIT */

/* What kind of failure an outcome is, and whether the policy says that it may pass. */

#include "tests/unit/test_engine.h"

#include <errno.h>

#include "engine/classify.h"

enum {
	COULDNT_CONNECT = 7,
	PARTIAL_FILE = 18,
	HTTP_RETURNED_ERROR = 22,
	WRITE_ERROR = 23,
	OUT_OF_MEMORY = 27,
	TIMEDOUT = 28,
	RECV_ERROR = 56,
};

static void outcomes_have_classes(void **state)
{
	static const struct {
		struct engine_outcome outcome;
		enum engine_class failure;
		bool passing; /* for a GET */
	} cases[] = {
	    {{.status = 200, .header_block_complete = true}, ENGINE_CLASS_NONE, false},
	    {{.status = 204, .header_block_complete = true}, ENGINE_CLASS_NONE, false},
	    {{.status = 304, .header_block_complete = true}, ENGINE_CLASS_NONE, false},
	    {{.status = 399, .header_block_complete = true}, ENGINE_CLASS_NONE, false},
	    {{.status = 0}, ENGINE_CLASS_NONE, false}, /* not HTTP */
	    {{.status = 400, .header_block_complete = true}, ENGINE_CLASS_STATUS, false},
	    {{.status = 401, .header_block_complete = true}, ENGINE_CLASS_STATUS, false},
	    {{.status = 429, .header_block_complete = true}, ENGINE_CLASS_STATUS, true},
	    {{.status = 503, .header_block_complete = true}, ENGINE_CLASS_STATUS, true},
	    {{.status = 501, .header_block_complete = true}, ENGINE_CLASS_STATUS, false},
	    /* FAILONERROR: libcurl < 7.75 shows no header at all of such a response. */
	    {{HTTP_RETURNED_ERROR, .status = 503}, ENGINE_CLASS_STATUS, true},
	    {{HTTP_RETURNED_ERROR, .status = 404}, ENGINE_CLASS_STATUS, false},
	    {{HTTP_RETURNED_ERROR, .status = 0}, ENGINE_CLASS_LOCAL, false},
	    /* The connection ended within the headers; libcurl calls it a success. */
	    {{.status = 200}, ENGINE_CLASS_PARTIAL, true},
	    {{.status = 404}, ENGINE_CLASS_PARTIAL, true},
	    {{RECV_ERROR, .status = 0}, ENGINE_CLASS_RECEIVE, true},
	    {{PARTIAL_FILE, .status = 200, .header_block_complete = true}, ENGINE_CLASS_PARTIAL, true},
	    {{.curl_code = TIMEDOUT}, ENGINE_CLASS_TIMEOUT, true},
	    {{.curl_code = OUT_OF_MEMORY}, ENGINE_CLASS_LOCAL, false},
	    {{OUT_OF_MEMORY, .status = 503}, ENGINE_CLASS_LOCAL, false},
	    {{WRITE_ERROR, .status = 503}, ENGINE_CLASS_CALLER, false},
	    {{RECV_ERROR, .cancelled = true}, ENGINE_CLASS_CALLER, false},
	    {{.curl_code = COULDNT_CONNECT}, ENGINE_CLASS_CONNECT, true},
	    {{COULDNT_CONNECT, .os_errno = ECONNREFUSED}, ENGINE_CLASS_CONNECT, true},
	    {{COULDNT_CONNECT, .os_errno = EACCES}, ENGINE_CLASS_LOCAL, false},
	    {{COULDNT_CONNECT, .os_errno = EPERM}, ENGINE_CLASS_LOCAL, false},
	    {{COULDNT_CONNECT, .os_errno = EAFNOSUPPORT}, ENGINE_CLASS_LOCAL, false},
	    {{RECV_ERROR, .os_errno = EPERM}, ENGINE_CLASS_RECEIVE, true}, /* stale: another call's errno */
	    /* A refused CONNECT: 56 before libcurl 8.20, 7 since, 22 with FAILONERROR. */
	    {{RECV_ERROR, .connect_status = 502}, ENGINE_CLASS_PROXY, true},
	    {{COULDNT_CONNECT, .connect_status = 503}, ENGINE_CLASS_PROXY, true},
	    {{HTTP_RETURNED_ERROR, .connect_status = 503}, ENGINE_CLASS_PROXY, true},
	    {{RECV_ERROR, .connect_status = 407}, ENGINE_CLASS_PROXY, false},
	    {{RECV_ERROR, .connect_status = 403}, ENGINE_CLASS_PROXY, false},
	    {{RECV_ERROR, .connect_status = 404}, ENGINE_CLASS_PROXY, false},
	    {{RECV_ERROR, .connect_status = 200}, ENGINE_CLASS_RECEIVE, true},
	    {{.connect_status = 200, .status = 503, .header_block_complete = true}, ENGINE_CLASS_STATUS, true},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = test_rules();
		struct engine_finding finding = engine_classify(&rules, ENGINE_METHOD_GET, &cases[i].outcome);

		assert_class(finding.failure, cases[i].failure);
		assert_int_equal(finding.passing, cases[i].passing);
	}
}

/* A proxy that won't let us in says the same to the next attempt, whatever a policy for origins holds. */
static void proxy_credentials_are_final(void **state)
{
	struct policy_rules rules = test_rules();
	struct engine_outcome outcome = {.curl_code = RECV_ERROR};

	(void)state;
	test_add_status(&rules.retry_status, 403);
	test_add_status(&rules.retry_status, 407);
	outcome.connect_status = 403;
	assert_false(engine_classify(&rules, ENGINE_METHOD_GET, &outcome).passing);
	outcome.connect_status = 407;
	assert_false(engine_classify(&rules, ENGINE_METHOD_GET, &outcome).passing);
}

static void retry_errors_selects_classes(void **state)
{
	static const struct {
		int curl_code;
		uint32_t bit;
	} cases[] = {
	    {6, POLICY_ERROR_RESOLVE},  {7, POLICY_ERROR_CONNECT},  {35, POLICY_ERROR_TLS},
	    {55, POLICY_ERROR_SEND},    {56, POLICY_ERROR_RECEIVE}, {52, POLICY_ERROR_EMPTY},
	    {18, POLICY_ERROR_PARTIAL}, {92, POLICY_ERROR_HTTP2},   {28, POLICY_ERROR_TIMEOUT},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = test_rules();
		struct engine_outcome outcome = test_code(cases[i].curl_code);

		rules.retry_errors = cases[i].bit;
		assert_true(engine_classify(&rules, ENGINE_METHOD_OTHER, &outcome).passing);
		rules.retry_errors = 0x1ff & ~cases[i].bit;
		assert_false(engine_classify(&rules, ENGINE_METHOD_OTHER, &outcome).passing);
	}
}

/* The answer was a 503; that its body broke off doesn't make it final. */
static void retryable_status_survives_a_cut(void **state)
{
	struct policy_rules rules = test_rules();
	struct engine_outcome outcome = test_status(503);

	(void)state;
	rules.retry_errors = 0;
	outcome.curl_code = PARTIAL_FILE;
	assert_true(engine_classify(&rules, ENGINE_METHOD_GET, &outcome).passing);
	outcome.status = 200;
	assert_false(engine_classify(&rules, ENGINE_METHOD_GET, &outcome).passing);
}

static bool status_passes(enum engine_method method, int status)
{
	struct policy_rules rules = test_rules();
	struct engine_outcome outcome = test_status(status);

	return engine_classify(&rules, method, &outcome).passing;
}

static void some_statuses_pass_for_get_and_head_only(void **state)
{
	static const struct {
		enum engine_method method;
		bool passing_500;
	} cases[] = {
	    {ENGINE_METHOD_GET, true},  {ENGINE_METHOD_HEAD, true},    {ENGINE_METHOD_OPTIONS, false},
	    {ENGINE_METHOD_PUT, false}, {ENGINE_METHOD_DELETE, false}, {ENGINE_METHOD_OTHER, false},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		assert_int_equal(status_passes(cases[i].method, 500), cases[i].passing_500);
		assert_true(status_passes(cases[i].method, 503));
		assert_false(status_passes(cases[i].method, 200));
		assert_false(status_passes(cases[i].method, 0));
		assert_false(status_passes(cases[i].method, 1000));
	}
}

static void stop_hint_is_obeyed(void **state)
{
	struct policy_rules rules = test_rules();
	struct engine_request request = test_request(ENGINE_METHOD_GET);
	struct engine_operation operation;
	struct engine_plan plan;
	struct test_ports test_ports = {.tokens = true};
	struct engine_ports ports = test_engine_ports(&test_ports);
	struct engine_outcome outcome = test_status(429);

	(void)state;
	engine_begin(&operation, &rules, &request, 0);
	assert_true(engine_plan(&operation, 0, &plan));
	outcome.stop_hint = true;
	assert_reason(engine_judge(&operation, &outcome, 0, &ports).reason, ENGINE_TERMINAL_ERROR);
	outcome.status = 200;
	assert_reason(engine_judge(&operation, &outcome, 0, &ports).reason, ENGINE_SUCCESS);
}

static bool refuse_to_rewind(void *context)
{
	(void)context;
	return false;
}

static void body_that_cannot_be_rewound_costs_no_token(void **state)
{
	struct policy_rules rules = test_rules();
	struct engine_request request = test_request(ENGINE_METHOD_PUT);
	struct engine_operation operation;
	struct engine_plan plan;
	struct test_ports test_ports = {.tokens = true};
	struct engine_ports ports = test_engine_ports(&test_ports);
	struct engine_outcome outcome = test_status(503);

	(void)state;
	ports.can_rewind = refuse_to_rewind;
	engine_begin(&operation, &rules, &request, 0);
	assert_true(engine_plan(&operation, 0, &plan));
	struct engine_verdict verdict = engine_judge(&operation, &outcome, 0, &ports);
	assert_reason(verdict.reason, ENGINE_BODY_NOT_REPLAYABLE);
	assert_int_equal(test_ports.tokens_asked, 0);
}

static void final_body_takes_a_retry_back(void **state)
{
	struct policy_rules rules = test_rules();
	struct engine_request request = test_request(ENGINE_METHOD_GET);
	struct engine_operation operation;
	struct engine_plan plan;
	struct test_ports test_ports = {.tokens = true};
	struct engine_ports ports = test_engine_ports(&test_ports);
	struct engine_outcome outcome = test_status(429);

	(void)state;
	outcome.retry_after = (struct engine_retry_after){.kind = ENGINE_RETRY_AFTER_WAIT, .wait_ms = 2000};
	engine_begin(&operation, &rules, &request, 0);
	assert_true(engine_plan(&operation, 0, &plan));
	struct engine_verdict verdict = engine_judge(&operation, &outcome, 0, &ports);
	assert_int_equal(verdict.action, ENGINE_RETRY);
	assert_true(operation.waited_ms >= 2000);
	engine_retract(&operation, &verdict);
	assert_int_equal(verdict.action, ENGINE_DELIVER);
	assert_reason(verdict.reason, ENGINE_TERMINAL_ERROR);
	assert_int_equal(verdict.failure, ENGINE_CLASS_STATUS);
	assert_int_equal(operation.waited_ms, 0);
}

static void changed_timeout_counts_from_entry(void **state)
{
	struct policy_rules rules = test_rules();
	struct engine_request request = test_request(ENGINE_METHOD_GET);
	struct engine_operation operation;
	struct engine_plan plan;

	(void)state;
	rules.deadline_ms = 0;
	rules.per_try_ms = 0;
	engine_begin(&operation, &rules, &request, 1000);
	assert_true(engine_plan(&operation, 1000, &plan));
	assert_true(engine_plan(&operation, 1500, &plan));
	engine_replan(&operation, 2000, 1500, &plan);
	assert_int_equal(plan.limit_ms, 1500);
	assert_int_equal(operation.program_deadline_ms, 3000);
	engine_replan(&operation, 0, 1500, &plan);
	assert_int_equal(plan.limit_ms, ENGINE_NEVER);
}

static void connections_are_renewed_after_transport_failures(void **state)
{
	static const struct {
		struct engine_outcome outcome;
		bool connection, lookup;
	} cases[] = {
	    {{.status = 503, .header_block_complete = true}, false, false},
	    {{.curl_code = 6}, true, true},
	    {{.curl_code = 7}, true, false},
	    {{.curl_code = 56}, true, false},
	    {{.curl_code = 28}, true, false},
	    {{.status = 200}, true, false},
	    {{.curl_code = 56, .connect_status = 502}, true, false},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = test_rules();
		struct engine_request request = test_request(ENGINE_METHOD_GET);
		struct test_ports test_ports = {.tokens = true};
		struct engine_ports ports = test_engine_ports(&test_ports);
		struct engine_operation operation;
		struct engine_plan plan;
		struct engine_verdict verdict;

		engine_begin(&operation, &rules, &request, 0);
		assert_true(engine_plan(&operation, 0, &plan));
		verdict = engine_judge(&operation, &cases[i].outcome, 0, &ports);
		assert_int_equal(verdict.action, ENGINE_RETRY);
		assert_int_equal(verdict.fresh_connection, cases[i].connection);
		assert_int_equal(verdict.fresh_lookup, cases[i].lookup);
	}
}

static void everything_has_a_name(void **state)
{
	(void)state;
	for (int reason = ENGINE_CANCELLED; reason <= ENGINE_PASSED_THROUGH; reason++)
		assert_string_not_equal(engine_reason_name((enum engine_reason)reason), "unknown");
	for (int failure = ENGINE_CLASS_NONE; failure <= ENGINE_CLASS_LOCAL; failure++)
		assert_string_not_equal(engine_class_name((enum engine_class)failure), "unknown");
	assert_string_equal(engine_reason_name((enum engine_reason)1000), "unknown");
	assert_string_equal(engine_class_name((enum engine_class) - 1), "unknown");
	assert_string_equal(engine_reason_name(ENGINE_ATTEMPT_CAP), "attempt_cap");
	assert_string_equal(engine_class_name(ENGINE_CLASS_RESOLVE), "resolve");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(outcomes_have_classes),
	    cmocka_unit_test(proxy_credentials_are_final),
	    cmocka_unit_test(retry_errors_selects_classes),
	    cmocka_unit_test(retryable_status_survives_a_cut),
	    cmocka_unit_test(some_statuses_pass_for_get_and_head_only),
	    cmocka_unit_test(stop_hint_is_obeyed),
	    cmocka_unit_test(final_body_takes_a_retry_back),
	    cmocka_unit_test(body_that_cannot_be_rewound_costs_no_token),
	    cmocka_unit_test(changed_timeout_counts_from_entry),
	    cmocka_unit_test(connections_are_renewed_after_transport_failures),
	    cmocka_unit_test(everything_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
