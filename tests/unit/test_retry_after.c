/* SPDX-License-Identifier: MIT */

/* What response headers ask for. */

#include "tests/unit/test_engine.h"

#include <stdio.h>
#include <string.h>

#include "engine/retry_after.h"

/* Sunday, 6 November 1994, 08:49:37 UTC, the instant that RFC 9110 §5.6.7 writes in its three forms. */
static const int64_t RFC_EXAMPLE_S = 784111777;

static const char *const default_headers[] = {"Retry-After"};
static const char *const more_headers[] = {"Retry-After", "retry-after-ms", "X-Reset", "-ms"};

static struct policy_rules rules_with(const char *const *headers, size_t count)
{
	struct policy_rules rules = test_rules();

	rules.retry_after_headers = (struct policy_list){headers, count};
	return rules;
}

/* Adds text's lines, each with its line end, to a new demand. */
static struct engine_demand gather(const struct policy_rules *rules, const char *text)
{
	struct engine_demand demand = {0};

	while (*text) {
		const char *newline = strchr(text, '\n');
		size_t bytes = newline ? (size_t)(newline - text) + 1 : strlen(text);

		engine_demand_add_line(&demand, rules, text, bytes);
		text += bytes;
	}
	return demand;
}

static struct engine_retry_after resolve(const char *text, int64_t now_s)
{
	struct policy_rules rules = rules_with(more_headers, countof(more_headers));
	struct engine_demand demand = gather(&rules, text);

	return engine_demand_resolve(&demand, now_s);
}

#define NONE   ENGINE_RETRY_AFTER_NONE
#define WAIT   ENGINE_RETRY_AFTER_WAIT
#define BEYOND ENGINE_RETRY_AFTER_BEYOND

struct value_case {
	const char *value;
	enum engine_retry_after_kind kind;
	int64_t wait_ms;
};

static void check_values(const char *prefix, const struct value_case *cases, size_t count, int64_t now_s)
{
	for (size_t i = 0; i < count; i++) {
		char line[512];
		struct engine_retry_after demand;

		snprintf(line, sizeof line, "%s%s\r\n", prefix, cases[i].value);
		demand = resolve(line, now_s);
		if (demand.kind != cases[i].kind || demand.wait_ms != cases[i].wait_ms)
			fail_msg("\"%s%s\": kind %d, %lld ms; expected kind %d, %lld ms", prefix, cases[i].value,
			         (int)demand.kind, (long long)demand.wait_ms, (int)cases[i].kind,
			         (long long)cases[i].wait_ms);
	}
}

static void seconds(void **state)
{
	static const struct value_case cases[] = {
	    {"1", WAIT, 1000},
	    {"120", WAIT, 120000},
	    {"86400", WAIT, 86400000},
	    {"0120", WAIT, 120000},
	    {"  7 ", WAIT, 7000},
	    {"\t7\t", WAIT, 7000},
	    {"1.5", WAIT, 1500},
	    {"0.503", WAIT, 503},
	    {"0.3", WAIT, 300},
	    {"0.0001", WAIT, 1},
	    {"1.0001", WAIT, 1001},
	    {"1.9999", WAIT, 2000},
	    {"2.000000000000000000000000000001", WAIT, 2001},
	    {"2.000000000000000000000000000000", WAIT, 2000},
	    {"0", NONE, 0},
	    {"0.0", NONE, 0},
	    {"00", NONE, 0},
	    {"-5", NONE, 0},
	    {"-43", NONE, 0},
	    {"-0", NONE, 0},
	    {"+5", NONE, 0},
	    {"", NONE, 0},
	    {" ", NONE, 0},
	    {".5", NONE, 0},
	    {"5.", NONE, 0},
	    {"1.2.3", NONE, 0},
	    {"1e3", NONE, 0},
	    {"0x10", NONE, 0},
	    {"1,5", NONE, 0},
	    {"1_000", NONE, 0},
	    {"NaN", NONE, 0},
	    {"inf", NONE, 0},
	    {"Infinity", NONE, 0},
	    {"120abc", NONE, 0},
	    {"120 seconds", NONE, 0},
	    {"\"120\"", NONE, 0},
	    {"5;q=1", NONE, 0},
	    {"\xd9\xa1", NONE, 0}, /* a digit, but not of HTTP */
	    {"2147483647", WAIT, INT64_C(2147483647000)},
	    {"2147483647.0", WAIT, INT64_C(2147483647000)},
	    {"2147483647.1", BEYOND, 0},
	    {"2147483648", BEYOND, 0},
	    {"99999999999999999999", BEYOND, 0},
	    {"18446744073709551617", BEYOND, 0}, /* 2^64 + 1 */
	    {"99999999999999999999.5", BEYOND, 0},
	    {"99999999999999999999x", NONE, 0},
	    {"00000000000000000000000000000005", WAIT, 5000},
	};

	(void)state;
	check_values("Retry-After:", cases, countof(cases), RFC_EXAMPLE_S);
}

