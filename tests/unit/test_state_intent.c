/* SPDX-License-Identifier: MIT */

/* Intents: what is found is whole, alive, and what was kept; nothing stays for ever. */

#include "tests/unit/test_state_support.h"

#include <pthread.h>
#include <stdatomic.h>

#include "state/intent.h"

enum { WALK = 8 }; /* places that a key can have */

#define NOW_MS INT64_C(1000000000)
#define DAY_MS INT64_C(86400000)

static struct state state;

static int open_intents(void **unused)
{
	int failed = make_test_directory(unused);
	if (!failed)
		open_shared(&state);
	return failed;
}

static int close_intents(void **unused)
{
	state_close(&state);
	return remove_test_directory(unused);
}

/* Every field says which one it is, so that a mixture is recognised. */
static struct state_intent intent_of(uint64_t key, int64_t expires_ms, int32_t mark)
{
	return (struct state_intent){
	    .key = key,
	    .id = (uint64_t)mark,
	    .process = (uint64_t)mark,
	    .expires_ms = expires_ms,
	    .began_ms = mark,
	    .ended_ms = mark,
	    .sent_ms = mark,
	    .asked_until_ms = mark,
	    .success_gap_ms = mark,
	    .refused_ms = mark,
	    .operations = mark,
	    .attempts = mark,
	    .extra_attempts = mark,
	    .failures = (uint32_t)mark,
	    .last_failure = (uint32_t)mark,
	    .stopped = (uint32_t)mark,
	    .sends = (uint64_t)mark,
	};
}

static void keep(struct state *to, uint64_t key, int64_t expires_ms, int32_t mark)
{
	struct state_intent intent = intent_of(key, expires_ms, mark);
	state_intent_keep(to, &intent, NOW_MS);
}

/* The mark of the one with this key at NOW_MS; 0: there is none. */
static int32_t mark_of(struct state *from, uint64_t key)
{
	struct state_intent found, expected;
	if (!state_intent_find(from, key, NOW_MS, &found))
		return 0;
	expected = intent_of(key, found.expires_ms, found.operations);
	assert_memory_equal(&found, &expected, sizeof(found));
	return found.operations;
}

/* The place in the file that holds this key; NULL: none. Not two. */
static _Atomic uint64_t *place_of(uint64_t key)
{
	struct state_layout *layout = atomic_load(&state.shared);
	_Atomic uint64_t *found = NULL;
	for (size_t i = 0; i < STATE_INTENTS; i++) {
		_Atomic uint64_t *place = &layout->intents[i * STATE_INTENT_PLACE_WORDS];
		if (atomic_load(&place[1]) != key)
			continue;
		assert_null(found);
		found = place;
	}
	return found;
}

static void what_is_kept_is_found(void **unused)
{
	(void)unused;
	struct state other;
	open_shared(&other);
	assert_int_equal(mark_of(&state, 4711), 0);
	keep(&state, 4711, NOW_MS + 60000, 7);
	assert_int_equal(mark_of(&state, 4711), 7);
	assert_int_equal(mark_of(&other, 4711), 7);
	assert_int_equal(mark_of(&other, 4712), 0);
	keep(&other, 4711, NOW_MS + 61000, 8);
	assert_int_equal(mark_of(&state, 4711), 8);
	assert_non_null(place_of(4711));
	state_close(&other);
}

static void nothing_has_no_key(void **unused)
{
	(void)unused;
	struct state_intent found = {.operations = 99};
	assert_false(state_intent_find(&state, 0, NOW_MS, &found));
	keep(&state, 0, NOW_MS + 1000, 7);
	assert_false(state_intent_find(&state, 0, NOW_MS, &found));
	assert_int_equal(found.operations, 99);
}

static void its_time_runs_out(void **unused)
{
	(void)unused;
	struct state_intent found;
	keep(&state, 4711, NOW_MS + 1000, 7);
	assert_true(state_intent_find(&state, 4711, NOW_MS + 999, &found));
	assert_false(state_intent_find(&state, 4711, NOW_MS + 1000, &found));
	assert_false(state_intent_find(&state, 4711, NOW_MS + 1001, &found));
}

