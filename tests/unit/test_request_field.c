/* SPDX-License-Identifier: MIT */

/* Header fields as they go on the wire, and what they and the query's parameters say of a request. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/method.h"
#include "engine/precondition.h"
#include "engine/request_field.h"

#define countof(array) (sizeof(array) / sizeof((array)[0]))

static void assert_span(struct span span, const char *expected)
{
	assert_int_equal(span.bytes, strlen(expected));
	assert_memory_equal(span.text, expected, span.bytes);
}

static void fields_are_what_is_sent(void **state)
{
	static const struct {
		const char *entry;
		const char *fields[6]; /* names and values by turns */
	} cases[] = {
	    {"A: b", {"A", "b"}},
	    {"A:b", {"A", "b"}},
	    {"A:  b \t", {"A", "b"}},
	    {"A : b", {"A", "b"}},
	    {"A:", {NULL}},
	    {"A: \t\r\n\v\f", {NULL}},
	    {"A;", {"A", ""}},
	    {"A; ", {NULL}},
	    {"A;b", {NULL}},
	    {"A", {NULL}},
	    {"", {NULL}},
	    {": b", {NULL}},
	    {"A: b\r\nC: d", {"A", "b", "C", "d"}},
	    {"A: b\nC: d\n", {"A", "b", "C", "d"}},
	    {"A:\r\n b\r\n\tc\r\nD: e", {"A", "\r\n b\r\n\tc", "D", "e"}},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct span rest = request_field_text(cases[i].entry);
		struct request_field field;
		size_t at = 0;

		for (; request_field_next(&rest, &field); at += 2) {
			assert_non_null(cases[i].fields[at]);
			assert_span(field.name, cases[i].fields[at]);
			assert_span(field.value, cases[i].fields[at + 1]);
		}
		assert_null(cases[i].fields[at]);
	}
}

static struct request_field only_field(const char *entry)
{
	struct span rest = request_field_text(entry);
	struct request_field field = {{"", 0}, {"", 0}};

	request_field_next(&rest, &field);
	return field;
}

static void values_can_be_seen(void **state)
{
	static const struct {
		const char *entry;
		bool has;
	} cases[] = {
	    {"K: 1", true},   {"K:x", true},       {"K;", false},  {"K: \"\"", false},
	    {"K: \v", false}, {"K:\r\n x", false}, {"K: -", true}, {"K: \"a\"", true},
	    {"K", false},     {"K: \x01", false},  {"K: ä", true}, {"K: \x7f", false},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct request_field field = only_field(cases[i].entry);

		assert_int_equal(request_field_has_value(&field), cases[i].has);
	}
}

static void preconditions_are_known_by_pattern(void **state)
{
	static const char *const own[] = {"X-Own-Guard"};
	static const struct policy_list more = {own, 1};
	static const struct {
		const char *entry;
		bool is;
	} cases[] = {
	    {"If-Match: \"x\"", true},
	    {"if-none-match:*", true},
	    {"IF-MODIFIED-SINCE: x", true},
	    {"If-Unmodified-Since: x", true},
	    {"If-Range: x", true},
	    {"If-Schedule-Tag-Match: x", true},
	    {"If_Match: x", true},
	    {"If: (<urn:uuid:1>)", true},
	    {"If : x", true},
	    {"If-Match;", true},
	    {"If-Match:", false},             /* isn't sent */
	    {"X-A: b\r\nIf-Match: x", false}, /* the first field of the two */
	    {"If-Match:\r\n x", true},
	    {"Overwrite: F", true},
	    {"overwrite:f", true},
	    {"Overwrite: T", false},
	    {"x-goog-if-generation-match: 0", true},
	    {"X-Goog-If-Metageneration-Match: 1", true},
	    {"x-goog-copy-source-if-match: x", true},
	    {"x-ms-if-sequence-number-le: 1", true},
	    {"x-ms-source-if-none-match: x", true},
	    {"x-ms-blob-condition-appendpos: 4", true},
	    {"x-ms-blob-condition-maxsize: 4", true},
	    {"x-amz-copy-source-if-unmodified-since: x", true},
	    {"x-amz-if-match-size: 4", true},
	    {"x-amz-write-offset-bytes: 4", true},
	    {"x-oss-forbid-overwrite: true", true},
	    {"x-cos-copy-source-If-Match: x", true},
	    {"X-Own-Guard: 1", true},
	    {"x-own-guard:1", true},
	    {"X-Own-Guards: 1", false},
	    {"Iframe: x", false},
	    {"X-Notif: x", false},
	    {"Content-Type: application/gif-x", false},
	    {"Content-MD5: x", false},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct request_field field = only_field(cases[i].entry);

		if (precondition_is_field(&field, &more) != cases[i].is)
			fail_msg("%s", cases[i].entry);
	}
}

