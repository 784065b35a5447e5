/* SPDX-License-Identifier: MIT */

/* The circuit breaker as functions of its words: what opens it, what closes it, whom it lets through. */

#include "tests/unit/test_engine.h"

#include "engine/breaker.h"

enum { START_MS = 1000000, OUTAGE_MS = 30000, OPEN_MS = 5000, MEMORY_MS = 60000 };

/* A breaker with its owner, who does what engine/breaker.h says. */
struct owner {
	struct policy_rules rules;
	uint64_t state;
	uint64_t halves[2];
	int opened;
};

static struct owner owner_with(enum policy_breaker_action action)
{
	struct owner owner = {.rules = test_rules()};

	owner.rules.breaker_action = action;
	return owner;
}

static void note(struct owner *owner, enum breaker_result result, int64_t began_ms, int64_t ended_ms)
{
	struct breaker_attempt attempt = {.result = result, .began_ms = began_ms, .ended_ms = ended_ms};
	uint64_t before = owner->state;

	if (breaker_counts_rate(&owner->rules)) {
		uint64_t *half = &owner->halves[breaker_half_of(&owner->rules, ended_ms)];

		*half = breaker_count(*half, &owner->rules, result, ended_ms);
		attempt.rate_exceeded = breaker_exceeds_rate(owner->halves, &owner->rules, ended_ms);
	}
	owner->state = breaker_note(before, &owner->rules, &attempt);
	owner->opened += breaker_opens(before, owner->state);
	if (breaker_closes(before, owner->state))
		owner->halves[0] = owner->halves[1] = 0;
}

/* An attempt of no length. */
static void note_at(struct owner *owner, enum breaker_result result, int64_t now_ms)
{
	note(owner, result, now_ms, now_ms);
}

static enum breaker_view look(const struct owner *owner, int64_t now_ms)
{
	return breaker_look(owner->state, &owner->rules, now_ms);
}

static bool admit(struct owner *owner, int64_t now_ms)
{
	bool admitted;

	owner->state = breaker_admit(owner->state, &owner->rules, now_ms, &admitted);
	return admitted;
}

/* Opens it at the returned instant. */
static int64_t open_it(struct owner *owner)
{
	for (int failure = 0; failure < 5; failure++)
		note_at(owner, BREAKER_FAILED, START_MS + failure * OUTAGE_MS / 4);
	assert_int_equal(look(owner, START_MS + OUTAGE_MS), BREAKER_OPEN);
	return START_MS + OUTAGE_MS;
}

static void what_an_outcome_says_of_the_origin(void **state)
{
	static const struct {
		struct engine_outcome outcome;
		enum breaker_result result;
	} cases[] = {
	    {{.status = 200, .header_block_complete = true}, BREAKER_ANSWERED},
	    {{.status = 302, .header_block_complete = true}, BREAKER_ANSWERED},
	    {{.status = 404, .header_block_complete = true}, BREAKER_ANSWERED},
	    {{.status = 408, .header_block_complete = true}, BREAKER_ANSWERED},
	    {{.status = 429, .header_block_complete = true}, BREAKER_ANSWERED},
	    {{.status = 404, .curl_code = 22}, BREAKER_ANSWERED},
	    {{.status = 500, .header_block_complete = true}, BREAKER_FAILED},
	    {{.status = 503, .header_block_complete = true}, BREAKER_FAILED},
	    {{.status = 503, .curl_code = 22}, BREAKER_FAILED},
	    {{.curl_code = 7}, BREAKER_FAILED},
	    {{.curl_code = 35}, BREAKER_FAILED},
	    {{.curl_code = 52}, BREAKER_FAILED},
	    {{.curl_code = 55}, BREAKER_FAILED},
	    {{.curl_code = 56}, BREAKER_FAILED},
	    {{.curl_code = 92}, BREAKER_FAILED},
	    {{.curl_code = 18, .status = 200}, BREAKER_FAILED},
	    {{.curl_code = 28}, BREAKER_FAILED},
	    {{.curl_code = 28, .status = 503}, BREAKER_FAILED},
	    {{.curl_code = 28, .status = 200}, BREAKER_ANSWERED},
	    {{.curl_code = 6}, BREAKER_SAYS_NOTHING},
	    {{.curl_code = 5}, BREAKER_SAYS_NOTHING},
	    {{.curl_code = 23}, BREAKER_SAYS_NOTHING},
	    {{.curl_code = 42}, BREAKER_SAYS_NOTHING},
	    {{.curl_code = 60}, BREAKER_SAYS_NOTHING},
	    {{.curl_code = 27}, BREAKER_SAYS_NOTHING},
	    {{.cancelled = true, .status = 503}, BREAKER_SAYS_NOTHING},
	    {{.curl_code = 56, .connect_status = 503}, BREAKER_SAYS_NOTHING},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++)
		if (breaker_result_of(&cases[i].outcome) != cases[i].result)
			fail_msg("code %d, status %d", cases[i].outcome.curl_code, cases[i].outcome.status);
}

