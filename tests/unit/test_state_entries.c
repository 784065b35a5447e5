/* SPDX-License-Identifier: MIT */

/* The table of entries: who gets which, what happens when there are no more, and what a child finds. */

#include "base/clock.h"
#include "tests/unit/test_state_support.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "state/intent.h"

#include <pthread.h>
#include <stdatomic.h>

static void origin_of(size_t number, char origin[static 32])
{
	snprintf(origin, 32, "http://h%zu.example:80", number);
}

static void a_name_has_one_entry(void **unused)
{
	(void)unused;
	struct state one, two;
	open_shared(&one);
	open_shared(&two);
	struct state_entry *entry = state_find_entry(&one, ORIGIN, "policy");
	assert_ptr_equal(state_find_entry(&one, ORIGIN, "policy"), entry);
	assert_ptr_not_equal(state_find_entry(&one, ORIGIN, "api"), entry);
	assert_ptr_not_equal(state_find_entry(&one, "http://origin.example:443", "policy"), entry);
	/* What ends one text doesn't begin the other. */
	assert_ptr_not_equal(state_find_entry(&one, ORIGIN "p", "olicy"), entry);
	atomic_store(state_budget_word(entry), 4711);
	atomic_store(&state_breaker_words(entry)[2], 4712);
	entry = state_find_entry(&two, ORIGIN, "policy");
	assert_int_equal(atomic_load(state_budget_word(entry)), 4711);
	assert_int_equal(atomic_load(&state_breaker_words(entry)[2]), 4712);
	assert_false(state_entry_is_spare(entry));
	state_close(&one);
	state_close(&two);
}

static void names_are_told_cut_and_clean(void **unused)
{
	(void)unused;
	struct state state;
	struct state_view view;
	char host[400];
	open_shared(&state);
	memset(host, 'x', sizeof(host));
	host[sizeof(host) - 1] = '\0';
	struct state_entry *entry = state_find_entry(&state, host, "policy");
	host[sizeof(host) - 2] = 'y';
	/* What isn't told still distinguishes. */
	assert_ptr_not_equal(state_find_entry(&state, host, "policy"), entry);
	host[STATE_ORIGIN_BYTES - 2] = '~';
	host[STATE_ORIGIN_BYTES - 1] = '\0';
	assert_true(view_of(&state, host, &view));
	state_find_entry(&state, "http://\x1b[31m\xC3\xA4\x7F:80", "sec\ntion");
	assert_true(view_of(&state, "http://?[31m???:80", &view));
	assert_string_equal(view.section, "sec?tion");
	state_close(&state);
}

static void full_table_sends_further_origins_home(void **unused)
{
	(void)unused;
	struct state state, other;
	struct state_entry *entries[3 * STATE_ENTRIES];
	char origin[32];
	open_shared(&state);
	for (size_t i = 0; i < 3 * STATE_ENTRIES; i++) {
		origin_of(i, origin);
		entries[i] = state_find_entry(&state, origin, "policy");
		state_count_plain_success(entries[i], 1);
		atomic_store(state_budget_word(entries[i]), 1);
	}
	for (size_t i = 0; i < 3 * STATE_ENTRIES; i++) {
		origin_of(i, origin);
		assert_ptr_equal(state_find_entry(&state, origin, "policy"), entries[i]);
		assert_int_equal(state_entry_is_spare(entries[i]), i >= 2 * STATE_ENTRIES);
		for (size_t j = i + 1; j < 2 * STATE_ENTRIES; j++)
			assert_ptr_not_equal(entries[i], entries[j]);
	}
	struct state_snapshot *snapshot = state_snapshot_take(&state);
	struct state_view view;
	for (size_t i = 0; i < STATE_ENTRIES; i++) {
		assert_true(state_snapshot_view(snapshot, i, 0, &view));
		assert_int_equal(view.operations[1], 1);
	}
	assert_true(state_snapshot_table_full(snapshot) >= STATE_ENTRIES);
	state_snapshot_free(snapshot);

	/* Another process has other ones of its own, and the same shared ones. */
	open_shared(&other);
	assert_ptr_not_equal(state_find_entry(&other, origin, "policy"), entries[STATE_ENTRIES]);
	origin_of(0, origin);
	state_count_plain_success(state_find_entry(&other, origin, "policy"), 1);
	assert_true(view_of(&state, origin, &view));
	assert_int_equal(view.operations[1], 2);
	state_close(&other);
	state_close(&state);
}

