/* SPDX-License-Identifier: MIT */
/* A record is one line of valid JSON, whatever is in it; read back here with a JSON parser of someone else's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log/record.h"

static struct record attempt_record(void)
{
	return (struct record){
	    .kind = RECORD_ATTEMPT,
	    .time_us = INT64_C(1767323045678901),
	    .pid = 4711,
	    .program = "curl",
	    .job = "nightly",
	    .run = "0123456789abcdef",
	    .mode = "enforce",
	    .policy_path = "/etc/tenacurl/policy.ini",
	    .policy_hash = "fedcba9876543210",
	    .section = "api",
	    .libcurl_flavour = "OPENSSL_4",
	    .libcurl_version = "7.88.1",
	    .operation = 3,
	    .method = "GET",
	    .url = "http://example.org/x",
	    .owner = "us",
	    .intent = "00112233445566ff",
	    .status = 503,
	    .curl_name = "CURLE_OK",
	    .failure = "status",
	    .verdict = "retry",
	    .reason = "transient_failure",
	    .left_ms = RECORD_UNKNOWN_MS,
	    .attempt = 1,
	    .dns_ms = 0,
	    .connect_ms = 1,
	    .tls_ms = RECORD_UNKNOWN_MS,
	    .first_byte_ms = 20,
	    .total_ms = 21,
	    .retry_after_ms = 1000,
	    .upstream_attempts = 3,
	    .wait_ms = 1034,
	    .lost = 2,
	};
}

/* Formats, checks that it is one line within the bound, parses. */
static json_t *parse_formatted(const struct record *record)
{
	char line[RECORD_BYTES_MAX];
	size_t bytes = record_format(record, line);
	assert_true(bytes > 0 && bytes <= RECORD_BYTES_MAX);
	assert_ptr_equal(memchr(line, '\n', bytes), line + bytes - 1);
	for (size_t i = 0; i + 1 < bytes; i++)
		assert_true((unsigned char)line[i] >= 0x20 && line[i] != 0x7f);
	json_error_t error;
	json_t *parsed = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, &error);
	if (!parsed)
		fail_msg("%s: %.*s", error.text, (int)bytes, line);
	return parsed;
}

static void expect_line(const struct record *record, const char *expected)
{
	char line[RECORD_BYTES_MAX];
	size_t bytes = record_format(record, line);
	assert_int_equal(bytes, strlen(expected));
	assert_memory_equal(line, expected, bytes);
}

static void an_attempt_has_these_fields_in_this_order(void **state)
{
	(void)state;
	struct record record = attempt_record();
	expect_line(&record,
	            "{\"schema\":1,\"kind\":\"attempt\",\"time\":\"2026-01-02T03:04:05.678901Z\",\"pid\":4711,"
	            "\"program\":\"curl\",\"job\":\"nightly\",\"run\":\"0123456789abcdef\","
	            "\"mode\":\"enforce\",\"policy\":\"/etc/tenacurl/policy.ini\","
	            "\"policy_hash\":\"fedcba9876543210\",\"section\":\"api\","
	            "\"libcurl_flavour\":\"OPENSSL_4\",\"libcurl_version\":\"7.88.1\",\"operation\":3,"
	            "\"attempt\":1,\"method\":\"GET\",\"url\":\"http://example.org/x\",\"owner\":\"us\","
	            "\"evidence\":null,\"intent\":\"00112233445566ff\",\"status\":503,"
	            "\"curl_code\":0,\"curl\":\"CURLE_OK\",\"failure\":\"status\",\"unsent\":false,"
	            "\"ambiguous\":false,\"dns_ms\":0,\"connect_ms\":1,\"tls_ms\":null,\"first_byte_ms\":20,"
	            "\"total_ms\":21,\"retry_after_ms\":1000,\"upstream_attempts\":3,\"verdict\":\"retry\","
	            "\"reason\":\"transient_failure\",\"wait_ms\":1034,\"judged\":null,\"left_ms\":null,\"lost\":2}\n");
}