/* Of those that meet in the same few places the one that expires first makes room, whatever came first. */
static void the_crowd_loses_who_expires_first(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < WALK; i++)
		keep(&state, meeting_key(i, STATE_INTENTS), NOW_MS + (i == 5 ? 1000 : 60000 + (int64_t)i),
		     (int32_t)i + 1);
	for (size_t i = 0; i < WALK; i++)
		assert_int_equal(mark_of(&state, meeting_key(i, STATE_INTENTS)), i + 1);
	keep(&state, meeting_key(WALK, STATE_INTENTS), NOW_MS + 60000, 99);
	assert_int_equal(mark_of(&state, meeting_key(WALK, STATE_INTENTS)), 99);
	for (size_t i = 0; i < WALK; i++)
		assert_int_equal(mark_of(&state, meeting_key(i, STATE_INTENTS)), i == 5 ? 0 : i + 1);
}

/* What is kept again stays where it is, though another one would have to go first. */
static void one_of_a_crowd_is_kept_again(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < WALK; i++)
		keep(&state, meeting_key(i, STATE_INTENTS), NOW_MS + 1000 + (int64_t)i, (int32_t)i + 1);
	keep(&state, meeting_key(6, STATE_INTENTS), NOW_MS + 60000, 77);
	for (size_t i = 0; i < WALK; i++)
		assert_int_equal(mark_of(&state, meeting_key(i, STATE_INTENTS)), i == 6 ? 77 : i + 1);
}

/* Two who kept the same new one at the same moment can have put it in two places. */
static void a_double_is_given_up(void **unused)
{
	(void)unused;
	uint64_t key = meeting_key(1, STATE_INTENTS), neighbour = meeting_key(0, STATE_INTENTS);
	keep(&state, neighbour, NOW_MS + 60000, 3);
	keep(&state, key, NOW_MS + 60000, 4);
	_Atomic uint64_t *first = place_of(neighbour), *second = place_of(key);
	for (size_t i = 0; i < STATE_INTENT_PLACE_WORDS; i++)
		atomic_store(&first[i], atomic_load(&second[i]));
	keep(&state, key, NOW_MS + 60000, 5);
	assert_ptr_equal(place_of(key), first);
	assert_int_equal(mark_of(&state, key), 5);
}

/* A word of another writer, or one that a killed writer didn't get to. */
static void what_is_mixed_is_as_good_as_none(void **unused)
{
	(void)unused;
	uint64_t key = meeting_key(2, STATE_INTENTS);
	for (size_t word = 0; word <= STATE_INTENT_WORDS; word++) {
		keep(&state, key, NOW_MS + 60000, 4);
		_Atomic uint64_t *place = place_of(key);
		atomic_fetch_xor(&place[word], UINT64_C(1) << 40);
		assert_int_equal(mark_of(&state, key), 0);
		atomic_fetch_xor(&place[word], UINT64_C(1) << 40);
		assert_int_equal(mark_of(&state, key), 4);
	}
	/* It makes room for another one, before the living have to. */
	for (size_t i = 0; i < WALK; i++)
		keep(&state, meeting_key(i, STATE_INTENTS), NOW_MS + 1000, (int32_t)i + 1);
	atomic_fetch_xor(&place_of(key)[7], 1);
	keep(&state, meeting_key(WALK, STATE_INTENTS), NOW_MS + 60000, 99);
	for (size_t i = 0; i <= WALK; i++)
		assert_int_equal(mark_of(&state, meeting_key(i, STATE_INTENTS)), i == 2 ? 0 : i == WALK ? 99 : i + 1);
	/* And can be kept again. */
	keep(&state, key, NOW_MS + 60000, 5);
	assert_int_equal(mark_of(&state, key), 5);
}