static void milliseconds(void **state)
{
	static const struct value_case cases[] = {
	    {"1500", WAIT, 1500},
	    {"1", WAIT, 1},
	    {"0.1", WAIT, 1},
	    {"1.0", WAIT, 1},
	    {"0", NONE, 0},
	    {"-1", NONE, 0},
	    {"2147483647000", WAIT, INT64_C(2147483647000)},
	    {"2147483647001", BEYOND, 0},
	    {"99999999999999999999", BEYOND, 0},
	    {"Sun, 06 Nov 1994 08:49:40 GMT", NONE, 0},
	};

	(void)state;
	check_values("retry-after-ms: ", cases, countof(cases), RFC_EXAMPLE_S);
}

static void dates_against_the_clock(void **state)
{
	static const struct value_case cases[] = {
	    {"Sun, 06 Nov 1994 08:49:40 GMT", WAIT, 3000},
	    {"Sunday, 06-Nov-94 08:49:40 GMT", WAIT, 3000},
	    {"Sun Nov  6 08:49:40 1994", WAIT, 3000},
	    {"Sun Nov 06 08:49:40 1994", WAIT, 3000},
	    {"sun, 06 nov 1994 08:49:40 gmt", WAIT, 3000},
	    {"Mon, 06 Nov 1994 08:49:40 GMT", WAIT, 3000}, /* it was a Sunday */
	    {"Sun, 06 Nov 1994 08:49:37 GMT", NONE, 0},
	    {"Sun, 06 Nov 1994 08:49:36 GMT", NONE, 0},
	    {"Sun, 06 Nov 1994 23:59:60 GMT", WAIT, 54623000},
	    {"Thu, 01 Jan 1970 00:00:00 GMT", NONE, 0},
	    {"Sat, 01 Jan 0000 00:00:00 GMT", NONE, 0},
	    {"Fri, 31 Dec 9999 23:59:59 GMT", BEYOND, 0},
	    {"Fri, 31 Dec 10000 23:59:59 GMT", BEYOND, 0},
	    {"Fri, 31 Dec 99999999999999999999 23:59:59 GMT", BEYOND, 0},
	    {"Sun, 06 Nov 1994 08:49:40", NONE, 0},
	    {"Sun, 06 Nov 1994 08:49:40 UTC", NONE, 0},
	    {"Sun, 06 Nov 1994 08:49:40 +0000", NONE, 0},
	    {"Sun, 06 Nov 1994 08:49:40 GMT+1", NONE, 0},
	    {"Sun, 6 Nov 1994 08:49:40 GMT", NONE, 0},
	    {"Sun, 06 Nov 94 08:49:40 GMT", NONE, 0},
	    {"Sun, 32 Nov 1994 08:49:40 GMT", NONE, 0},
	    {"Sun, 00 Nov 1994 08:49:40 GMT", NONE, 0},
	    {"Sun, 31 Nov 1994 08:49:40 GMT", NONE, 0},
	    {"Wed, 29 Feb 1995 08:49:40 GMT", NONE, 0},
	    {"Thu, 29 Feb 1996 08:49:37 GMT", WAIT, INT64_C(480) * 86400 * 1000},
	    {"Sun, 06 Nov 1994 24:00:00 GMT", NONE, 0},
	    {"Sun, 06 Nov 1994 08:60:00 GMT", NONE, 0},
	    {"Sun, 06 Nov 1994 08:49:61 GMT", NONE, 0},
	    {"Sun, 06 Nov 1994", NONE, 0},
	    {"Sunday, 06-Nov-1994 08:49:40 GMT", NONE, 0},
	    {"1994-11-06T08:49:40Z", NONE, 0},
	};

	(void)state;
	check_values("Retry-After: ", cases, countof(cases), RFC_EXAMPLE_S);
}

