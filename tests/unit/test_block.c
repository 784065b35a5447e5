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
#include "interpose/gate/block.h"

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

/* A block of the given lines, read line by line; returns what the last one was. */
static int read_block(struct header_block *block, const char *text)
{
	const struct policy_rules *rules = &policy_builtin()->sections[0].rules;
	int events = 0;
	block_clear(block, true);
	for (size_t bytes; *text; text += bytes) {
		bytes = strcspn(text, "\n");
		bytes += text[bytes] == '\n';
		events = block_add(block, rules, text, bytes);
	}
	return events;
}

static const struct {
	const char *line;
	int status;
} STATUS_LINES[] = {
    {"HTTP/1.1 200 OK", 200},
    {"HTTP/2 404", 404},
    {"HTTP/1.1   503 x", 503},
    {"HTTP/1.1 200", 200},
    {"HTTP/1.1 20", 0},
    {"HTTP/1.1 2x0 OK", 0},
    {"HTTP/1.1", 0},
    {"HTTP/1.1 ", 0},
    {"HTTP/ 100", 100},
    {"HTTP/1.1 2000", 200},
    {"HTTP/1.1 000 x", 0},
    {"HTTP/1.1  ", 0},
    {"HTTP/", 0},
};

static void test_status_lines_are_read_as_libcurl_reads_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(STATUS_LINES) / sizeof(STATUS_LINES[0]); i++) {
		struct header_block block;
		assert_int_equal(read_block(&block, STATUS_LINES[i].line), BLOCK_BEGAN);
		if (block.status != STATUS_LINES[i].status)
			fail_msg("%s: %d", STATUS_LINES[i].line, block.status);
		assert_true(block.open);
		assert_false(block.complete);
	}
}

static const struct {
	const char *field;
	int64_t length_bytes;
	int attempts;
	bool has_location, is_h2c, is_event_stream;
} FIELDS[] = {
    {"A: b", -1, 0, false, false, false},
    {"Content-Length: 4", 4, 0, false, false, false},
    {"content-length:4 \t", 4, 0, false, false, false},
    {"Content-Length: 0", 0, 0, false, false, false},
    {"Content-Length:", -1, 0, false, false, false},
    {"Content-Length: -4", -1, 0, false, false, false},
    {"Content-Length: 4, 4", -1, 0, false, false, false},
    {"Content-Length: 999999999999999999", 999999999999999999, 0, false, false, false},
    {"Content-Length: 1000000000000000000", -1, 0, false, false, false},
    {"Content-Length : 4", -1, 0, false, false, false},
    {"Content-Lengths: 4", -1, 0, false, false, false},
    {"Content-Length 4", -1, 0, false, false, false},
    {"Content-Lengtx: 4", -1, 0, false, false, false},
    {"x-envoy-attempt-count: 3", -1, 3, false, false, false},
    {"X-Envoy-Attempt-Count: 1000000", -1, 1000000, false, false, false},
    {"x-envoy-attempt-count: 1000001", -1, 0, false, false, false},
    {"x-envoy-attempt-count: 0", -1, 0, false, false, false},
    {"x-envoy-attempt-count: no", -1, 0, false, false, false},
    {"Location: /", -1, 0, true, false, false},
    {"Location:", -1, 0, false, false, false},
    {"Location: \t ", -1, 0, false, false, false},
    {"Location: /\r\nLocation:", -1, 0, true, false, false},
    {"Upgrade: H2C", -1, 0, false, true, false},
    {"Upgrade: h2", -1, 0, false, false, false},
    {"Upgrade: websocket", -1, 0, false, false, false},
    {"Content-Type: text/event-stream", -1, 0, false, false, true},
    {"Content-Type: Text/Event-Stream; charset=utf-8", -1, 0, false, false, true},
    {"Content-Type: text/plain", -1, 0, false, false, false},
    {"Content-Type", -1, 0, false, false, false},
};

static void test_fields_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(FIELDS) / sizeof(FIELDS[0]); i++) {
		struct header_block block;
		char text[128];
		snprintf(text, sizeof(text), "HTTP/1.1 503 x\r\n%s\r\n\r\n", FIELDS[i].field);
		assert_int_equal(read_block(&block, text), BLOCK_ENDED);
		if (block.content_length_bytes != FIELDS[i].length_bytes ||
		    block.upstream_attempts != FIELDS[i].attempts || block.has_location != FIELDS[i].has_location ||
		    block.is_h2c != FIELDS[i].is_h2c || block.is_event_stream != FIELDS[i].is_event_stream)
			fail_msg("%s", FIELDS[i].field);
		assert_false(block.open);
		assert_true(block.complete);
	}
}

