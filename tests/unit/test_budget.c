/* SPDX-License-Identifier: MIT */

/* The retry budget as a function of its word: what a retry takes, a success gives and time refills. */

#include "tests/unit/test_engine.h"

#include "engine/budget.h"

static const int64_t WRAP_MS = (INT64_C(1) << 32) * 1000 / 16;

static struct policy_rules rules_with(int64_t tokens, double ratio, double refill_per_s)
{
	return (struct policy_rules){
	    .budget_tokens = tokens, .budget_ratio = ratio, .budget_refill_per_s = refill_per_s};
}

/* Takes as many tokens as there are, at most `most`. */
static int drain(uint64_t *word, const struct policy_rules *rules, int64_t now_ms, int most)
{
	int taken = 0;
	bool granted = true;

	while (taken < most) {
		*word = budget_take(*word, rules, now_ms, &granted);
		if (!granted)
			break;
		taken++;
	}
	return taken;
}

static void unused_bucket_is_full(void **state)
{
	struct policy_rules rules = rules_with(100, 0.1, 0);
	uint64_t word = 0;

	(void)state;
	assert_int_equal(budget_millitokens(0, &rules, 0), 100000);
	assert_int_equal(drain(&word, &rules, 123456, 1000), 100);
	assert_int_equal(budget_millitokens(word, &rules, 123456), 0);
}

/* An empty bucket at the clock's origin must not look like one that was never used. */
static void empty_bucket_is_not_a_new_one(void **state)
{
	struct policy_rules rules = rules_with(2, 0.1, 0);
	uint64_t word = 0;

	(void)state;
	assert_int_equal(drain(&word, &rules, 0, 1000), 2);
	assert_true(word != 0);
	assert_int_equal(drain(&word, &rules, 0, 1000), 0);
}

static void refusal_changes_nothing(void **state)
{
	struct policy_rules rules = rules_with(1, 0.1, 0.1);
	uint64_t word = 0;
	bool granted;

	(void)state;
	drain(&word, &rules, 1000, 10);
	assert_int_equal(budget_take(word, &rules, 1500, &granted), word);
	assert_false(granted);
}

static void no_tokens_means_no_budget(void **state)
{
	struct policy_rules rules = rules_with(0, 0.1, 0.1);
	uint64_t word = 0;

	(void)state;
	assert_int_equal(drain(&word, &rules, 0, 100000), 100000);
	assert_int_equal(word, 0);
	assert_int_equal(budget_give(word, &rules, 0), 0);
}

static void successes_give_back_their_share(void **state)
{
	struct policy_rules rules = rules_with(10, 0.1, 0);
	uint64_t word = 0;

	(void)state;
	drain(&word, &rules, 0, 10);
	for (int success = 0; success < 9; success++)
		word = budget_give(word, &rules, 0);
	assert_int_equal(drain(&word, &rules, 0, 10), 0);
	word = budget_give(word, &rules, 0);
	assert_int_equal(drain(&word, &rules, 0, 10), 1);
}

static void full_bucket_takes_no_gift(void **state)
{
	struct policy_rules rules = rules_with(10, 0.25, 0);
	uint64_t word = 0;
	bool granted;

	(void)state;
	assert_int_equal(budget_give(0, &rules, 5000), 0);
	word = budget_take(0, &rules, 5000, &granted);
	for (int success = 0; success < 100; success++)
		word = budget_give(word, &rules, 5000);
	assert_int_equal(budget_millitokens(word, &rules, 5000), 10000);
	assert_int_equal(budget_give(word, &rules, 9000), word);
}

static void no_ratio_gives_nothing(void **state)
{
	struct policy_rules rules = rules_with(10, 0, 0);
	uint64_t word = 0;

	(void)state;
	drain(&word, &rules, 0, 10);
	assert_int_equal(budget_give(word, &rules, 0), word);
}

static void time_refills(void **state)
{
	static const struct {
		double refill_per_s;
		int64_t later_ms, expected_millitokens;
	} cases[] = {
	    {0.1, 0, 0},         {0.1, 10000, 1000},   {0.1, 5000, 500},       {1, 1000, 1000},
	    {1, 500, 500},       {1000, 1000, 50000},  {0.001, 1000000, 1000}, {0, 1000000, 0},
	    {1e12, 1000, 50000}, {0.1, 500000, 50000}, {0.1, 50000000, 50000}, {3, 1000, 3000},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct policy_rules rules = rules_with(50, 0, cases[i].refill_per_s);
		uint64_t word = 0;
		int64_t now_ms = 16000;

		drain(&word, &rules, now_ms, 50);
		assert_int_equal(budget_millitokens(word, &rules, now_ms + cases[i].later_ms),
		                 cases[i].expected_millitokens);
	}
}