/* An origin beyond a full table is counted once, however often it is looked for. */
static void turned_away_is_counted_once(void **unused)
{
	(void)unused;
	struct state state;
	char origin[32];
	open_shared(&state);
	for (size_t i = 0; i < STATE_ENTRIES; i++) {
		origin_of(i, origin);
		atomic_store(state_budget_word(state_find_entry(&state, origin, "policy")), 1);
	}
	for (size_t i = 0; i < 10; i++)
		state_find_entry(&state, ORIGIN, "policy");
	struct state_snapshot *snapshot = state_snapshot_take(&state);
	assert_int_equal(state_snapshot_table_full(snapshot), 1);
	state_snapshot_free(snapshot);
	state_close(&state);
}

/* Makes as many entries as there are, by origins of these numbers on. */
static void fill_table(struct state *state, size_t from)
{
	char origin[32];
	for (size_t i = from; i < from + STATE_ENTRIES; i++) {
		origin_of(i, origin);
		state_count_plain_success(state_find_entry(state, origin, "policy"), 1);
	}
}

static uint64_t origins_dropped(const struct state *state)
{
	struct state_snapshot *snapshot = state_snapshot_take(state);
	uint64_t dropped = state_snapshot_origins_dropped(snapshot);
	state_snapshot_free(snapshot);
	return dropped;
}

/* In a full table an origin takes the place of one that protects nothing, and begins with nothing of its. */
static void what_protects_nothing_makes_room(void **unused)
{
	(void)unused;
	struct state state, other;
	struct state_view view;
	struct state_lease lease;
	int64_t now_ms = clock_ms();
	open_shared(&state);
	struct state_entry *protecting[] = {
	    state_find_entry(&state, "http://budget:80", "policy"),
	    state_find_entry(&state, "http://breaker:80", "policy"),
	    state_find_entry(&state, "http://lease:80", "policy"),
	    state_find_entry(&state, "http://intent:80", "policy"),
	};
	atomic_store(state_budget_word(protecting[0]), 1);
	atomic_store(state_breaker_words(protecting[1]), 1);
	assert_true(state_lease_acquire(protecting[2], 1, now_ms, 600000, &lease));
	state_intents_extend(protecting[3], now_ms + 600000);
	uint64_t keys[4];
	for (size_t i = 0; i < 4; i++)
		keys[i] = state_entry_key(protecting[i]);

	fill_table(&state, 0);
	open_shared(&other);
	for (size_t i = 1; i < 10; i++)
		fill_table(&other, i * STATE_ENTRIES);
	for (size_t i = 0; i < 4; i++)
		assert_true(state_entry_holds(protecting[i], keys[i]));
	assert_int_equal(origins_dropped(&state), 9 * STATE_ENTRIES + 4);

	struct state_entry *late = state_find_entry(&state, ORIGIN, "policy");
	assert_ptr_equal(late, state_find_entry(&state, ORIGIN, "policy"));
	assert_int_equal(atomic_load(state_budget_word(late)), 0);
	assert_true(view_of(&other, ORIGIN, &view));
	assert_int_equal(view.operations[1], 0);
	state_close(&other);
	state_close(&state);
}

