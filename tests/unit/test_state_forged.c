/* SPDX-License-Identifier: MIT */
/*
 * Whatever another process of the user wrote into the state, or broke in it: nobody who reads it counts beyond what
 * integers hold. Built with UBSan (SANITIZE=undefined) each overflow ends the test.
 */
#include "tests/unit/test_state_support.h"

#include <stdatomic.h>

#include "engine/breaker.h"
#include "engine/budget.h"
#include "engine/intent.h"
#include "state/intent.h"
#include "state/learned.h"
#include "state/lease.h"
#include "state/read.h"

#define NOW_MS INT64_C(1000000)
#define DAY_MS INT64_C(86400000)
#define ROUNDS 20000

static uint64_t random_state = 20261201;

static uint64_t random_word(void)
{
	static const uint64_t extremes[] = {
	    0,          1,          UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN,     (uint64_t)INT64_MIN + 1,
	    INT32_MAX,  0x80000000, UINT32_MAX, NOW_MS,    0x8000000080000000,      0x7fffffff7fffffff,
	    NOW_MS - 1, NOW_MS + 1, 1000000000, 255,       (uint64_t)(-INT64_C(1)), (uint64_t)NOW_MS << 32,
	};
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	uint64_t drawn = random_state >> 33;
	if (drawn % 3 == 0)
		return hash_mix(random_state);
	return extremes[drawn % (sizeof(extremes) / sizeof(extremes[0]))];
}

static void fill(void *memory, size_t bytes)
{
	uint64_t *words = memory;
	for (size_t i = 0; i < bytes / sizeof(*words); i++)
		words[i] = random_word();
}

static const struct policy_rules *rules(void)
{
	return &policy_builtin()->sections[0].rules;
}

/* What an operation does with the intent that it finds. */
static void live_with(struct engine_intent intent)
{
	struct engine_request request;
	const struct engine_intent_result result = {
	    .ended_ms = NOW_MS,
	    .sent_ms = NOW_MS,
	    .asked_until_ms = NOW_MS,
	    .attempts = 4,
	    .resends = 1,
	    .failure = ENGINE_CLASS_STATUS,
	    .reason = ENGINE_ATTEMPT_CAP,
	};
	engine_intent_resume(&intent, engine_intent_return(&intent, NOW_MS), NOW_MS);
	engine_intent_admit(&intent, rules(), NOW_MS, &request);
	engine_intent_yields(&intent, rules(), true, ENGINE_CLASS_STATUS, 4);
	engine_intent_add(&intent, &result);
}

static struct engine_intent intent_of(const struct state_intent *kept)
{
	return (struct engine_intent){
	    .began_ms = kept->began_ms,
	    .ended_ms = kept->ended_ms,
	    .sent_ms = kept->sent_ms,
	    .asked_until_ms = kept->asked_until_ms,
	    .success_gap_ms = kept->success_gap_ms,
	    .operations = kept->operations,
	    .attempts = kept->attempts,
	    .extra_attempts = kept->extra_attempts,
	    .failures = kept->failures,
	    .last_failure = kept->last_failure,
	    .stopped = kept->stopped != 0,
	};
}

static void assert_can_be_counted_with(const struct state_intent *intent)
{
	const int64_t instants[] = {intent->began_ms, intent->ended_ms, intent->sent_ms, intent->refused_ms};
	const int32_t counts[] = {intent->operations, intent->attempts, intent->extra_attempts};
	for (size_t i = 0; i < sizeof(instants) / sizeof(instants[0]); i++)
		assert_in_range((uint64_t)instants[i], 0, NOW_MS);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		assert_in_range((uint32_t)counts[i], 0, 1 << 30);
	assert_in_range((uint64_t)intent->asked_until_ms, 0, NOW_MS + 2 * DAY_MS);
	assert_in_range((uint64_t)intent->success_gap_ms, 0, 2 * DAY_MS);
	assert_in_range(intent->sends, 0, 1 << 30);
}