/* Somebody looks at every millisecond for a quarter of an hour: not one millitoken gets lost or is added. */
static void looking_often_adds_up(void **state)
{
	static const double rates[] = {0.1, 0.001, 0.07, 1.3};

	(void)state;
	for (size_t i = 0; i < countof(rates); i++) {
		struct policy_rules rules = rules_with(4000000, 0.001, rates[i]);
		uint64_t word = UINT64_C(1) << 32; /* empty at 62.5 ms */
		const int64_t end_ms = 900000;
		int64_t expected;
		int64_t gifts = 0;

		for (int64_t now_ms = 63; now_ms <= end_ms; now_ms++) {
			word = budget_give(word, &rules, now_ms);
			gifts++;
		}
		expected = gifts + (int64_t)(rates[i] * ((double)end_ms - 62.5));
		assert_in_range(budget_millitokens(word, &rules, end_ms), expected - 1, expected + 1);
	}
}

static void clock_may_wrap(void **state)
{
	struct policy_rules rules = rules_with(50, 0, 1);
	uint64_t word = 0;

	(void)state;
	drain(&word, &rules, WRAP_MS - 1000, 50);
	assert_int_equal(drain(&word, &rules, WRAP_MS - 1000, 50), 0);
	assert_in_range(budget_millitokens(word, &rules, WRAP_MS + 1000), 1999, 2001);
	assert_int_equal(budget_millitokens(word, &rules, WRAP_MS + 49000), 50000);
}

/* Another thread stored its look at the clock, which was later than ours. */
static void clock_may_step_back(void **state)
{
	struct policy_rules rules = rules_with(50, 0.1, 1);
	uint64_t word = 0;
	uint64_t given;

	(void)state;
	drain(&word, &rules, 100000, 50);
	assert_int_equal(budget_millitokens(word, &rules, 99000), 0);
	given = budget_give(word, &rules, 99000);
	assert_int_equal(budget_millitokens(given, &rules, 99000), 100);
	assert_int_equal(budget_millitokens(given, &rules, 101000), 1100);
}

static void absurd_policies_saturate(void **state)
{
	struct policy_rules rules = rules_with(INT64_MAX, 1e300, 1e300);
	uint64_t word;
	bool granted;

	(void)state;
	assert_int_equal(budget_millitokens(0, &rules, 0), UINT32_MAX);
	word = budget_take(0, &rules, 1000, &granted);
	assert_true(granted);
	assert_int_equal(budget_millitokens(budget_give(word, &rules, 1000), &rules, 1000), UINT32_MAX);
	assert_int_equal(budget_millitokens(word, &rules, 2000), UINT32_MAX);
}

/* A policy with fewer tokens was loaded: what is stored above its bound doesn't count. */
static void smaller_bucket_holds_less(void **state)
{
	struct policy_rules large = rules_with(100, 0.1, 0);
	struct policy_rules small = rules_with(3, 0.1, 0);
	uint64_t word = 0;
	bool granted;

	(void)state;
	word = budget_take(word, &large, 0, &granted);
	assert_int_equal(drain(&word, &small, 0, 100), 3);
}

static void same_arguments_same_word(void **state)
{
	struct policy_rules rules = rules_with(100, 0.1, 0.1);
	bool granted;
	uint64_t word = budget_take(0, &rules, 77777, &granted);

	(void)state;
	assert_int_equal(budget_take(word, &rules, 80000, &granted), budget_take(word, &rules, 80000, &granted));
	assert_int_equal(budget_give(word, &rules, 80000), budget_give(word, &rules, 80000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(unused_bucket_is_full),
	    cmocka_unit_test(empty_bucket_is_not_a_new_one),
	    cmocka_unit_test(refusal_changes_nothing),
	    cmocka_unit_test(no_tokens_means_no_budget),
	    cmocka_unit_test(successes_give_back_their_share),
	    cmocka_unit_test(full_bucket_takes_no_gift),
	    cmocka_unit_test(no_ratio_gives_nothing),
	    cmocka_unit_test(time_refills),
	    cmocka_unit_test(looking_often_adds_up),
	    cmocka_unit_test(clock_may_wrap),
	    cmocka_unit_test(clock_may_step_back),
	    cmocka_unit_test(absurd_policies_saturate),
	    cmocka_unit_test(smaller_bucket_holds_less),
	    cmocka_unit_test(same_arguments_same_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