/* An hour is enough for any budget and any breaker. */
static void what_nobody_used_for_an_hour_makes_room(void **unused)
{
	(void)unused;
	struct state state;
	open_shared(&state);
	fill_table(&state, 0);
	char origin[32];
	for (size_t i = 0; i < STATE_ENTRIES; i++) {
		origin_of(i, origin);
		struct state_entry *entry = state_find_entry(&state, origin, "policy");
		atomic_store(state_budget_word(entry), 1);
		state_touch_entry(entry, clock_ms() - (i == 7 ? 3600001 : 3000000));
	}
	origin_of(7, origin);
	struct state_entry *idle = state_find_entry(&state, origin, "policy");
	assert_ptr_equal(state_find_entry(&state, ORIGIN, "policy"), idle);
	assert_int_equal(origins_dropped(&state), 1);
	state_close(&state);
}

/* Who makes room was killed meanwhile: the next one does it. */
static void half_emptied_entries_make_room(void **unused)
{
	(void)unused;
	struct state state;
	struct state_view view;
	open_shared(&state);
	fill_table(&state, 0);
	char origin[32];
	for (size_t i = 0; i < STATE_ENTRIES; i++) {
		origin_of(i, origin);
		atomic_store(state_budget_word(state_find_entry(&state, origin, "policy")), 1);
	}
	origin_of(3, origin);
	struct state_entry *half = state_find_entry(&state, origin, "policy");
	atomic_store((_Atomic uint64_t *)(void *)half, ((uint64_t)clock_ms() - 2000) << 1);
	assert_false(view_of(&state, origin, &view));
	assert_ptr_equal(state_find_entry(&state, ORIGIN, "policy"), half);
	assert_int_equal(atomic_load(state_budget_word(half)), 0);
	state_close(&state);
}

enum { MAKERS = 8 };

static int find_many(void *start)
{
	struct state state;
	char origin[32];
	open_shared(&state);
	while (!atomic_load((_Atomic bool *)start)) {
	}
	for (size_t i = 0; i < 2 * STATE_ENTRIES; i++) {
		origin_of(10000 + i, origin);
		state_find_entry(&state, origin, "policy");
	}
	return 0;
}

/* Those who look for the same new origins together get the same entries. */
static void makers_of_one_entry_agree(void **unused)
{
	(void)unused;
	struct state state;
	struct state_view view;
	_Atomic bool *start = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t children[MAKERS];
	open_shared(&state);
	fill_table(&state, 0);
	for (size_t i = 0; i < MAKERS; i++)
		if ((children[i] = fork()) == 0)
			_exit(find_many((void *)start));
	atomic_store(start, true);
	for (size_t i = 0; i < MAKERS; i++)
		waitpid(children[i], NULL, 0);
	struct state_snapshot *snapshot = state_snapshot_take(&state);
	static char names[STATE_ENTRIES][STATE_ORIGIN_BYTES];
	size_t count = 0;
	for (size_t i = 0; i < STATE_ENTRIES; i++) {
		if (!state_snapshot_view(snapshot, i, 0, &view))
			continue;
		for (size_t j = 0; j < count; j++)
			assert_string_not_equal(names[j], view.origin);
		strcpy(names[count++], view.origin);
	}
	assert_true(count >= STATE_ENTRIES - MAKERS);
	state_snapshot_free(snapshot);
	munmap((void *)start, 4096);
	state_close(&state);
}

/* A process was killed after each step of making an entry: the next one completes it. */
static void half_made_entries_are_completed(void **unused)
{
	(void)unused;
	struct state state;
	struct state_view view;
	for (int steps = 1; steps <= 3; steps++) {
		char origin[32];
		origin_of((size_t)steps, origin);
		open_shared(&state);
		struct state_entry *entry = state_find_entry(&state, origin, "policy");
		state_count_plain_success(entry, 1);
		/* Takes the later steps back. */
		if (steps < 3)
			atomic_store(&entry->named, 0);
		if (steps < 2)
			atomic_store(&entry->check, 0);
		memset((void *)entry->origin, 0xA5, steps < 3 ? sizeof(entry->origin) : 0);
		assert_int_equal(view_of(&state, origin, &view), steps == 3);
		assert_ptr_equal(state_find_entry(&state, origin, "policy"), entry);
		assert_true(view_of(&state, origin, &view));
		assert_string_equal(view.section, "policy");
		assert_int_equal(view.operations[1], 1);
		state_close(&state);
	}
}