static void test_a_block_forgets_the_one_before(void **state)
{
	struct header_block block;
	(void)state;
	read_block(&block,
	           "HTTP/1.1 302 x\r\nLocation: /\r\nContent-Length: 4\r\nUpgrade: h2c\r\nRetry-After: 9\r\n\r\n"
	           "HTTP/1.1 503 x\r\n");
	assert_int_equal(block.status, 503);
	assert_true(block.open);
	assert_false(block.complete || block.has_location || block.is_h2c);
	assert_int_equal(block.content_length_bytes, BLOCK_LENGTH_UNKNOWN);
	assert_int_equal(engine_demand_resolve(&block.demand, 0).kind, ENGINE_RETRY_AFTER_NONE);
	assert_true(block.reads_success);
}

static void test_lines_outside_of_a_block_are_nothing(void **state)
{
	struct header_block block;
	(void)state;
	assert_int_equal(read_block(&block, "Retry-After: 9\r\n"), 0);
	assert_int_equal(read_block(&block, "\r\n"), 0);
	assert_int_equal(read_block(&block, "HTTP/1.1 200 x\r\n\r\nRetry-After: 9\r\n"), 0);
	assert_int_equal(engine_demand_resolve(&block.demand, 0).kind, ENGINE_RETRY_AFTER_NONE);
}

static uint64_t step_of(const char *lines)
{
	struct header_block block;
	read_block(&block, lines);
	return block.step_hash;
}

static void test_steps_are_told_apart_by_status_and_location(void **state)
{
	(void)state;
	uint64_t step = step_of("HTTP/1.1 302 x\r\nLocation: /a\r\n");
	assert_true(step == step_of("HTTP/1.1 302 y\r\nDate: today\r\nlocation:   /a \r\n"));
	assert_true(step != step_of("HTTP/1.1 307 x\r\nLocation: /a\r\n"));
	assert_true(step != step_of("HTTP/1.1 302 x\r\nLocation: /b\r\n"));
	assert_true(step != step_of("HTTP/1.1 302 x\r\nLocation: /a\r\nLocation: /b\r\n"));
}

static const struct {
	const char *bytes;
	bool ends;
} SKIPPED[] = {
    {"\r\n", true}, {"\n", true},     {"A: b\r\n\r\n", true},      {"A: b\n\n", true},
    {"", false},    {"A: b", false},  {"A: b\r\n", false},         {"A: b\n", false},
    {"\r", false},  {"\r\nA", false}, {"A: b\r\nC: d\r\n", false},
};

static void test_a_success_that_nobody_reads_is_followed_to_its_end(void **state)
{
	const struct policy_rules *rules = &policy_builtin()->sections[0].rules;
	(void)state;
	for (size_t i = 0; i < sizeof(SKIPPED) / sizeof(SKIPPED[0]); i++) {
		struct header_block block;
		block_clear(&block, false);
		block_add(&block, rules, "HTTP/1.1 200 x\r\n", 16);
		assert_true(block.skips_fields);
		block_add(&block, rules, "Location: /\r\n", 13);
		assert_false(block.has_location);
		block_skip(&block, SKIPPED[i].bytes, strlen(SKIPPED[i].bytes));
		if (block.complete != SKIPPED[i].ends || block.open == SKIPPED[i].ends)
			fail_msg("skipped part %zu", i);
	}
}

/* Trailers behind its body have blank lines of their own. */
static void test_nothing_ends_twice(void **state)
{
	struct header_block block;
	(void)state;
	block_clear(&block, false);
	block_skip(&block, "\r\n", 2);
	assert_false(block.complete);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a21_folded_fields_are_read_as_one),
	    cmocka_unit_test(test_a21_a_field_that_never_ends_is_given_up),
	    cmocka_unit_test(test_status_lines_are_read_as_libcurl_reads_them),
	    cmocka_unit_test(test_fields_are_read),
	    cmocka_unit_test(test_a_block_forgets_the_one_before),
	    cmocka_unit_test(test_lines_outside_of_a_block_are_nothing),
	    cmocka_unit_test(test_steps_are_told_apart_by_status_and_location),
	    cmocka_unit_test(test_a_success_that_nobody_reads_is_followed_to_its_end),
	    cmocka_unit_test(test_nothing_ends_twice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