static void opens_after_a_row_that_spans_the_outage(void **state)
{
	static const struct {
		int64_t failures, outage_ms, gap_ms;
		int expected; /* which failure opens it; 0: none of 40 */
	} cases[] = {
	    {5, 30000, 7500, 5}, {5, 30000, 10000, 5},  {5, 30000, 5000, 7}, {5, 30000, 1000, 31},
	    {5, 0, 0, 5},        {1, 0, 0, 1},          {3, 0, 1000, 3},     {1, 30000, 30000, 2},
	    {5, 30000, 700, 0},  {5, 30000, 100000, 0}, {2, 0, 20000, 0},    {40, 10, 1, 40},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct owner owner = owner_with(POLICY_BREAKER_NO_RETRY);
		int opening = 0;

		owner.rules.breaker_failures = cases[i].failures;
		owner.rules.breaker_outage_ms = cases[i].outage_ms;
		for (int failure = 1; failure <= 40 && opening == 0; failure++) {
			int64_t now_ms = START_MS + (failure - 1) * cases[i].gap_ms;

			note_at(&owner, BREAKER_FAILED, now_ms);
			if (look(&owner, now_ms) != BREAKER_CLOSED)
				opening = failure;
		}
		assert_int_equal(opening, cases[i].expected);
		assert_int_equal(owner.opened, opening != 0);
	}
}

static void an_answer_ends_the_row(void **state)
{
	struct owner owner = owner_with(POLICY_BREAKER_NO_RETRY);

	(void)state;
	for (int i = 0; i < 1000; i++) {
		note_at(&owner, i % 5 == 4 ? BREAKER_ANSWERED : BREAKER_FAILED, START_MS + i * 10000);
		assert_int_equal(look(&owner, START_MS + i * 10000), BREAKER_CLOSED);
	}
	note_at(&owner, BREAKER_ANSWERED, START_MS + 10000000);
	assert_int_equal(owner.state, 0);
}

/* What a job learned last night says nothing of this night's first failure. */
static void an_old_row_is_given_up(void **state)
{
	struct owner owner = owner_with(POLICY_BREAKER_NO_RETRY);
	int64_t night_ms = START_MS + 86400000;

	(void)state;
	for (int failure = 0; failure < 4; failure++)
		note_at(&owner, BREAKER_FAILED, START_MS + failure * 1000);
	for (int failure = 0; failure < 4; failure++) {
		note_at(&owner, BREAKER_FAILED, night_ms + failure * 1000);
		assert_int_equal(look(&owner, night_ms + failure * 1000), BREAKER_CLOSED);
	}
	owner.state = 0;
	open_it(&owner);
	assert_int_equal(look(&owner, START_MS + OUTAGE_MS + OPEN_MS + MEMORY_MS), BREAKER_PROBE);
	assert_int_equal(look(&owner, START_MS + OUTAGE_MS + OPEN_MS + MEMORY_MS + 1), BREAKER_CLOSED);
	note_at(&owner, BREAKER_FAILED, night_ms);
	assert_int_equal(look(&owner, night_ms), BREAKER_CLOSED);
}

/* A success of a breaker that has seen no failure must not cost a write. */
static void untouched_words_stay(void **state)
{
	static const enum breaker_result neutral[] = {BREAKER_ANSWERED, BREAKER_SAYS_NOTHING};
	struct owner owner = owner_with(POLICY_BREAKER_NO_RETRY);

	(void)state;
	for (size_t i = 0; i < countof(neutral); i++) {
		note_at(&owner, neutral[i], START_MS);
		assert_int_equal(owner.state, 0);
		assert_int_equal(owner.halves[0] | owner.halves[1], 0);
	}
	note_at(&owner, BREAKER_FAILED, START_MS);
	for (uint64_t before = owner.state, i = 0; i < 10; i++) {
		note_at(&owner, BREAKER_SAYS_NOTHING, START_MS + 100);
		assert_int_equal(owner.state, before);
	}
}

