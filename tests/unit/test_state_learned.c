/* SPDX-License-Identifier: MIT */

/* What was learned of callers: found, read, forgotten. How the table works is test_state_intent.c's; it is the same. */

#include "tests/unit/test_state_support.h"

#include <stdatomic.h>

#include "state/learned.h"

enum { WALK = 8 }; /* places that a key can have */

#define NOW_MS INT64_C(1000000)
#define DAY_MS INT64_C(86400000)

static struct state state;
static struct state_learned all[STATE_LEARNED];

static int open_learned(void **unused)
{
	int failed = make_test_directory(unused);
	if (!failed)
		open_shared(&state);
	return failed;
}

static int close_learned(void **unused)
{
	state_close(&state);
	return remove_test_directory(unused);
}

static struct state_learned learned_of(uint64_t key, int64_t expires_ms, const char *name)
{
	struct state_learned learned = {
	    .key = key,
	    .learned_ms = (int64_t)key,
	    .expires_ms = expires_ms,
	    .promised_ms = (int64_t)key,
	    .kept = key,
	};
	memset(learned.repeats, (int)(key % 256), sizeof(learned.repeats));
	state_learned_text(learned.program, name);
	state_learned_text(learned.caller, name);
	state_learned_text(learned.origin, name);
	return learned;
}

static void keep(struct state *to, uint64_t key, int64_t expires_ms, const char *name)
{
	struct state_learned learned = learned_of(key, expires_ms, name);
	state_learned_keep(to, &learned, NOW_MS);
}

static bool knows(struct state *from, uint64_t key, const char *name)
{
	struct state_learned found;
	if (!state_learned_find(from, key, NOW_MS, &found))
		return false;
	struct state_learned expected = learned_of(key, found.expires_ms, name);
	assert_memory_equal(&found, &expected, sizeof(found));
	return true;
}

static size_t read_all(int64_t now_ms)
{
	struct state_snapshot *snapshot = state_snapshot_take(&state);
	assert_non_null(snapshot);
	size_t count = state_snapshot_learned(snapshot, now_ms, all);
	state_snapshot_free(snapshot);
	return count;
}

static void what_is_kept_is_found_and_read(void **unused)
{
	(void)unused;
	struct state other;
	open_shared(&other);
	keep(&state, 4711, NOW_MS + 7 * DAY_MS, "import.sh");
	assert_true(knows(&state, 4711, "import.sh"));
	assert_true(knows(&other, 4711, "import.sh"));
	assert_false(knows(&state, 4712, "import.sh"));
	keep(&other, 4711, NOW_MS + 1000, "export.sh");
	assert_int_equal(read_all(NOW_MS), 1);
	struct state_learned expected = learned_of(4711, NOW_MS + 1000, "export.sh");
	assert_memory_equal(&all[0], &expected, sizeof(expected));
	assert_int_equal(read_all(NOW_MS + 1000), 0);
	state_close(&other);
}

static void eight_days_are_the_longest(void **unused)
{
	(void)unused;
	static const int64_t instants[] = {NOW_MS + 9 * DAY_MS, INT64_MAX, INT64_MIN, 0, NOW_MS};
	for (size_t i = 0; i < sizeof(instants) / sizeof(instants[0]); i++) {
		for (size_t j = 0; j < WALK; j++)
			keep(&state, meeting_key(j, STATE_LEARNED), instants[i], "rubbish");
		assert_int_equal(read_all(NOW_MS), 0);
		for (size_t j = WALK; j < 2 * WALK; j++)
			keep(&state, meeting_key(j, STATE_LEARNED), NOW_MS + 1000, "good");
		assert_int_equal(read_all(NOW_MS), WALK);
		for (size_t j = 0; j < 2 * WALK; j++)
			assert_int_equal(knows(&state, meeting_key(j, STATE_LEARNED), "good"), j >= WALK);
		state_reset(&state, true);
	}
}

static void the_crowd_loses_who_expires_first(void **unused)
{
	(void)unused;
	for (size_t i = 0; i <= WALK; i++)
		keep(&state, meeting_key(i, STATE_LEARNED), NOW_MS + (i == 3 ? 1000 : 60000), "import.sh");
	for (size_t i = 0; i <= WALK; i++)
		assert_int_equal(knows(&state, meeting_key(i, STATE_LEARNED), "import.sh"), i != 3);
	assert_int_equal(read_all(NOW_MS), WALK);
}

static void what_is_dropped_is_gone(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < WALK; i++)
		keep(&state, meeting_key(i, STATE_LEARNED), NOW_MS + 1000, "import.sh");
	state_learned_drop(&state, meeting_key(4, STATE_LEARNED));
	state_learned_drop(&state, meeting_key(WALK, STATE_LEARNED)); /* never was there */
	state_learned_drop(&state, 0);
	for (size_t i = 0; i < WALK; i++)
		assert_int_equal(knows(&state, meeting_key(i, STATE_LEARNED), "import.sh"), i != 4);
	assert_int_equal(read_all(NOW_MS), WALK - 1);
	keep(&state, meeting_key(4, STATE_LEARNED), NOW_MS + 1000, "import.sh");
	assert_int_equal(read_all(NOW_MS), WALK);
}