/* RFC 9110 §5.6.7 puts a two-digit year at most 50 years ahead. */
static void two_digit_years(void **state)
{
	static const int64_t now_s = 1796083200; /* Tue, 01 Dec 2026 00:00:00 GMT */
	static const struct value_case cases[] = {
	    {"Tuesday, 01-Dec-26 00:00:10 GMT", WAIT, 10000},
	    {"Tuesday, 01-Dec-76 00:00:00 GMT", WAIT, INT64_C(1577923200) * 1000},
	    {"Tuesday, 03-Dec-76 00:00:00 GMT", NONE, 0}, /* 1976 */
	    {"Tuesday, 01-Dec-99 00:00:00 GMT", NONE, 0},
	    {"Tuesday, 01-Dec-25 00:00:00 GMT", NONE, 0},
	};

	(void)state;
	check_values("Retry-After: ", cases, countof(cases), now_s);
}

/* 2000 was a leap year, 2100 won't be one; and 00 is 2100 once 2050 is past. */
static void turns_of_centuries(void **state)
{
	static const struct {
		const char *line;
		int64_t now_s;
		enum engine_retry_after_kind kind;
		int64_t wait_ms;
	} cases[] = {
	    {"Retry-After: Tue, 29 Feb 2000 00:00:00 GMT", 951782390, WAIT, 10000},
	    {"Retry-After: Tuesday, 29-Feb-00 00:00:00 GMT", 951782390, WAIT, 10000},
	    {"Retry-After: Wednesday, 01-Mar-00 00:00:00 GMT", 951782390, WAIT, 86410000},
	    {"Retry-After: Mon, 29 Feb 2100 00:00:00 GMT", INT64_C(4107542390), NONE, 0},
	    {"Retry-After: Monday, 01-Mar-00 00:00:00 GMT", INT64_C(4107542390), WAIT, 10000},
	    {"Retry-After: Friday, 01-Jan-00 00:00:00 GMT", INT64_C(4102444790), WAIT, 10000},
	    {"Retry-After: Friday, 31-Dec-99 23:59:59 GMT", 946684789, WAIT, 10000},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct engine_retry_after asked = resolve(cases[i].line, cases[i].now_s);

		if (asked.kind != cases[i].kind || asked.wait_ms != cases[i].wait_ms)
			fail_msg("%s: kind %d, %lld ms", cases[i].line, (int)asked.kind, (long long)asked.wait_ms);
	}
}

/* A server whose clock is wrong is wrong in both headers alike. */
static void dates_against_the_responses_own(void **state)
{
	static const char text[] = "HTTP/1.1 503 Service Unavailable\r\n"
	                           "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
	                           "Retry-After: Sun, 06 Nov 1994 08:49:42 GMT\r\n\r\n";
	static const int64_t clocks[] = {0, 1, 784111777, 1796083200, INT64_MAX, INT64_MIN, -1};
	struct policy_rules rules = rules_with(default_headers, 1);
	struct engine_demand demand = gather(&rules, text);

	(void)state;
	assert_false(engine_demand_needs_clock(&demand));
	for (size_t i = 0; i < countof(clocks); i++) {
		struct engine_retry_after asked = engine_demand_resolve(&demand, clocks[i]);

		assert_int_equal(asked.kind, WAIT);
		assert_int_equal(asked.wait_ms, 5000);
	}
}

static void order_of_headers_does_not_matter(void **state)
{
	struct engine_retry_after asked = resolve("Retry-After: Sun, 06 Nov 1994 08:49:42 GMT\r\n"
	                                          "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
	                                          1796083200);

	(void)state;
	assert_int_equal(asked.wait_ms, 5000);
}