static void off_is_off(void **state)
{
	struct owner owner = owner_with(POLICY_BREAKER_FAIL_FAST);

	(void)state;
	owner.rules.breaker = POLICY_BREAKER_OFF;
	owner.rules.breaker_failure_pct = 1;
	owner.rules.breaker_outage_ms = 0;
	for (int failure = 0; failure < 100; failure++)
		note_at(&owner, BREAKER_FAILED, START_MS);
	assert_int_equal(owner.state | owner.halves[0] | owner.halves[1], 0);
	assert_true(admit(&owner, START_MS));
	owner.rules = owner_with(POLICY_BREAKER_FAIL_FAST).rules;
	open_it(&owner);
	owner.rules.breaker = POLICY_BREAKER_OFF;
	assert_int_equal(look(&owner, START_MS + OUTAGE_MS), BREAKER_CLOSED);
	assert_true(admit(&owner, START_MS + OUTAGE_MS));
}

/* no-retry: every operation goes on making its attempt, and the first answer is the end of the outage. */
static void no_retry_closes_at_the_first_answer(void **state)
{
	struct owner owner = owner_with(POLICY_BREAKER_NO_RETRY);
	int64_t now_ms = open_it(&owner);

	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_true(admit(&owner, now_ms + i));
		note_at(&owner, BREAKER_FAILED, now_ms + i);
		assert_int_equal(look(&owner, now_ms + i), BREAKER_OPEN);
	}
	note_at(&owner, BREAKER_SAYS_NOTHING, now_ms + 30);
	assert_int_equal(look(&owner, now_ms + 30), BREAKER_OPEN);
	note_at(&owner, BREAKER_ANSWERED, now_ms + 40);
	assert_int_equal(look(&owner, now_ms + 40), BREAKER_CLOSED);
	assert_int_equal(owner.state, 0);
}

/* A job that calls a dead origin for an hour learns it once. */
static void no_retry_stays_open_as_long_as_nothing_answers(void **state)
{
	struct owner owner = owner_with(POLICY_BREAKER_NO_RETRY);
	int64_t opened_ms = open_it(&owner);

	(void)state;
	for (int64_t now_ms = opened_ms; now_ms < opened_ms + 3600000; now_ms += 1700) {
		note(&owner, BREAKER_FAILED, now_ms - 20, now_ms);
		assert_true(look(&owner, now_ms) != BREAKER_CLOSED);
	}
	assert_int_equal(owner.opened, 1);
}

static void fail_fast_admits_one_probe_in_a_round(void **state)
{
	struct owner owner = owner_with(POLICY_BREAKER_FAIL_FAST);
	int64_t opened_ms = open_it(&owner);

	(void)state;
	for (int round = 0; round < 10; round++) {
		int admitted = 0;

		for (int64_t ms = 0; ms < OPEN_MS; ms += 10)
			admitted += admit(&owner, opened_ms + round * OPEN_MS + ms);
		assert_int_equal(admitted, round > 0);
	}
}

static void fail_fast_admits_breaker_probes(void **state)
{
	struct owner owner = owner_with(POLICY_BREAKER_FAIL_FAST);
	int64_t probe_ms = open_it(&owner) + OPEN_MS;
	int admitted = 0;

	(void)state;
	owner.rules.breaker_probes = 3;
	assert_false(admit(&owner, probe_ms - 1));
	for (int caller = 0; caller < 8; caller++)
		admitted += admit(&owner, probe_ms + caller);
	assert_int_equal(admitted, 3);
}