/* Two names whose first hash is the same are two entries. */
static void same_key_is_not_the_same_name(void **unused)
{
	(void)unused;
	struct state state;
	open_shared(&state);
	struct state_entry *entry = state_find_entry(&state, ORIGIN, "policy");
	/* As if another name had come first. */
	atomic_fetch_xor(&entry->check, 1);
	struct state_entry *mine = state_find_entry(&state, ORIGIN, "policy");
	assert_ptr_not_equal(mine, entry);
	assert_int_equal(state_entry_key(mine), state_entry_key(entry));
	assert_ptr_equal(state_find_entry(&state, ORIGIN, "policy"), mine);
	state_close(&state);
}

/* Forks. */

struct forked {
	struct state *state;
	struct state_entry *entry;
	uint64_t key;
};

static int use_in_child(void *argument)
{
	struct forked *forked = argument;
	struct state_view view;
	begin_as_child(forked->state);
	if (state_entry_holds(forked->entry, forked->key))
		state_count_plain_success(forked->entry, 1);
	if (atomic_load(state_budget_word(state_find_entry(forked->state, ORIGIN, "policy"))) != 0)
		return 1;
	return view_of(forked->state, ORIGIN, &view) && view.operations[1] == 0 ? 0 : 2;
}

static void child_of_a_process_scope_starts_fresh(void **unused)
{
	(void)unused;
	struct state state = {.shared = NULL};
	struct state_view view;
	struct forked forked = {.state = &state, .entry = state_find_entry(&state, ORIGIN, "policy")};
	forked.key = state_entry_key(forked.entry);
	state_count_plain_success(forked.entry, 1);
	atomic_store(state_budget_word(forked.entry), 99);
	assert_true(state_entry_holds(forked.entry, forked.key));
	assert_int_equal(run_in_child(use_in_child, &forked), 0);
	assert_true(view_of(&state, ORIGIN, &view));
	assert_int_equal(view.operations[1], 1);
	assert_int_equal(atomic_load(state_budget_word(forked.entry)), 99);
	state_close(&state);
}

static void what_is_emptied_is_as_new(void **unused)
{
	(void)unused;
	struct state state = {.shared = NULL};
	struct state_view view;
	state_empty_own(&state);
	struct state_entry *entry = state_find_entry(&state, ORIGIN, "policy");
	uint64_t key = state_entry_key(entry);
	state_count_plain_success(entry, 1);
	atomic_store(state_budget_word(entry), 99);
	state_empty_own(&state);
	assert_false(state_entry_holds(entry, key));
	assert_int_equal(atomic_load(state_budget_word(state_find_entry(&state, ORIGIN, "policy"))), 0);
	assert_true(view_of(&state, ORIGIN, &view));
	assert_int_equal(view.operations[1], 0);
	state_close(&state);
}

static int count_in_child(void *argument)
{
	struct forked *forked = argument;
	if (!state_entry_holds(forked->entry, forked->key))
		return 1;
	state_count_plain_success(forked->entry, 1);
	return atomic_load(state_budget_word(forked->entry)) == 99 ? 0 : 2;
}

static void child_of_a_user_scope_shares(void **unused)
{
	(void)unused;
	struct state state;
	struct state_view view;
	open_shared(&state);
	struct forked forked = {.state = &state, .entry = state_find_entry(&state, ORIGIN, "policy")};
	forked.key = state_entry_key(forked.entry);
	atomic_store(state_budget_word(forked.entry), 99);
	assert_int_equal(run_in_child(count_in_child, &forked), 0);
	assert_true(view_of(&state, ORIGIN, &view));
	assert_int_equal(view.operations[1], 1);
	state_close(&state);
}

/* Threads that find and count at once, in the file and in the process's own memory. */

enum { THREADS = 4, ROUNDS = 200, NAMES = 40 };