static void of_several_values_the_largest_counts(void **state)
{
	static const struct {
		const char *text;
		enum engine_retry_after_kind kind;
		int64_t wait_ms;
	} cases[] = {
	    {"Retry-After: 5, 10\r\n", WAIT, 10000},
	    {"Retry-After: 10, 5\r\n", WAIT, 10000},
	    {"Retry-After: 5,\t10\r\n", WAIT, 10000},
	    {"Retry-After: 5 , 10\r\n", WAIT, 10000},
	    {"Retry-After: 5,\r\n", WAIT, 5000},
	    {"Retry-After: , 5\r\n", WAIT, 5000},
	    {"Retry-After: 5,10\r\n", NONE, 0},
	    {"Retry-After: 5, junk\r\n", WAIT, 5000},
	    {"Retry-After: junk, 5, -7\r\n", WAIT, 5000},
	    {"Retry-After: 5\r\nRetry-After: 10\r\n", WAIT, 10000},
	    {"Retry-After: 10\r\nRetry-After: 5\r\n", WAIT, 10000},
	    {"Retry-After: 10\r\nRetry-After: junk\r\n", WAIT, 10000},
	    {"Retry-After: 10\r\nRetry-After: 0\r\n", WAIT, 10000},
	    {"Retry-After: 2\nretry-after-ms: 1500\n", WAIT, 2000},
	    {"Retry-After: 1\nretry-after-ms: 1500\n", WAIT, 1500},
	    {"Retry-After: 10\r\nRetry-After: 99999999999999999999\r\nRetry-After: 3\r\n", BEYOND, 0},
	    {"Retry-After: 2, Sun, 06 Nov 1994 08:49:40 GMT\r\n", WAIT, 3000},
	    {"Retry-After: Sun, 06 Nov 1994 08:49:40 GMT, 2\r\n", WAIT, 3000},
	    {"Retry-After: Sun, 06 Nov 1994 08:49:40 GMT, 4\r\n", WAIT, 4000},
	    {"Retry-After: Sun, 06 Nov 1994 08:49:40 GMT\r\nRetry-After: Sun Nov  6 08:49:39 1994\r\n", WAIT, 3000},
	    {"Retry-After: Sun, 06 Nov 1994 08:49:40 GMT\r\nRetry-After: Sunday, 06-Nov-94 08:49:41 GMT\r\n", WAIT,
	     4000},
	    {"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 08:49:39 GMT\r\n"
	     "Retry-After: Sun, 06 Nov 1994 08:49:40 GMT\r\n",
	     WAIT, 3000},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct engine_retry_after asked = resolve(cases[i].text, RFC_EXAMPLE_S);

		if (asked.kind != cases[i].kind || asked.wait_ms != cases[i].wait_ms)
			fail_msg("%s: kind %d, %lld ms", cases[i].text, (int)asked.kind, (long long)asked.wait_ms);
	}
}

static void names_are_compared_as_http_does(void **state)
{
	static const struct value_case cases[] = {
	    {"Retry-After: 1", WAIT, 1000},  {"RETRY-AFTER:1", WAIT, 1000},    {"retry-after: 1", WAIT, 1000},
	    {"Retry-After : 1", WAIT, 1000}, {"Retry-After: 1\r", WAIT, 1000}, {"x-reset: 1", WAIT, 1000},
	    {"Retry-Afte: 1", NONE, 0},      {"Retry-After-: 1", NONE, 0},     {"XRetry-After: 1", NONE, 0},
	    {" Retry-After: 1", NONE, 0},    {"Retry-After 1", NONE, 0},       {": 1", NONE, 0},
	    {"X: Retry-After: 1", NONE, 0},  {"HTTP/1.1 503 Busy", NONE, 0},   {"", NONE, 0},
	    {"-ms: 1", WAIT, 1000},
	};

	(void)state;
	check_values("", cases, countof(cases), RFC_EXAMPLE_S);
}

static void only_the_policys_headers_count(void **state)
{
	struct policy_rules rules = rules_with(default_headers, 1);
	struct engine_demand demand = gather(&rules, "retry-after-ms: 1500\r\nX-Reset: 5\r\n");

	(void)state;
	assert_int_equal(engine_demand_resolve(&demand, RFC_EXAMPLE_S).kind, NONE);
	rules = rules_with(NULL, 0);
	demand = gather(&rules, "Retry-After: 5\r\n");
	assert_int_equal(engine_demand_resolve(&demand, RFC_EXAMPLE_S).kind, NONE);
}

/* A line is bytes with a length: what lies behind them must not be read (the address sanitizer watches). */
static void lines_need_no_terminator(void **state)
{
	static const char line[] = "Retry-After: 12";
	struct policy_rules rules = rules_with(default_headers, 1);

	(void)state;
	for (size_t bytes = 0; bytes < sizeof line; bytes++) {
		struct engine_demand demand = {0};
		char *copy = test_malloc(bytes + 1);

		memcpy(copy + 1, line, bytes);
		engine_demand_add_line(&demand, &rules, copy + 1, bytes);
		assert_int_equal(engine_demand_resolve(&demand, 0).wait_ms, bytes < 14    ? 0
		                                                            : bytes == 14 ? 1000
		                                                                          : 12000);
		test_free(copy);
	}
}