static void test_a21_forged_intents_can_be_counted_with(void **unused)
{
	struct state state;
	(void)unused;
	open_shared(&state);
	for (int round = 0; round < ROUNDS; round++) {
		struct state_intent forged, found;
		fill(&forged, sizeof(forged));
		live_with(intent_of(&forged));
		forged.key = 4711;
		forged.expires_ms = NOW_MS + DAY_MS;
		state_intent_keep(&state, &forged, NOW_MS);
		assert_true(state_intent_find(&state, 4711, NOW_MS, &found));
		assert_can_be_counted_with(&found);
		live_with(intent_of(&found));
	}
	state_close(&state);
}

static void test_a21_forged_learning_can_be_counted_with(void **unused)
{
	struct state state;
	(void)unused;
	open_shared(&state);
	for (int round = 0; round < ROUNDS; round++) {
		struct state_learned forged, found;
		fill(&forged, sizeof(forged));
		forged.key = 4711;
		forged.expires_ms = NOW_MS + DAY_MS;
		state_learned_keep(&state, &forged, NOW_MS);
		assert_true(state_learned_find(&state, 4711, NOW_MS, &found));
		assert_in_range((uint64_t)found.learned_ms, 0, NOW_MS);
		assert_in_range((uint64_t)found.promised_ms, 0, NOW_MS);
		assert_int_equal(strnlen(found.origin, sizeof(found.origin)) < sizeof(found.origin), 1);
	}
	state_close(&state);
}

/* Everything that is made of an entry's words. */
static void use_entry(struct state_entry *entry)
{
	_Atomic uint64_t *breaker = state_breaker_words(entry);
	const struct breaker_attempt attempt = {.began_ms = NOW_MS - 10, .ended_ms = NOW_MS, .result = BREAKER_FAILED};
	uint64_t halves[] = {breaker[1], breaker[2]};
	struct state_lease lease;
	bool granted;
	state_lease_acquire(entry, 64, NOW_MS, 1000, &lease);
	state_leases_held(entry, NOW_MS);
	budget_give(budget_take(*state_budget_word(entry), rules(), NOW_MS, &granted), rules(), NOW_MS);
	budget_millitokens(*state_budget_word(entry), rules(), NOW_MS);
	breaker_age_ms(breaker[0], rules(), NOW_MS);
	breaker_admit(breaker[0], rules(), NOW_MS, &granted);
	breaker_note(breaker[0], rules(), &attempt);
	breaker_count(halves[0], rules(), BREAKER_FAILED, NOW_MS);
	breaker_exceeds_rate(halves, rules(), NOW_MS);
	state_intents_until(entry);
	state_intents_extend(entry, NOW_MS + 1000);
}

static void test_a21_a_state_of_rubbish_can_be_lived_in(void **unused)
{
	static struct state_flight flights[STATE_FLIGHTS];
	static struct state_learned learned[STATE_LEARNED];
	static struct state_running running[STATE_RUNNING];
	struct state state;
	(void)unused;
	open_shared(&state);
	struct state_layout *layout = atomic_load(&state.shared);
	for (int round = 0; round < 10; round++) {
		struct state_view view;
		fill(layout, sizeof(*layout));
		for (size_t i = 0; i < STATE_ENTRIES; i++)
			use_entry(&layout->entries[i]);
		use_entry(state_find_entry(&state, "http://h", "policy"));
		struct state_snapshot *snapshot = state_snapshot_take(&state);
		for (size_t i = 0; i < STATE_ENTRIES; i++)
			state_snapshot_view(snapshot, i, NOW_MS, &view);
		assert_true(state_snapshot_flights(snapshot, flights) <= STATE_FLIGHTS);
		assert_true(state_snapshot_learned(snapshot, NOW_MS, learned) <= STATE_LEARNED);
		assert_true(state_snapshot_running(snapshot, NOW_MS, running) <= STATE_RUNNING);
		state_snapshot_free(snapshot);
		const struct state_flight flight = {.pid = 1};
		state_record_flight(&state, &flight);
	}
	state_close(&state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_a21_forged_intents_can_be_counted_with, make_test_directory,
	                                    remove_test_directory),
	    cmocka_unit_test_setup_teardown(test_a21_forged_learning_can_be_counted_with, make_test_directory,
	                                    remove_test_directory),
	    cmocka_unit_test_setup_teardown(test_a21_a_state_of_rubbish_can_be_lived_in, make_test_directory,
	                                    remove_test_directory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
