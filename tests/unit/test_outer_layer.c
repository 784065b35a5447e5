/* SPDX-License-Identifier: MIT */
/* Layers that show themselves: by what they write on a request, and by their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "engine/outer_layer.h"

/* Short names for classes. */
#define STATUS  ENGINE_CLASS_STATUS
#define RECEIVE ENGINE_CLASS_RECEIVE

/* What the policy names by default, and one header that only it knows. */
static const char *const header_names[] = {
    "amz-sdk-request",   "amz-sdk-invocation-id",        "aws-sdk-retry",           "aws-sdk-invocation-id",
    "x-goog-api-client", "x-goog-gcs-idempotency-token", "x-stainless-retry-count", "Idempotency-Key",
    "x-sdk-retry-count", "opc-client-retries",           "X-Ours-Attempt",
};
static const struct policy_list headers = {header_names, sizeof header_names / sizeof header_names[0]};

static const struct policy_list no_names = {NULL, 0};

static void a_header_shows_a_layer(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		const char *name;
	} LINES[] = {
	    {"amz-sdk-request: attempt=1", "amz-sdk-request"},
	    {"amz-sdk-request:attempt=1; max=3", "amz-sdk-request"},
	    {"AMZ-SDK-Request: ttl=20260822T124521Z; attempt=2; max=3", "amz-sdk-request"},
	    {"amz-sdk-request: attempt=3; max=3", "amz-sdk-request"},
	    {"amz-sdk-request: attempt=1; max=10", "amz-sdk-request"},
	    {"amz-sdk-invocation-id: 1f2e", "amz-sdk-invocation-id"},
	    {"aws-sdk-retry: 0/0", "aws-sdk-retry"},
	    {"aws-sdk-invocation-id: 1f2e", "aws-sdk-invocation-id"},
	    {"x-goog-api-client: gl-php/8.2 gccl/1.30 gccl-invocation-id/1f2e gccl-attempt-count/1",
	     "x-goog-api-client"},
	    {"x-goog-api-client: gl-node/20 gccl/7 gccl-invocation-id/1f2e", "x-goog-api-client"},
	    {"x-goog-gcs-idempotency-token: 77aa", "x-goog-gcs-idempotency-token"},
	    {"X-Stainless-Retry-Count: 0", "x-stainless-retry-count"},
	    {"Idempotency-Key: stainless-python-retry-0c0ffee0", "Idempotency-Key"},
	    {"idempotency-key:stainless-php-retry-0123", "Idempotency-Key"},
	    {"X-Sdk-Retry-Count: attempt=1; max=1", "x-sdk-retry-count"},
	    {"opc-client-retries: true", "opc-client-retries"},
	    {"X-Ours-Attempt: whatever", "X-Ours-Attempt"},
	    {"x-ours-attempt;", "X-Ours-Attempt"},
	};
	for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++) {
		struct outer_header header = outer_layer_of_header(LINES[i].line, &headers);
		if (!header.layer || !outer_layer_retries(header.layer, STATUS, 503))
			fail_msg("no layer: %s", LINES[i].line);
		assert_string_equal(header.name, LINES[i].name);
		/* Only for those that the policy names. */
		if (outer_layer_of_header(LINES[i].line, &no_names).layer)
			fail_msg("not in the policy: %s", LINES[i].line);
	}
}

/* Whatever else the request has: an id of the invocation is sent along. */
static void sender_of_one_attempt_says_so(void **state)
{
	(void)state;
	assert_true(outer_layer_of_header("amz-sdk-request: attempt=1; max=1", &headers).once);
	assert_true(outer_layer_of_header("amz-sdk-request: max=0; attempt=1", &headers).once);
	assert_false(outer_layer_of_header("amz-sdk-request: attempt=1", &headers).once);
	assert_false(outer_layer_of_header("amz-sdk-request: attempt=1; max=2", &headers).once);
	assert_false(outer_layer_of_header("amz-sdk-invocation-id: 1f2e", &headers).once);
	assert_false(outer_layer_of_header("X-Sdk-Retry-Count: attempt=1; max=1", &headers).once);
	assert_false(outer_layer_of_header("amz-sdk-request: attempt=1; max=1", &no_names).once);
}

