/* SPDX-License-Identifier: MIT */
/* Header blocks, in whatever pieces they come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "config/load.h"
#include "interpose/gate/block.c" /* of the preloaded object, which the tests aren't linked with */

/* What a response with this header block demands, in ms; -1: nothing. bytes_each: what a callback brings; 0: a line. */
static int64_t demanded_ms(const char *fields, size_t bytes_each)
{
	const struct policy_rules *rules = &policy_builtin()->sections[0].rules;
	struct header_block block = {.open = false};
	char text[1024];
	size_t bytes = (size_t)snprintf(text, sizeof(text), "HTTP/1.1 503 x\r\n%s\r\n\r\n", fields);
	bool ended = false;
	for (size_t at = 0, taken; at < bytes; at += taken) {
		taken = bytes_each ? bytes_each : (size_t)(strchr(text + at, '\n') - (text + at)) + 1;
		taken = taken < bytes - at ? taken : bytes - at;
		assert_false(ended);
		ended = block_add(&block, rules, text + at, taken) & BLOCK_ENDED;
	}
	assert_true(ended);
	struct engine_retry_after found = engine_demand_resolve(&block.demand, 0);
	return found.kind == ENGINE_RETRY_AFTER_NONE ? -1 : found.wait_ms;
}

static const struct {
	const char *fields;
	int64_t ms;
} FOLDED[] = {
    {"Retry-After: 7", 7000},
    {"Retry-After:\r\n 7", 7000},
    {"Retry-After:\r\n\t 7 \r\n ", 7000},
    {"Retry-After: \r\n\r", -1},
    {"A: b\r\nRetry-After:\r\n \r\n  7\r\nC: d", 7000},
    {"Date: Wed, 21 Oct 2026\r\n 07:28:00 GMT\r\nRetry-After: Wed, 21 Oct\r\n\t2026 \r\n 07:28:09 GMT", 9000},
    {"Retry-After: 7,\r\n 9", 9000},
    {"Retry-After: 7\r\n x", 7000}, /* garbled: never earlier than one of its readings */
    {"A: b\r\n Retry-After: 7", -1},
    {" Retry-After: 7", -1},
    {"X: y\r\n 7\r\nRetry-After: 7\r\nX: y\r\n 9", 7000},
};

static void test_a21_folded_fields_are_read_as_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(FOLDED) / sizeof(FOLDED[0]); i++) {
		if (demanded_ms(FOLDED[i].fields, 0) != FOLDED[i].ms)
			fail_msg("%s, line by line: %lld", FOLDED[i].fields,
			         (long long)demanded_ms(FOLDED[i].fields, 0));
		if (demanded_ms(FOLDED[i].fields, 1024) != FOLDED[i].ms)
			fail_msg("%s, all at once: %lld", FOLDED[i].fields,
			         (long long)demanded_ms(FOLDED[i].fields, 1024));
	}
}

static void test_a21_a_field_that_never_ends_is_given_up(void **state)
{
	char fields[900] = "Retry-After:\r\n";
	(void)state;
	for (int i = 0; i < 200; i++)
		strcat(fields, " 1\r\n");
	strcat(fields, " 1");
	assert_in_range(demanded_ms(fields, 0), 1000, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a21_folded_fields_are_read_as_one),
	    cmocka_unit_test(test_a21_a_field_that_never_ends_is_given_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
