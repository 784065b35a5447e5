/* SPDX-License-Identifier: MIT */

/*
 * Ten thousand random Retry-After headers, none of which may be shortened.
 *
 * The oracle never parses: it first decides what the server wants, in microseconds, and then writes a header that says
 * so, with the C library's calendar for the dates. What the parser makes of the header, and what the engine then waits,
 * is compared with the decision. The seed is fixed and printed, so a failure can be repeated.
 */

#include "tests/unit/test_engine.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 10000, SEED = 20261130 };

static const int64_t NO_DEMAND = 0;
static const int64_t FAR = INT64_MAX; /* more than anybody waits */

/* xorshift64*, https://en.wikipedia.org/wiki/Xorshift; the same numbers everywhere. */
static uint64_t next_random(uint64_t *random)
{
	*random ^= *random >> 12;
	*random ^= *random << 25;
	*random ^= *random >> 27;
	return *random * UINT64_C(2685821657736338717);
}

static int64_t below(uint64_t *random, int64_t bound)
{
	return (int64_t)(next_random(random) % (uint64_t)bound);
}

static int64_t between(uint64_t *random, int64_t least, int64_t most)
{
	return least + below(random, most - least + 1);
}

/* A response: its header lines, what they ask for (microseconds), and the clock of the client that reads them. */
struct response {
	char lines[2][200];
	int64_t asked_us;
	int64_t now_s;
};

/* A delay whose digits are spread over all magnitudes, in seconds. */
static int64_t random_delay_s(uint64_t *random)
{
	static const int64_t magnitudes[] = {3, 60, 3600, 86400, 100000000};

	return below(random, magnitudes[below(random, 5)]);
}

static void ask_in_seconds(struct response *response, uint64_t *random)
{
	int64_t seconds = random_delay_s(random);

	snprintf(response->lines[0], sizeof response->lines[0], "%s:%s%s%lld%s",
	         below(random, 2) ? "Retry-After" : "retry-AFTER", below(random, 2) ? " " : "",
	         below(random, 8) ? "" : "000", (long long)seconds, below(random, 4) ? "\r\n" : " \n");
	response->asked_us = seconds * 1000000;
}

static void ask_in_fractions(struct response *response, uint64_t *random)
{
	int64_t seconds = random_delay_s(random);
	int64_t us = below(random, 1000000);

	snprintf(response->lines[0], sizeof response->lines[0], "Retry-After: %lld.%06lld%s\r\n", (long long)seconds,
	         (long long)us, below(random, 2) ? "" : "000");
	response->asked_us = seconds * 1000000 + us;
}

static void ask_in_milliseconds(struct response *response, uint64_t *random)
{
	int64_t ms = random_delay_s(random) * 1000 + below(random, 1000);

	snprintf(response->lines[0], sizeof response->lines[0], "Retry-After-Ms: %lld\r\n", (long long)ms);
	response->asked_us = ms * 1000;
}

static void write_date(char *out, size_t out_bytes, const char *name, int64_t when_s, uint64_t *random)
{
	time_t when = (time_t)when_s;
	struct tm calendar;
	char date[100];

	gmtime_r(&when, &calendar);
	switch (below(random, 3)) {
	case 0:
		strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &calendar);
		break;
	case 1:
		/* In two pieces: compilers warn of strftime()'s two-digit year. */
		strftime(date, sizeof date, "%A, %d-%b-", &calendar);
		snprintf(date + strlen(date), 20, "%02d ", calendar.tm_year % 100);
		strftime(date + strlen(date), 20, "%H:%M:%S GMT", &calendar);
		break;
	default:
		strftime(date, sizeof date, "%a %b %e %H:%M:%S %Y", &calendar);
		break;
	}
	snprintf(out, out_bytes, "%s: %s\r\n", name, date);
}

/* A date against the response's own Date, which may be off the client's clock by up to three days, or against that. */
static void ask_by_date(struct response *response, uint64_t *random)
{
	bool has_date = below(random, 3) != 0;
	int64_t skew_s = has_date ? between(random, -259200, 259200) : 0;
	int64_t servers_now_s = response->now_s + skew_s;
	int64_t delay_s = between(random, -100000, 100000);

	if (below(random, 2))
		delay_s = between(random, -3, 60);
	write_date(response->lines[0], sizeof response->lines[0], "Retry-After", servers_now_s + delay_s, random);
	if (has_date)
		write_date(response->lines[1], sizeof response->lines[1], "date", servers_now_s, random);
	response->asked_us = delay_s > 0 ? delay_s * 1000000 : NO_DEMAND;
}