static void what_looks_alike_shows_none(void **state)
{
	(void)state;
	static const char *const LINES[] = {
	    "",
	    ":",
	    ";",
	    "amz-sdk-request",
	    "amz-sdk-request:",
	    "amz-sdk-request: \t",
	    "amz-sdk-request;",
	    "amz-sdk-request: attempt=1; max=1",
	    "amz-sdk-request: max=0; attempt=1",
	    "amz-sdk-request: something",
	    "amz-sdk-request: attempt=",
	    "amz-sdk-request: xattempt=1",
	    "x-amz-sdk-request: attempt=1",
	    "amz-sdk-requests: attempt=1",
	    "amz-sdk-invocation-id;",
	    "aws-sdk-invocation-id:",
	    "aws-sdk-retry;",
	    "x-goog-api-client: gl-php/8.2 gccl/1.30",
	    "x-goog-api-client: xgccl-attempt-count/1",
	    "x-goog-gcs-idempotency-token;",
	    "x-stainless-retry-count:",
	    "x-stainless-retry-count: no",
	    "Idempotency-Key: 0c0ffee0-0000-4000-8000-000000000000",
	    "Idempotency-Key: stainless-retry-1",
	    "Idempotency-Key: stainless--retry-1",
	    "Idempotency-Key: stainless-php-1",
	    "x-sdk-retry-count: 1",
	    "opc-client-retries: false",
	    "opc-client-retries: truest",
	    "X-Ours-Attempt:",
	    "X-Ours-Attempt; 1",
	    "User-Agent: attempt=1; max=3",
	};
	for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++)
		if (outer_layer_of_header(LINES[i], &headers).layer)
			fail_msg("a layer: %s", LINES[i]);
}

static void attempts_of_one_invocation_have_one_id(void **state)
{
	(void)state;
	static const char *const SAME[][2] = {
	    {"amz-sdk-invocation-id: 1f2e-3d", "Amz-Sdk-Invocation-Id:1f2e-3d"},
	    {"aws-sdk-invocation-id: 77aa", "aws-sdk-invocation-id: 77aa "},
	    {"x-goog-api-client: gccl-invocation-id/1f2e gccl-attempt-count/1",
	     "x-goog-api-client: gl-php/8.2 gccl-invocation-id/1f2e gccl-attempt-count/2"},
	    {"x-goog-gcs-idempotency-token: 77aa", "x-goog-gcs-idempotency-token: 77aa"},
	    {"Idempotency-Key: stainless-php-retry-01", "idempotency-key: stainless-php-retry-01"},
	};
	static const char *const OTHERS[][2] = {
	    {"amz-sdk-invocation-id: 1f2e-3d", "amz-sdk-invocation-id: 1f2e-3e"},
	    {"x-goog-api-client: gccl-invocation-id/1f2e", "x-goog-api-client: gccl-invocation-id/1f2f"},
	    {"Idempotency-Key: stainless-php-retry-01", "Idempotency-Key: stainless-php-retry-02"},
	};
	static const char *const NONE[] = {
	    "amz-sdk-request: attempt=1", "aws-sdk-retry: 0/0",
	    "amz-sdk-invocation-id;",     "x-goog-api-client: gccl-attempt-count/1",
	    "x-stainless-retry-count: 1", "Idempotency-Key: 77aa",
	    "X-Ours-Attempt: 1",          "x-goog-api-client: gccl-invocation-id/",
	};
	for (size_t i = 0; i < sizeof SAME / sizeof SAME[0]; i++) {
		uint64_t first = outer_layer_of_header(SAME[i][0], &headers).invocation;
		assert_true(first != 0);
		assert_true(outer_layer_of_header(SAME[i][1], &headers).invocation == first);
	}
	for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
		assert_true(outer_layer_of_header(OTHERS[i][0], &headers).invocation !=
		            outer_layer_of_header(OTHERS[i][1], &headers).invocation);
	for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++)
		if (outer_layer_of_header(NONE[i], &headers).invocation != 0)
			fail_msg("an invocation: %s", NONE[i]);
	assert_true(outer_layer_of_header(SAME[0][0], &no_names).invocation == 0);
}