static void a_probe_decides(void **state)
{
	static const struct {
		enum breaker_result result;
		enum breaker_view view;
		bool next_is_admitted;
	} cases[] = {
	    {BREAKER_ANSWERED, BREAKER_CLOSED, true},
	    {BREAKER_FAILED, BREAKER_OPEN, false},
	    {BREAKER_SAYS_NOTHING, BREAKER_PROBE, true},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct owner owner = owner_with(POLICY_BREAKER_FAIL_FAST);
		int64_t probe_ms = open_it(&owner) + OPEN_MS;

		assert_true(admit(&owner, probe_ms));
		assert_int_equal(look(&owner, probe_ms), BREAKER_PROBE);
		note(&owner, cases[i].result, probe_ms, probe_ms + 100);
		assert_int_equal(look(&owner, probe_ms + 100), cases[i].view);
		assert_int_equal(admit(&owner, probe_ms + 101), cases[i].next_is_admitted);
		assert_int_equal(owner.opened, 1);
	}
}

/* The prober was killed, or left by longjmp: nobody ever reports. */
static void a_lost_probe_is_replaced(void **state)
{
	struct owner owner = owner_with(POLICY_BREAKER_FAIL_FAST);
	int64_t probe_ms = open_it(&owner) + OPEN_MS;

	(void)state;
	assert_true(admit(&owner, probe_ms));
	assert_false(admit(&owner, probe_ms + OPEN_MS - 1));
	assert_true(admit(&owner, probe_ms + OPEN_MS));
	note(&owner, BREAKER_ANSWERED, probe_ms + OPEN_MS, probe_ms + OPEN_MS + 10);
	assert_int_equal(look(&owner, probe_ms + OPEN_MS + 10), BREAKER_CLOSED);
}

/* A probe that takes longer than a round is heard all the same. */
static void a_slow_probe_closes_it(void **state)
{
	struct owner owner = owner_with(POLICY_BREAKER_FAIL_FAST);
	int64_t probe_ms = open_it(&owner) + OPEN_MS;

	(void)state;
	assert_true(admit(&owner, probe_ms));
	assert_true(admit(&owner, probe_ms + OPEN_MS));
	note(&owner, BREAKER_ANSWERED, probe_ms, probe_ms + OPEN_MS + 2000);
	assert_int_equal(look(&owner, probe_ms + OPEN_MS + 2000), BREAKER_CLOSED);
}

/* What began before it opened neither closes it nor keeps it open. */
static void late_results_decide_nothing(void **state)
{
	struct owner owner = owner_with(POLICY_BREAKER_FAIL_FAST);
	int64_t opened_ms = open_it(&owner);

	(void)state;
	note(&owner, BREAKER_ANSWERED, opened_ms - 100, opened_ms + 100);
	assert_int_equal(look(&owner, opened_ms + 100), BREAKER_OPEN);
	note(&owner, BREAKER_FAILED, opened_ms - 100, opened_ms + OPEN_MS - 1);
	note(&owner, BREAKER_FAILED, opened_ms - 100000, opened_ms + OPEN_MS - 1);
	note(&owner, BREAKER_ANSWERED, opened_ms - 100000, opened_ms + OPEN_MS - 1);
	assert_int_equal(look(&owner, opened_ms + OPEN_MS), BREAKER_PROBE);
	assert_true(admit(&owner, opened_ms + OPEN_MS));
	note(&owner, BREAKER_FAILED, opened_ms - 100, opened_ms + OPEN_MS + 1);
	note(&owner, BREAKER_SAYS_NOTHING, opened_ms - 100, opened_ms + OPEN_MS + 1);
	assert_int_equal(look(&owner, opened_ms + OPEN_MS + 1), BREAKER_PROBE);
	assert_false(admit(&owner, opened_ms + OPEN_MS + 2));
}

static void opens_at_a_failure_rate(void **state)
{
	static const struct {
		int64_t pct, attempts;
		int failures_of_ten;
		bool opens;
	} cases[] = {
	    {50, 20, 5, true},   {50, 20, 4, false}, {50, 100, 4, false},  {30, 20, 3, true},   {100, 20, 9, false},
	    {100, 20, 10, true}, {1, 20, 1, true},   {50, 5000, 4, false}, {50, 5000, 5, true}, {50, 100000, 9, true},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct owner owner = owner_with(POLICY_BREAKER_NO_RETRY);

		owner.rules.breaker_failure_pct = cases[i].pct;
		owner.rules.breaker_min_attempts = cases[i].attempts < 100 ? 20 : 100;
		/* The failures of ten come last, so that no part of them has a higher rate than the whole. */
		for (int64_t attempt = 0; attempt < cases[i].attempts; attempt++) {
			bool fails = attempt % 10 >= 10 - cases[i].failures_of_ten;

			note_at(&owner, fails ? BREAKER_FAILED : BREAKER_ANSWERED,
			        START_MS + attempt * 100 / cases[i].attempts);
			if (attempt + 1 < owner.rules.breaker_min_attempts)
				assert_int_equal(owner.opened, 0);
		}
		assert_int_equal(owner.opened > 0, cases[i].opens);
	}
}