/* Junk from an alphabet that can't spell a demand: it lacks every digit, but has all that surrounds them. */
static void ask_in_junk(struct response *response, uint64_t *random)
{
	static const char alphabet[] = "abexNaNinfSunGMT,.:;+-\"'\t \x01\x80\xff";
	char junk[40];
	int64_t bytes = below(random, (int64_t)sizeof junk);

	for (int64_t i = 0; i < bytes; i++)
		junk[i] = alphabet[below(random, (int64_t)sizeof alphabet - 1)];
	junk[bytes] = '\0';
	snprintf(response->lines[0], sizeof response->lines[0], "Retry-After: %s\r\n", junk);
	response->asked_us = NO_DEMAND;
}

static void ask_for_ages(struct response *response, uint64_t *random)
{
	char digits[60];
	int64_t count = between(random, 11, (int64_t)sizeof digits - 1);

	for (int64_t i = 0; i < count; i++)
		digits[i] = (char)('0' + between(random, i == 0, 9));
	digits[count] = '\0';
	snprintf(response->lines[0], sizeof response->lines[0], "Retry-After: %s\r\n", digits);
	response->asked_us = FAR;
}

static void (*const kinds[])(struct response *response, uint64_t *random) = {
    ask_in_seconds, ask_in_fractions, ask_in_milliseconds, ask_by_date, ask_by_date, ask_in_junk, ask_for_ages,
};

static struct engine_retry_after parse(const struct response *response, const struct policy_rules *rules,
                                       bool date_first)
{
	struct engine_demand demand = {0};

	for (int i = 0; i < 2; i++) {
		const char *line = response->lines[date_first ? 1 - i : i];

		engine_demand_add_line(&demand, rules, line, strlen(line));
	}
	return engine_demand_resolve(&demand, response->now_s);
}

/* A demand is met in full and, rounding to a millisecond apart, not exceeded. */
static void check_parsed(const struct response *response, struct engine_retry_after parsed)
{
	bool right;

	if (response->asked_us == NO_DEMAND)
		right = parsed.kind == ENGINE_RETRY_AFTER_NONE;
	else if (response->asked_us == FAR)
		right = parsed.kind == ENGINE_RETRY_AFTER_BEYOND;
	else
		right = parsed.kind == ENGINE_RETRY_AFTER_WAIT && parsed.wait_ms * 1000 >= response->asked_us &&
		        parsed.wait_ms * 1000 < response->asked_us + 1000;
	if (!right)
		fail_msg("seed %d: %s%s at %lld: kind %d, %lld ms", SEED, response->lines[0], response->lines[1],
		         (long long)response->now_s, (int)parsed.kind, (long long)parsed.wait_ms);
}

/* Whatever the dice, the deadline and the jitter: a retry that is made is made no earlier than asked. */
static void check_waited(const struct response *response, struct engine_retry_after parsed, struct policy_rules *rules,
                         uint64_t *random)
{
	struct test_ports test_ports = {.draw = (double)below(random, 1001) / 1000, .tokens = true};
	struct engine_ports ports = test_engine_ports(&test_ports);
	struct engine_request request = test_request(ENGINE_METHOD_GET);
	struct engine_outcome outcome = test_status(503);
	struct engine_operation operation;
	struct engine_plan plan;
	struct engine_verdict verdict;

	rules->retry_after_max_ms = 0;
	rules->retry_max_time_ms = below(random, 3) ? between(random, 1, 200000) : 0;
	rules->deadline_ms = below(random, 3) ? between(random, 100, 200000) : 0;
	rules->retry_after_jitter_pct = below(random, 101);
	outcome.retry_after = parsed;
	engine_begin(&operation, rules, &request, 0);
	assert_true(engine_plan(&operation, 0, &plan));
	verdict = engine_judge(&operation, &outcome, between(random, 0, 99), &ports);
	if (verdict.action != ENGINE_RETRY)
		return;
	assert_true(response->asked_us != FAR);
	assert_true(verdict.wait_ms * 1000 >= response->asked_us);
}

static void none_is_shortened(void **state)
{
	static const char *const headers[] = {"Retry-After", "retry-after-ms"};
	uint64_t random = SEED;
	int retries_with_demand = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct policy_rules rules = test_rules();
		struct response response = {.now_s = between(&random, 1000000000, 2500000000)};
		struct engine_retry_after parsed;

		rules.retry_after_headers = (struct policy_list){headers, countof(headers)};
		kinds[below(&random, (int64_t)countof(kinds))](&response, &random);
		parsed = parse(&response, &rules, below(&random, 2) != 0);
		check_parsed(&response, parsed);
		check_waited(&response, parsed, &rules, &random);
		retries_with_demand += parsed.kind == ENGINE_RETRY_AFTER_WAIT;
	}
	/* The generator really makes demands. */
	assert_true(retries_with_demand > ROUNDS / 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(none_is_shortened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