/* One that seems to live for ever is no longer believed, and doesn't keep its place. */
static void nothing_lives_for_ever(void **unused)
{
	(void)unused;
	static const int64_t instants[] = {NOW_MS + 3 * DAY_MS, INT64_MAX, INT64_MIN, -1, 0, NOW_MS};
	keep(&state, 4711, NOW_MS + DAY_MS + 60000, 7);
	assert_int_equal(mark_of(&state, 4711), 7);
	for (size_t i = 0; i < sizeof(instants) / sizeof(instants[0]); i++) {
		for (size_t j = 0; j < WALK; j++)
			keep(&state, meeting_key(j, STATE_INTENTS), instants[i], 1);
		for (size_t j = 0; j < WALK; j++)
			assert_int_equal(mark_of(&state, meeting_key(j, STATE_INTENTS)), 0);
		for (size_t j = WALK; j < 2 * WALK; j++)
			keep(&state, meeting_key(j, STATE_INTENTS), NOW_MS + 1000, 2);
		for (size_t j = WALK; j < 2 * WALK; j++)
			assert_int_equal(mark_of(&state, meeting_key(j, STATE_INTENTS)), 2);
		state_reset(&state, true);
	}
}

/* Whatever the table held: nothing of it is found, and what is kept now is. */
static void random_words_do_no_harm(void **unused)
{
	(void)unused;
	struct state_layout *layout = atomic_load(&state.shared);
	for (unsigned int seed = 1; seed <= 5; seed++) {
		srand(seed);
		for (size_t i = 0; i < STATE_INTENTS * STATE_INTENT_PLACE_WORDS; i++)
			atomic_store(&layout->intents[i],
			             ((uint64_t)rand() << 40) ^ ((uint64_t)rand() << 20) ^ (uint64_t)rand());
		for (size_t i = 0; i < STATE_INTENTS; i++)
			assert_int_equal(
			    mark_of(&state, atomic_load(&layout->intents[i * STATE_INTENT_PLACE_WORDS + 1])), 0);
		for (uint64_t key = 1; key <= 100; key++) {
			keep(&state, key, NOW_MS + 1000, (int32_t)key);
			assert_int_equal(mark_of(&state, key), key);
		}
	}
}

/* Writers that meet: whoever reads finds something whole, or nothing. */

enum { WRITERS = 4, ROUNDS = 20000, KEYS = 3 };

static _Atomic bool is_over;

static void *keep_all_the_time(void *argument)
{
	int32_t first = *(int32_t *)argument;
	for (int32_t i = 0; i < ROUNDS; i++)
		keep(&state, meeting_key((size_t)i % KEYS, STATE_INTENTS), NOW_MS + 1000 + first, first + i);
	return NULL;
}

static void *find_all_the_time(void *bad)
{
	struct state_intent found, expected;
	while (!atomic_load(&is_over))
		for (size_t i = 0; i < KEYS; i++) {
			uint64_t key = meeting_key(i, STATE_INTENTS);
			if (!state_intent_find(&state, key, NOW_MS, &found))
				continue;
			expected = intent_of(key, found.expires_ms, found.operations);
			*(size_t *)bad += memcmp(&found, &expected, sizeof(found)) != 0;
		}
	return NULL;
}