static void a_rate_is_of_its_window(void **state)
{
	struct owner owner = owner_with(POLICY_BREAKER_NO_RETRY);

	(void)state;
	owner.rules.breaker_failure_pct = 50;
	for (int attempt = 0; attempt < 19; attempt++)
		note_at(&owner, BREAKER_FAILED, START_MS);
	for (int attempt = 0; attempt < 19; attempt++)
		note_at(&owner, BREAKER_FAILED, START_MS + 10000);
	assert_int_equal(owner.opened, 0);
	/* The half before counts, too; the one before that doesn't. */
	note_at(&owner, BREAKER_FAILED, START_MS + 22000);
	assert_int_equal(owner.opened, 0);
	for (int attempt = 0; attempt < 18; attempt++)
		note_at(&owner, BREAKER_FAILED, START_MS + 23000);
	assert_int_equal(owner.opened, 0);
	note_at(&owner, BREAKER_FAILED, START_MS + 26000);
	assert_int_equal(owner.opened, 1);
}

/* One answer says little about a rate, and what was counted before it closed must not open it again. */
static void a_rate_breaker_closes_after_its_time(void **state)
{
	struct owner owner = owner_with(POLICY_BREAKER_NO_RETRY);

	(void)state;
	owner.rules.breaker_failure_pct = 50;
	for (int attempt = 0; attempt < 20; attempt++)
		note_at(&owner, BREAKER_FAILED, START_MS);
	note_at(&owner, BREAKER_ANSWERED, START_MS + 1);
	assert_int_equal(look(&owner, START_MS + 1), BREAKER_OPEN);
	note_at(&owner, BREAKER_ANSWERED, START_MS + OPEN_MS);
	assert_int_equal(look(&owner, START_MS + OPEN_MS), BREAKER_CLOSED);
	note_at(&owner, BREAKER_FAILED, START_MS + OPEN_MS + 1);
	assert_int_equal(look(&owner, START_MS + OPEN_MS + 1), BREAKER_CLOSED);
}

/* Every hundredth of a thousand attempts a second fails, for an hour: with no setting does that open it. */
static void one_percent_never_opens_it(void **state)
{
	static const int64_t outages_ms[] = {0, 30000};

	(void)state;
	for (size_t i = 0; i < countof(outages_ms); i++) {
		struct owner owner = owner_with(POLICY_BREAKER_FAIL_FAST);
		uint64_t dice = 88172645463325252;

		owner.rules.breaker_outage_ms = outages_ms[i];
		owner.rules.breaker_failure_pct = 10;
		owner.rules.breaker_min_attempts = 100;
		for (int64_t ms = 0; ms < 3600000; ms++) {
			dice ^= dice << 13;
			dice ^= dice >> 7;
			dice ^= dice << 17;
			note(&owner, dice % 100 == 0 ? BREAKER_FAILED : BREAKER_ANSWERED, START_MS + ms - 40,
			     START_MS + ms);
		}
		assert_int_equal(owner.opened, 0);
	}
}

/* Twenty workers, four attempts each, and nothing answers for 3 s: those who wait longer must get their retry. */
static void a_short_outage_never_opens_it(void **state)
{
	struct owner owner = owner_with(POLICY_BREAKER_NO_RETRY);

	(void)state;
	for (int64_t ms = 0; ms < 3000; ms += 10) {
		note_at(&owner, BREAKER_FAILED, START_MS + ms);
		assert_int_equal(look(&owner, START_MS + ms), BREAKER_CLOSED);
	}
}