static void *find_and_count(void *argument)
{
	for (size_t i = 0; i < ROUNDS * NAMES; i++) {
		char origin[32];
		origin_of(i % NAMES, origin);
		state_count_plain_success(state_find_entry(argument, origin, "policy"), (int64_t)(i % 100));
	}
	return NULL;
}

static void expect_each_once(struct state *state)
{
	pthread_t threads[THREADS];
	struct state_view view;
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, find_and_count, state), 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	struct state_snapshot *snapshot = state_snapshot_take(state);
	size_t count = 0;
	for (size_t i = 0; i < STATE_ENTRIES; i++) {
		if (!state_snapshot_view(snapshot, i, 0, &view))
			continue;
		assert_int_equal(view.operations[1], THREADS * ROUNDS);
		count++;
	}
	assert_int_equal(count, NAMES);
	state_snapshot_free(snapshot);
}

static void threads_find_the_same_entries(void **unused)
{
	(void)unused;
	struct state state, own = {.shared = NULL};
	open_shared(&state);
	expect_each_once(&state);
	state_close(&state);
	expect_each_once(&own);
	state_close(&own);
}

static void reset_keeps_what_protects(void **unused)
{
	(void)unused;
	struct state state;
	struct state_view view;
	struct state_lease lease;
	struct state_flight flight = {.attempts = 2}, flights[STATE_FLIGHTS];
	open_shared(&state);
	struct state_entry *entry = state_find_entry(&state, ORIGIN, "policy");
	state_count_plain_success(entry, 3);
	state_count_retry(entry, 1, 500);
	state_record_flight(&state, &flight);
	atomic_store(state_budget_word(entry), 7);
	atomic_store(&state_breaker_words(entry)[0], 8);
	assert_true(state_lease_acquire(entry, 1, 0, 1000, &lease));

	state_reset(&state, false);
	assert_true(view_of(&state, ORIGIN, &view));
	assert_int_equal(view.operations[1], 0);
	assert_int_equal(view.success_ms_sum, 0);
	assert_int_equal(view.waits_ms_sum, 0);
	assert_int_equal(view.budget, 7);
	assert_int_equal(view.breaker[0], 8);
	assert_int_equal(view.leases, 1);
	struct state_snapshot *snapshot = state_snapshot_take(&state);
	assert_int_equal(state_snapshot_flights(snapshot, flights), 0);
	assert_true(state_snapshot_resets(snapshot) > 0);
	state_snapshot_free(snapshot);

	state_record_flight(&state, &flight);
	snapshot = state_snapshot_take(&state);
	assert_int_equal(state_snapshot_flights(snapshot, flights), 1);
	state_snapshot_free(snapshot);

	state_reset(&state, true);
	assert_true(view_of(&state, ORIGIN, &view));
	assert_int_equal(view.budget, 0);
	assert_int_equal(view.breaker[0], 0);
	assert_int_equal(view.leases, 0);
	state_lease_release(&lease);
	state_close(&state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_DIRECTORY(a_name_has_one_entry),
	    WITH_DIRECTORY(names_are_told_cut_and_clean),
	    WITH_DIRECTORY(full_table_sends_further_origins_home),
	    WITH_DIRECTORY(turned_away_is_counted_once),
	    WITH_DIRECTORY(what_protects_nothing_makes_room),
	    WITH_DIRECTORY(what_nobody_used_for_an_hour_makes_room),
	    WITH_DIRECTORY(half_emptied_entries_make_room),
	    WITH_DIRECTORY(makers_of_one_entry_agree),
	    WITH_DIRECTORY(half_made_entries_are_completed),
	    WITH_DIRECTORY(same_key_is_not_the_same_name),
	    WITH_DIRECTORY(child_of_a_process_scope_starts_fresh),
	    WITH_DIRECTORY(what_is_emptied_is_as_new),
	    WITH_DIRECTORY(child_of_a_user_scope_shares),
	    WITH_DIRECTORY(threads_find_the_same_entries),
	    WITH_DIRECTORY(reset_keeps_what_protects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