static void nothing_has_no_key(void **unused)
{
	(void)unused;
	keep(&state, 0, NOW_MS + 1000, "import.sh");
	assert_false(knows(&state, 0, "import.sh"));
	assert_int_equal(read_all(NOW_MS), 0);
}

static void texts_are_cut_and_clean(void **unused)
{
	(void)unused;
	struct state_learned learned = learned_of(4711, NOW_MS + 1000, NULL), found;
	char longest[300];
	memset(longest, 'p', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	state_learned_text(learned.program, longest);
	memset(learned.caller, 'c', sizeof(learned.caller)); /* without end: of a writer that isn't ours */
	state_learned_text(learned.origin, "http://a\x1b]0;evil\x07\xFF:80");
	state_learned_keep(&state, &learned, NOW_MS);
	assert_int_equal(read_all(NOW_MS), 1);
	assert_true(state_learned_find(&state, 4711, NOW_MS, &found));
	assert_memory_equal(&found, &all[0], sizeof(found));
	assert_int_equal(strlen(found.program), sizeof(found.program) - 1);
	assert_int_equal(found.program[sizeof(found.program) - 2], '~');
	assert_int_equal(strlen(found.caller), sizeof(found.caller) - 1);
	assert_string_equal(found.origin, "http://a?]0;evil??:80");
}

static void random_words_do_no_harm(void **unused)
{
	(void)unused;
	struct state_layout *layout = atomic_load(&state.shared);
	for (unsigned int seed = 1; seed <= 5; seed++) {
		srand(seed);
		for (size_t i = 0; i < STATE_LEARNED * STATE_LEARNED_PLACE_WORDS; i++)
			atomic_store(&layout->learned[i],
			             ((uint64_t)rand() << 40) ^ ((uint64_t)rand() << 20) ^ (uint64_t)rand());
		assert_int_equal(read_all(NOW_MS), 0);
		for (uint64_t key = 1; key <= 100; key++) {
			keep(&state, key, NOW_MS + 1000, "import.sh");
			assert_true(knows(&state, key, "import.sh"));
		}
		for (size_t i = read_all(NOW_MS); i > 0; i--)
			assert_string_equal(all[i - 1].program, "import.sh");
	}
}

static void what_is_mixed_is_not_read(void **unused)
{
	(void)unused;
	struct state_layout *layout = atomic_load(&state.shared);
	keep(&state, 4711, NOW_MS + 1000, "import.sh");
	for (size_t i = 0; i < STATE_LEARNED; i++) {
		_Atomic uint64_t *place = &layout->learned[i * STATE_LEARNED_PLACE_WORDS];
		if (atomic_load(&place[1]) == 4711)
			atomic_fetch_xor(&place[STATE_LEARNED_WORDS], 1); /* the last one */
	}
	assert_int_equal(read_all(NOW_MS), 0);
	assert_false(knows(&state, 4711, "import.sh"));
}

static int use_in_child(void *argument)
{
	begin_as_child(argument);
	bool known = knows(argument, 4711, "import.sh");
	state_learned_drop(argument, 4711);
	keep(argument, 4712, NOW_MS + 1000, "import.sh");
	return known;
}

static void a_child_shares_the_file(void **unused)
{
	(void)unused;
	keep(&state, 4711, NOW_MS + 1000, "import.sh");
	assert_int_equal(run_in_child(use_in_child, &state), 1);
	assert_false(knows(&state, 4711, "import.sh"));
	assert_true(knows(&state, 4712, "import.sh"));
}

static void without_a_file_a_process_learns_for_itself(void **unused)
{
	(void)unused;
	struct state own = {.shared = NULL};
	state_learned_drop(&own, 4711);
	assert_false(knows(&own, 4711, "import.sh"));
	assert_null(atomic_load(&own.own)); /* looking takes no memory */
	keep(&own, 4711, NOW_MS + 1000, "import.sh");
	assert_true(knows(&own, 4711, "import.sh"));
	assert_int_equal(run_in_child(use_in_child, &own), 0);
	assert_true(knows(&own, 4711, "import.sh"));
	assert_int_equal(read_all(NOW_MS), 0);
	state_close(&own);
}

static void only_a_reset_of_everything_forgets(void **unused)
{
	(void)unused;
	keep(&state, 4711, NOW_MS + 1000, "import.sh");
	state_reset(&state, false);
	assert_int_equal(read_all(NOW_MS), 1);
	state_reset(&state, true);
	assert_int_equal(read_all(NOW_MS), 0);
}

#define WITH_LEARNED(test) cmocka_unit_test_setup_teardown(test, open_learned, close_learned)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_LEARNED(what_is_kept_is_found_and_read),
	    WITH_LEARNED(eight_days_are_the_longest),
	    WITH_LEARNED(the_crowd_loses_who_expires_first),
	    WITH_LEARNED(what_is_dropped_is_gone),
	    WITH_LEARNED(nothing_has_no_key),
	    WITH_LEARNED(texts_are_cut_and_clean),
	    WITH_LEARNED(random_words_do_no_harm),
	    WITH_LEARNED(what_is_mixed_is_not_read),
	    WITH_LEARNED(a_child_shares_the_file),
	    WITH_LEARNED(without_a_file_a_process_learns_for_itself),
	    WITH_LEARNED(only_a_reset_of_everything_forgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