/* Whatever a word holds, and however the clocks of two threads differ, the answer is one of the three. */
static void any_word_means_something(void **state)
{
	uint64_t dice = 1;

	(void)state;
	for (int i = 0; i < 1000000; i++) {
		struct owner owner = owner_with(i % 2 ? POLICY_BREAKER_FAIL_FAST : POLICY_BREAKER_NO_RETRY);
		int64_t now_ms = START_MS + i % 1000;
		bool admitted;

		dice ^= dice << 13;
		dice ^= dice >> 7;
		dice ^= dice << 17;
		owner.state = dice;
		owner.halves[0] = dice * 3;
		owner.halves[1] = dice * 5;
		owner.rules.breaker_failure_pct = i % 3 ? 50 : 0;
		assert_in_range(look(&owner, now_ms), BREAKER_CLOSED, BREAKER_PROBE);
		admitted = admit(&owner, now_ms);
		note(&owner, (enum breaker_result)(i % 3), now_ms - 100, now_ms);
		assert_in_range(look(&owner, now_ms + 1), BREAKER_CLOSED, BREAKER_PROBE);
		assert_true(admitted || i % 2);
		/* No word shuts the origin out for good. */
		assert_true(admit(&owner, now_ms + 86400000) || look(&owner, now_ms + 86400000) == BREAKER_PROBE);
	}
}

static void a_clock_that_is_behind_changes_nothing(void **state)
{
	struct owner owner = owner_with(POLICY_BREAKER_FAIL_FAST);
	int64_t opened_ms = open_it(&owner);

	(void)state;
	assert_int_equal(look(&owner, opened_ms - 20), BREAKER_OPEN);
	assert_false(admit(&owner, opened_ms - 20));
	note(&owner, BREAKER_FAILED, opened_ms - 50, opened_ms - 20);
	assert_int_equal(look(&owner, opened_ms + OPEN_MS), BREAKER_PROBE);
}

static void tells_for_how_long(void **state)
{
	struct owner owner = owner_with(POLICY_BREAKER_FAIL_FAST);
	int64_t opened_ms = open_it(&owner), probed_ms = opened_ms + OPEN_MS + 700;

	(void)state;
	assert_int_equal(breaker_age_ms(0, &owner.rules, opened_ms), 0);
	assert_int_equal(breaker_age_ms(owner.state, &owner.rules, opened_ms + 1234), 1234);
	assert_int_equal(breaker_age_ms(owner.state, &owner.rules, opened_ms + OPEN_MS), 0);
	assert_int_equal(breaker_age_ms(owner.state, &owner.rules, opened_ms + OPEN_MS + 300), 300);
	assert_true(admit(&owner, probed_ms));
	assert_int_equal(breaker_age_ms(owner.state, &owner.rules, probed_ms + 400), 400);
	assert_int_equal(breaker_age_ms(owner.state, &owner.rules, opened_ms + 10 * MEMORY_MS), 0);
	owner.rules.breaker = POLICY_BREAKER_OFF;
	assert_int_equal(breaker_age_ms(owner.state, &owner.rules, opened_ms + 1234), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_an_outcome_says_of_the_origin),
	    cmocka_unit_test(opens_after_a_row_that_spans_the_outage),
	    cmocka_unit_test(an_answer_ends_the_row),
	    cmocka_unit_test(an_old_row_is_given_up),
	    cmocka_unit_test(untouched_words_stay),
	    cmocka_unit_test(off_is_off),
	    cmocka_unit_test(no_retry_closes_at_the_first_answer),
	    cmocka_unit_test(no_retry_stays_open_as_long_as_nothing_answers),
	    cmocka_unit_test(fail_fast_admits_one_probe_in_a_round),
	    cmocka_unit_test(fail_fast_admits_breaker_probes),
	    cmocka_unit_test(a_probe_decides),
	    cmocka_unit_test(a_lost_probe_is_replaced),
	    cmocka_unit_test(a_slow_probe_closes_it),
	    cmocka_unit_test(late_results_decide_nothing),
	    cmocka_unit_test(opens_at_a_failure_rate),
	    cmocka_unit_test(a_rate_is_of_its_window),
	    cmocka_unit_test(a_rate_breaker_closes_after_its_time),
	    cmocka_unit_test(one_percent_never_opens_it),
	    cmocka_unit_test(a_short_outage_never_opens_it),
	    cmocka_unit_test(any_word_means_something),
	    cmocka_unit_test(a_clock_that_is_behind_changes_nothing),
	    cmocka_unit_test(tells_for_how_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