static void an_operation_has_these_fields_in_this_order(void **state)
{
	(void)state;
	struct record record = {
	    .kind = RECORD_OPERATION,
	    .time_us = 0,
	    .pid = 1,
	    .operation = 1,
	    .curl_code = 56,
	    .curl_name = "CURLE_RECV_ERROR",
	    .attempts = 4,
	    .sends = 5,
	    .waited_ms = 60,
	    .elapsed_ms = 70,
	    .owner = "outer",
	    .evidence = "header:amz-sdk-request",
	    .intent = "00112233445566ff",
	    .intent_operations = 2,
	    .intent_sends = 9,
	    .left_ms = 0,
	};
	expect_line(&record, "{\"schema\":1,\"kind\":\"operation\",\"time\":\"1970-01-01T00:00:00.000000Z\",\"pid\":1,"
	                     "\"program\":null,\"job\":null,\"run\":null,\"mode\":null,\"policy\":null,"
	                     "\"policy_hash\":null,\"section\":null,\"libcurl_flavour\":null,"
	                     "\"libcurl_version\":null,\"operation\":1,\"method\":null,\"url\":null,"
	                     "\"owner\":\"outer\",\"evidence\":\"header:amz-sdk-request\","
	                     "\"intent\":\"00112233445566ff\",\"status\":null,"
	                     "\"curl_code\":56,\"curl\":\"CURLE_RECV_ERROR\",\"failure\":null,\"verdict\":null,"
	                     "\"reason\":null,\"attempts\":4,\"sends\":5,\"waited_ms\":60,\"elapsed_ms\":70,"
	                     "\"intent_operations\":2,\"intent_sends\":9,"
	                     "\"left_ms\":0,\"lost\":0}\n");
}

static void an_outer_layers_return_has_these_fields_in_this_order(void **state)
{
	(void)state;
	struct record record = {
	    .kind = RECORD_NESTED,
	    .pid = 1,
	    .operation = 2,
	    .method = "GET",
	    .url = "http://example.org/x",
	    .owner = "outer",
	    .evidence = "observed",
	    .intent = "00112233445566ff",
	    .intent_operations = 2,
	    .intent_sends = 4,
	    .gap_ms = 1020,
	    .status = 503, /* of other kinds */
	    .attempts = 1,
	};
	expect_line(&record, "{\"schema\":1,\"kind\":\"nested\",\"time\":\"1970-01-01T00:00:00.000000Z\",\"pid\":1,"
	                     "\"program\":null,\"job\":null,\"run\":null,\"mode\":null,\"policy\":null,"
	                     "\"policy_hash\":null,\"section\":null,\"libcurl_flavour\":null,"
	                     "\"libcurl_version\":null,\"operation\":2,\"method\":\"GET\","
	                     "\"url\":\"http://example.org/x\",\"owner\":\"outer\",\"evidence\":\"observed\","
	                     "\"intent\":\"00112233445566ff\",\"intent_operations\":2,\"intent_sends\":4,"
	                     "\"gap_ms\":1020,\"lost\":0}\n");
}

static void what_no_proxy_and_no_outer_layer_said_is_null(void **state)
{
	(void)state;
	struct record attempt = {.kind = RECORD_ATTEMPT}, operation = {.kind = RECORD_OPERATION};
	json_t *parsed = parse_formatted(&attempt);
	assert_true(json_is_null(json_object_get(parsed, "upstream_attempts")));
	assert_true(json_is_null(json_object_get(parsed, "owner")));
	assert_null(json_object_get(parsed, "intent_operations"));
	json_decref(parsed);
	parsed = parse_formatted(&operation);
	assert_true(json_is_null(json_object_get(parsed, "intent")));
	assert_true(json_is_null(json_object_get(parsed, "intent_operations")));
	json_decref(parsed);
}

static void a_note_says_who_and_what(void **state)
{
	(void)state;
	struct record record = {.kind = RECORD_NOTE, .pid = 7, .program = "php", .note = "policy refused"};
	json_t *parsed = parse_formatted(&record);
	assert_string_equal(json_string_value(json_object_get(parsed, "kind")), "note");
	assert_string_equal(json_string_value(json_object_get(parsed, "note")), "policy refused");
	assert_true(json_is_null(json_object_get(parsed, "operation")));
	assert_null(json_object_get(parsed, "url"));
	json_decref(parsed);
}