static void nul_bytes_are_no_white_space(void **state)
{
	static const char line[] = "Retry-After: 12\0";
	struct policy_rules rules = rules_with(default_headers, 1);
	struct engine_demand demand = {0};

	(void)state;
	engine_demand_add_line(&demand, &rules, line, sizeof line);
	assert_int_equal(engine_demand_resolve(&demand, 0).kind, NONE);
}

static void clock_is_needed_for_a_lone_date(void **state)
{
	static const struct {
		const char *text;
		bool needed;
	} cases[] = {
	    {"", false},
	    {"Retry-After: 5\r\n", false},
	    {"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", false},
	    {"Retry-After: Sun, 06 Nov 1994 08:49:40 GMT\r\n", true},
	    {"Retry-After: Sunday, 06-Nov-94 08:49:40 GMT\r\n", true},
	    {"Retry-After: Sun, 06 Nov 1994 08:49:40 GMT\r\nDate: junk\r\n", true},
	    {"Retry-After: Sun, 06 Nov 1994 08:49:40 GMT\r\nDate:\r\n", true},
	    {"Retry-After: Sun, 06 Nov 1994 08:49:40 GMT\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n", false},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = rules_with(default_headers, 1);
		struct engine_demand demand = gather(&rules, cases[i].text);

		assert_int_equal(engine_demand_needs_clock(&demand), cases[i].needed);
	}
}

static void stop_hints(void **state)
{
	static const struct {
		const char *line;
		bool stop;
	} cases[] = {
	    {"x-should-retry: false", true},        {"X-Should-Retry: FALSE", true},
	    {"x-should-retry:false ", true},        {"x-should-retry: true", false},
	    {"x-should-retry: 0", false},           {"x-should-retry:", false},
	    {"Stripe-Should-Retry: false", true},   {"Stripe-Should-Retry: true", false},
	    {"x-envoy-overloaded: true", true},     {"x-envoy-overloaded:", true},
	    {"x-envoy-overloaded: 1", true},        {"x-envoy-overloaded: false", false},
	    {"X-Envoy-RateLimited: true", true},    {"x-envoy-ratelimited: False", false},
	    {"grpc-retry-pushback-ms: -1", true},   {"grpc-retry-pushback-ms: nonsense", true},
	    {"grpc-retry-pushback-ms:", true},      {"grpc-retry-pushback-ms: 0", false},
	    {"grpc-retry-pushback-ms: 250", false}, {"x-should-retry-not: false", false},
	    {"Retry-After: false", false},          {"x-should-retry", false},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = rules_with(default_headers, 1);
		struct engine_demand demand = gather(&rules, cases[i].line);

		if (demand.stop_hint != cases[i].stop)
			fail_msg("%s: %d", cases[i].line, (int)demand.stop_hint);
	}
}

static void stop_hint_is_not_taken_back(void **state)
{
	struct policy_rules rules = rules_with(default_headers, 1);
	struct engine_demand demand = gather(&rules, "x-should-retry: false\r\nx-should-retry: true\r\n");

	(void)state;
	assert_true(demand.stop_hint);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(seconds),
	    cmocka_unit_test(milliseconds),
	    cmocka_unit_test(dates_against_the_clock),
	    cmocka_unit_test(two_digit_years),
	    cmocka_unit_test(turns_of_centuries),
	    cmocka_unit_test(dates_against_the_responses_own),
	    cmocka_unit_test(order_of_headers_does_not_matter),
	    cmocka_unit_test(of_several_values_the_largest_counts),
	    cmocka_unit_test(names_are_compared_as_http_does),
	    cmocka_unit_test(only_the_policys_headers_count),
	    cmocka_unit_test(lines_need_no_terminator),
	    cmocka_unit_test(nul_bytes_are_no_white_space),
	    cmocka_unit_test(clock_is_needed_for_a_lone_date),
	    cmocka_unit_test(stop_hints),
	    cmocka_unit_test(stop_hint_is_not_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