static void mixed_writers_are_never_believed(void **unused)
{
	(void)unused;
	pthread_t writers[WRITERS], reader;
	int32_t firsts[WRITERS];
	size_t bad = 0;
	atomic_store(&is_over, false);
	assert_int_equal(pthread_create(&reader, NULL, find_all_the_time, &bad), 0);
	for (size_t i = 0; i < WRITERS; i++) {
		firsts[i] = (int32_t)(i + 1) * 1000000;
		assert_int_equal(pthread_create(&writers[i], NULL, keep_all_the_time, &firsts[i]), 0);
	}
	for (size_t i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	atomic_store(&is_over, true);
	pthread_join(reader, NULL);
	assert_int_equal(bad, 0);
	/* Whatever they left, the next one is good. */
	keep(&state, meeting_key(0, STATE_INTENTS), NOW_MS + 1000, 5);
	assert_int_equal(mark_of(&state, meeting_key(0, STATE_INTENTS)), 5);
}

/* Forks, and where nothing is shared. */

static int find_in_child(void *argument)
{
	begin_as_child(argument);
	int32_t mark = mark_of(argument, 4711);
	keep(argument, 4712, NOW_MS + 1000, 9);
	return mark;
}

static void a_child_shares_the_file(void **unused)
{
	(void)unused;
	keep(&state, 4711, NOW_MS + 1000, 7);
	assert_int_equal(run_in_child(find_in_child, &state), 7);
	assert_int_equal(mark_of(&state, 4712), 9);
}

static void without_a_file_a_process_knows_its_own(void **unused)
{
	(void)unused;
	struct state own = {.shared = NULL};
	assert_int_equal(mark_of(&own, 4711), 0);
	assert_null(atomic_load(&own.own)); /* looking takes no memory */
	keep(&own, 4711, NOW_MS + 1000, 7);
	assert_int_equal(mark_of(&own, 4711), 7);
	assert_int_equal(run_in_child(find_in_child, &own), 0);
	assert_int_equal(mark_of(&own, 4712), 0);
	assert_int_equal(mark_of(&state, 4711), 0);
	state_close(&own);
}

static void the_instant_in_an_entry_only_grows(void **unused)
{
	(void)unused;
	struct state_entry *entry = state_find_entry(&state, ORIGIN, "policy");
	assert_int_equal(state_intents_until(entry), 0);
	state_intents_extend(entry, NOW_MS);
	assert_int_equal(state_intents_until(entry), NOW_MS);
	state_intents_extend(entry, NOW_MS - 1000);
	assert_int_equal(state_intents_until(entry), NOW_MS);
	state_intents_extend(entry, NOW_MS + DAY_MS);
	assert_int_equal(state_intents_until(entry), NOW_MS + DAY_MS);
	assert_int_equal(state_intents_until(state_find_entry(&state, ORIGIN, "api")), 0);
	/* Rubbish would make every success look for intents for ever. */
	static const uint64_t rubbish[] = {UINT64_MAX, INT64_MAX, (uint64_t)(NOW_MS + 3 * DAY_MS)};
	for (size_t i = 0; i < sizeof(rubbish) / sizeof(rubbish[0]); i++) {
		atomic_store(&entry->intents_until, rubbish[i]);
		state_intents_extend(entry, NOW_MS);
		assert_int_equal(state_intents_until(entry), NOW_MS);
	}
}

static void a_reset_of_everything_forgets_them(void **unused)
{
	(void)unused;
	struct state_entry *entry = state_find_entry(&state, ORIGIN, "policy");
	keep(&state, 4711, NOW_MS + 1000, 7);
	state_intents_extend(entry, NOW_MS);
	state_reset(&state, false);
	assert_int_equal(mark_of(&state, 4711), 7);
	assert_int_equal(state_intents_until(entry), NOW_MS);
	state_reset(&state, true);
	assert_int_equal(mark_of(&state, 4711), 0);
	assert_int_equal(state_intents_until(entry), 0);
}

#define WITH_INTENTS(test) cmocka_unit_test_setup_teardown(test, open_intents, close_intents)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_INTENTS(what_is_kept_is_found),
	    WITH_INTENTS(nothing_has_no_key),
	    WITH_INTENTS(its_time_runs_out),
	    WITH_INTENTS(the_crowd_loses_who_expires_first),
	    WITH_INTENTS(one_of_a_crowd_is_kept_again),
	    WITH_INTENTS(a_double_is_given_up),
	    WITH_INTENTS(what_is_mixed_is_as_good_as_none),
	    WITH_INTENTS(nothing_lives_for_ever),
	    WITH_INTENTS(random_words_do_no_harm),
	    WITH_INTENTS(mixed_writers_are_never_believed),
	    WITH_INTENTS(a_child_shares_the_file),
	    WITH_INTENTS(without_a_file_a_process_knows_its_own),
	    WITH_INTENTS(the_instant_in_an_entry_only_grows),
	    WITH_INTENTS(a_reset_of_everything_forgets_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