static void times_equal_those_of_the_c_library(void **state)
{
	(void)state;
	static const int64_t SECONDS[] = {
	    0,          951782399,  951782400,  951868800,  1709164800,           1709251199,
	    4107542399, 4107542400, 1735689599, 1735689600, INT64_C(32503679999), INT64_C(253402300799)};
	for (size_t i = 0; i < sizeof(SECONDS) / sizeof(SECONDS[0]); i++) {
		struct record record = {.kind = RECORD_NOTE, .time_us = SECONDS[i] * 1000000 + 7};
		time_t seconds = SECONDS[i];
		struct tm utc;
		char expected[64];
		gmtime_r(&seconds, &utc);
		strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S.000007Z", &utc);
		json_t *parsed = parse_formatted(&record);
		assert_string_equal(json_string_value(json_object_get(parsed, "time")), expected);
		json_decref(parsed);
	}
}

static void a_time_that_no_date_can_tell_is_null(void **state)
{
	(void)state;
	static const int64_t TIMES_US[] = {-1, INT64_MIN, INT64_MAX, INT64_C(253402300800000000)};
	for (size_t i = 0; i < sizeof(TIMES_US) / sizeof(TIMES_US[0]); i++) {
		struct record record = {.kind = RECORD_NOTE, .time_us = TIMES_US[i]};
		json_t *parsed = parse_formatted(&record);
		assert_true(json_is_null(json_object_get(parsed, "time")));
		json_decref(parsed);
	}
}

static void extreme_numbers_survive(void **state)
{
	(void)state;
	struct record record = attempt_record();
	record.left_ms = INT64_MIN;
	record.total_ms = INT64_MAX;
	record.lost = UINT64_MAX / 2;
	json_t *parsed = parse_formatted(&record);
	assert_true(json_integer_value(json_object_get(parsed, "left_ms")) == INT64_MIN);
	assert_true(json_integer_value(json_object_get(parsed, "total_ms")) == INT64_MAX);
	assert_true(json_integer_value(json_object_get(parsed, "lost")) == INT64_MAX);
	json_decref(parsed);
}

static void expect_note(const char *note, const char *read_back)
{
	struct record record = {.kind = RECORD_NOTE, .note = note};
	json_t *parsed = parse_formatted(&record);
	assert_string_equal(json_string_value(json_object_get(parsed, "note")), read_back);
	json_decref(parsed);
}