static void a_layer_retries_some_failures(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		enum engine_class failure;
		int status;
		bool retries;
	} CASES[] = {
	    {"amz-sdk-request: attempt=1", RECEIVE, 0, true},
	    {"amz-sdk-request: attempt=1", STATUS, 408, true},
	    {"amz-sdk-request: attempt=1", STATUS, 522, false},
	    {"amz-sdk-request: attempt=1", STATUS, 404, false},
	    {"amz-sdk-request: attempt=1", ENGINE_CLASS_LOCAL, 0, false},
	    {"amz-sdk-request: attempt=1", ENGINE_CLASS_CALLER, 0, false},
	    {"x-stainless-retry-count: 0", STATUS, 524, true},
	    {"x-stainless-retry-count: 0", ENGINE_CLASS_TIMEOUT, 0, true},
	    {"x-goog-api-client: gccl-attempt-count/1", RECEIVE, 0, false},
	    {"x-sdk-retry-count: attempt=1; max=3", STATUS, 408, false},
	    {"x-sdk-retry-count: attempt=1; max=3", ENGINE_CLASS_RESOLVE, 0, false},
	    {"x-sdk-retry-count: attempt=1; max=3", ENGINE_CLASS_CONNECT, 0, true},
	    {"X-Ours-Attempt: 1", STATUS, 418, true},
	    {"X-Ours-Attempt: 1", ENGINE_CLASS_HTTP2, 0, true},
	    {"X-Ours-Attempt: 1", ENGINE_CLASS_PROXY, 0, true},
	    {"X-Ours-Attempt: 1", ENGINE_CLASS_LOCAL, 0, false},
	};
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct outer_header header = outer_layer_of_header(CASES[i].line, &headers);
		if (outer_layer_retries(header.layer, CASES[i].failure, CASES[i].status) != CASES[i].retries)
			fail_msg("%s: %s %d", CASES[i].line, engine_class_name(CASES[i].failure), CASES[i].status);
	}
}

static void programs_are_known_by_their_names(void **state)
{
	(void)state;
	static const char *const GLOBS[] = {"s3fs", "uacme", "libproj.so*", "libfreshclam.so*", "sync-*.sh", "*backer"};
	static const struct policy_list globs = {GLOBS, sizeof GLOBS / sizeof GLOBS[0]};
	static const struct {
		const char *name;
		bool is_layer, retries_503, retries_reset;
	} CASES[] = {
	    {"s3fs", true, true, true},
	    {"s3fs-other", false, false, false},
	    {"uacme", true, false, true},
	    {"libproj.so.25", true, true, false},
	    {"libproj.so.25.9.1.1", true, true, false},
	    {"libfreshclam.so.3", true, true, true},
	    {"s3backer", true, true, true},
	    /* Known, but the policy doesn't name it. */
	    {"dub", false, false, false},
	    /* The policy alone knows it: it retries everything. */
	    {"sync-all.sh", true, true, true},
	    {"", false, false, false},
	};
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		const struct outer_layer *layer = outer_layer_of_program(CASES[i].name, &globs);
		if ((layer != NULL) != CASES[i].is_layer)
			fail_msg("%s", CASES[i].name);
		if (layer) {
			assert_true(outer_layer_retries(layer, STATUS, 503) == CASES[i].retries_503);
			assert_true(outer_layer_retries(layer, RECEIVE, 0) == CASES[i].retries_reset);
		}
	}
	assert_ptr_equal(outer_layer_of_program("sync-all.sh", &globs), &outer_layer_unknown);
}

/* A name that the table lacks would count for every failure: a slip in a default costs the failures that it hides. */
static void the_table_knows_every_default(void **state)
{
	(void)state;
	const struct policy_rules *rules = &policy_builtin()->sections[0].rules;
	char line[128];

	assert_true(rules->nested_headers.count > 0 && rules->nested_programs.count > 0);
	for (size_t i = 0; i < rules->nested_headers.count; i++) {
		snprintf(line, sizeof line, "%s: ?", rules->nested_headers.items[i]);
		if (outer_layer_of_header(line, &rules->nested_headers).layer == &outer_layer_unknown)
			fail_msg("header %s", rules->nested_headers.items[i]);
	}
	for (size_t i = 0; i < rules->nested_programs.count; i++)
		if (outer_layer_of_program(rules->nested_programs.items[i], &rules->nested_programs) ==
		    &outer_layer_unknown)
			fail_msg("program %s", rules->nested_programs.items[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_header_shows_a_layer),        cmocka_unit_test(sender_of_one_attempt_says_so),
	    cmocka_unit_test(what_looks_alike_shows_none),   cmocka_unit_test(attempts_of_one_invocation_have_one_id),
	    cmocka_unit_test(a_layer_retries_some_failures), cmocka_unit_test(programs_are_known_by_their_names),
	    cmocka_unit_test(the_table_knows_every_default),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