static struct span span_of(const char *text)
{
	return (struct span){text, strlen(text)};
}

static void parameters_can_be_preconditions(void **state)
{
	static const struct {
		const char *name, *value;
		bool is;
	} cases[] = {
	    {"ifGenerationMatch", "0", true},
	    {"ifMetagenerationNotMatch", "1", true},
	    {"if_seq_no", "1", true},
	    {"if_primary_term", "1", true},
	    {"cas", "0", true},
	    {"prevExist", "false", true},
	    {"op_type", "create", true},
	    {"op_type", "index", false},
	    {"iframe", "1", false},
	    {"ifconfig", "1", false},
	    {"if", "1", false},
	    {"case", "0", false},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++)
		if (precondition_is_parameter(span_of(cases[i].name), span_of(cases[i].value)) != cases[i].is)
			fail_msg("%s=%s", cases[i].name, cases[i].value);
}

static void fields_can_override_the_verb(void **state)
{
	static const struct {
		const char *entry;
		enum engine_method method;
	} cases[] = {
	    {"X-HTTP-Method-Override: POST", ENGINE_METHOD_OTHER},
	    {"x-http-method-override:post", ENGINE_METHOD_OTHER},
	    {"X_HTTP_METHOD_OVERRIDE: Patch", ENGINE_METHOD_OTHER},
	    {"X-HTTP-Method-Override :\tDELETE ", ENGINE_METHOD_DELETE},
	    {"X-HTTP-Method: MERGE", ENGINE_METHOD_OTHER},
	    {"X-Method-Override: PUT", ENGINE_METHOD_PUT},
	    {"X-Method: DELETE", ENGINE_METHOD_DELETE},
	    {"X-HTTP-Method-Override: FROBNICATE", ENGINE_METHOD_OTHER},
	    {"X-HTTP-Method-Override: \"POST\"", ENGINE_METHOD_OTHER},
	    {"X-HTTP-Method-Override:\r\n POST", ENGINE_METHOD_OTHER},
	    {"X-HTTP-Method-Override: GET", ENGINE_METHOD_GET},
	    {"X-HTTP-Method-Override;", ENGINE_METHOD_OTHER},
	    {"X-HTTP-Method-Override:", ENGINE_METHOD_GET}, /* isn't sent */
	    {"Access-Control-Request-Method: POST", ENGINE_METHOD_GET},
	    {"X-Auth-Method: token", ENGINE_METHOD_GET},
	    {"X-Payment-Method: card", ENGINE_METHOD_GET},
	    {"Accept: POST", ENGINE_METHOD_GET},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct request_field field = only_field(cases[i].entry);

		if (engine_method_of_field(&field) != cases[i].method)
			fail_msg("%s", cases[i].entry);
	}
}

static void parameters_can_override_the_verb(void **state)
{
	static const struct {
		const char *name, *value;
		enum engine_method method;
	} cases[] = {
	    {"_method", "delete", ENGINE_METHOD_DELETE},
	    {"_method", "PATCH", ENGINE_METHOD_OTHER},
	    {"method", "post", ENGINE_METHOD_OTHER},
	    {"_HttpMethod", "PATCH", ENGINE_METHOD_OTHER},
	    {"x-http-method-override", "PUT", ENGINE_METHOD_PUT},
	    {"method", "flickr.photos.search", ENGINE_METHOD_GET},
	    {"_method", "get", ENGINE_METHOD_GET},
	    {"q", "post", ENGINE_METHOD_GET},
	    {"comp", "appendblock", ENGINE_METHOD_OTHER},
	    {"comp", "block", ENGINE_METHOD_GET},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++)
		if (engine_method_of_parameter(span_of(cases[i].name), span_of(cases[i].value)) != cases[i].method)
			fail_msg("%s=%s", cases[i].name, cases[i].value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(fields_are_what_is_sent),
	    cmocka_unit_test(values_can_be_seen),
	    cmocka_unit_test(preconditions_are_known_by_pattern),
	    cmocka_unit_test(parameters_can_be_preconditions),
	    cmocka_unit_test(fields_can_override_the_verb),
	    cmocka_unit_test(parameters_can_override_the_verb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