static void texts_come_back_as_they_were(void **state)
{
	(void)state;
	expect_note("", "");
	expect_note("\"quoted\" \\ back", "\"quoted\" \\ back");
	expect_note("a\nb\r\tc\x1b[31m\x7f", "a\nb\r\tc\x1b[31m\x7f");
	expect_note("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
	            "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
	expect_note("\xc2\x9b"
	            "31m",
	            "\xc2\x9b"
	            "31m");
}

static void terminal_controls_are_never_raw(void **state)
{
	(void)state;
	struct record record = {.kind = RECORD_NOTE,
	                        .note = "\xc2\x9b"
	                                "31m"};
	char line[RECORD_BYTES_MAX];
	size_t bytes = record_format(&record, line);
	assert_null(memmem(line, bytes, "\xc2\x9b", 2));
	assert_non_null(memmem(line, bytes, "\\u009b31m", 9));
}

/* Whoever gets a log of ours appended to a file that a shell reads must not have it run what an URL says. */
static void test_a10_shells_find_nothing_to_run(void **state)
{
	(void)state;
	const char *note = "http://h/$(id)/`id`/${HOME}";
	struct record record = {.kind = RECORD_NOTE, .note = note, .job = "$(id)", .program = "`id`"};
	char line[RECORD_BYTES_MAX];
	size_t bytes = record_format(&record, line);
	assert_null(memchr(line, '$', bytes));
	assert_null(memchr(line, '`', bytes));
	expect_note(note, note);
}

static void what_is_not_utf8_is_replaced(void **state)
{
	(void)state;
	expect_note("caf\xe9", "caf\xef\xbf\xbd");
	expect_note("\xc3", "\xef\xbf\xbd");
	expect_note("\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd");
	expect_note("\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd");                                 /* overlong */
	expect_note("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");                 /* surrogate */
	expect_note("\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* above U+10FFFF */
	expect_note("\xff\x80", "\xef\xbf\xbd\xef\xbf\xbd");
}

static bool ends_with_ellipsis(const char *text)
{
	size_t bytes = strlen(text);
	return bytes >= 3 && memcmp(text + bytes - 3, "\xe2\x80\xa6", 3) == 0;
}

static void the_longest_text_is_shortened_and_the_others_stay(void **state)
{
	(void)state;
	char url[20000] = "http://example.org/";
	memset(url + 19, 'p', sizeof(url) - 20);
	struct record record = attempt_record();
	record.url = url;
	json_t *parsed = parse_formatted(&record);
	const char *shortened = json_string_value(json_object_get(parsed, "url"));
	assert_true(ends_with_ellipsis(shortened));
	assert_true(strlen(shortened) > 500);
	assert_memory_equal(shortened, url, strlen(shortened) - 3);
	assert_string_equal(json_string_value(json_object_get(parsed, "policy")), record.policy_path);
	json_decref(parsed);
}

static void a_record_of_nothing_but_huge_hostile_texts_still_fits(void **state)
{
	(void)state;
	char hostile[8192];
	memset(hostile, 0x1b, sizeof(hostile) - 1);
	hostile[sizeof(hostile) - 1] = '\0';
	struct record record = attempt_record();
	const char **texts[] = {&record.program,         &record.job,         &record.run,     &record.mode,
	                        &record.policy_path,     &record.policy_hash, &record.section, &record.libcurl_flavour,
	                        &record.libcurl_version, &record.method,      &record.url,     &record.curl_name,
	                        &record.failure,         &record.verdict,     &record.reason,  &record.owner,
	                        &record.evidence,        &record.intent};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = hostile;
	json_t *parsed = parse_formatted(&record);
	assert_true(ends_with_ellipsis(json_string_value(json_object_get(parsed, "reason"))));
	json_decref(parsed);
}

static void a_cut_never_splits_a_character(void **state)
{
	(void)state;
	for (size_t lead = 0; lead < 4; lead++) {
		char note[9000] = "xxxx";
		size_t at = lead;
		while (at + 4 < sizeof(note)) {
			memcpy(note + at, "\xf0\x9f\x98\x80", 4);
			at += 4;
		}
		note[at] = '\0';
		struct record record = {.kind = RECORD_NOTE, .note = note};
		json_t *parsed = parse_formatted(&record);
		const char *text = json_string_value(json_object_get(parsed, "note"));
		assert_true(ends_with_ellipsis(text));
		assert_null(strstr(text, "\xef\xbf\xbd"));
		json_decref(parsed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_attempt_has_these_fields_in_this_order),
	    cmocka_unit_test(an_operation_has_these_fields_in_this_order),
	    cmocka_unit_test(an_outer_layers_return_has_these_fields_in_this_order),
	    cmocka_unit_test(what_no_proxy_and_no_outer_layer_said_is_null),
	    cmocka_unit_test(a_note_says_who_and_what),
	    cmocka_unit_test(times_equal_those_of_the_c_library),
	    cmocka_unit_test(a_time_that_no_date_can_tell_is_null),
	    cmocka_unit_test(extreme_numbers_survive),
	    cmocka_unit_test(texts_come_back_as_they_were),
	    cmocka_unit_test(terminal_controls_are_never_raw),
	    cmocka_unit_test(test_a10_shells_find_nothing_to_run),
	    cmocka_unit_test(what_is_not_utf8_is_replaced),
	    cmocka_unit_test(the_longest_text_is_shortened_and_the_others_stay),
	    cmocka_unit_test(a_record_of_nothing_but_huge_hostile_texts_still_fits),
	    cmocka_unit_test(a_cut_never_splits_a_character),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
