/* SPDX-License-Identifier: MIT */

/* The flight recorder: what is read is whole, in order, and what was recorded. */

#include "tests/unit/test_state_support.h"

#include <pthread.h>
#include <stdatomic.h>

#include "state/slot.h"

static struct state state;
static struct state_flight flights[STATE_FLIGHTS];

static int open_recorder(void **unused)
{
	int failed = make_test_directory(unused);
	if (!failed)
		open_shared(&state);
	return failed;
}

static int close_recorder(void **unused)
{
	state_close(&state);
	return remove_test_directory(unused);
}

/* Every field says which one it is, so that a mixture is recognised. */
static struct state_flight flight_of(int64_t number)
{
	struct state_flight flight = {
	    .time_us = number * 1000,
	    .pid = number,
	    .sends = number,
	    .waited_ms = number,
	    .elapsed_ms = number,
	    .reason = (int32_t)(number % 17),
	    .status = 500 + (int32_t)(number % 5),
	    .attempts = (int32_t)number,
	};
	char text[24];
	snprintf(text, sizeof(text), "%lld", (long long)number);
	state_flight_text(flight.job, text);
	state_flight_text(flight.run, text);
	state_flight_text(flight.program, text);
	state_flight_text(flight.section, text);
	state_flight_text(flight.origin, text);
	return flight;
}

static void record(int64_t number)
{
	struct state_flight flight = flight_of(number);
	state_record_flight(&state, &flight);
}

static size_t read_flights(void)
{
	struct state_snapshot *snapshot = state_snapshot_take(&state);
	assert_non_null(snapshot);
	size_t count = state_snapshot_flights(snapshot, flights);
	state_snapshot_free(snapshot);
	return count;
}

static void expect_flight(const struct state_flight *flight, int64_t number)
{
	struct state_flight expected = flight_of(number);
	expected.number = flight->number;
	assert_memory_equal(flight, &expected, sizeof(expected));
}

static void the_last_ones_newest_first(void **unused)
{
	(void)unused;
	static const int64_t totals[] = {0, 1, 2, 255, 256, 257, 1000};
	int64_t recorded = 0;
	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
		while (recorded < totals[i])
			record(++recorded);
		size_t expected = recorded < STATE_FLIGHTS ? (size_t)recorded : STATE_FLIGHTS;
		assert_int_equal(read_flights(), expected);
		for (size_t j = 0; j < expected; j++)
			expect_flight(&flights[j], recorded - (int64_t)j);
	}
}

static void texts_are_cut_and_clean(void **unused)
{
	(void)unused;
	struct state_flight flight = {0};
	char longest[300];
	memset(longest, 'j', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	state_flight_text(flight.job, longest);
	state_flight_text(flight.origin, "http://a\x1b]0;evil\x07\xFF:80");
	state_flight_text(flight.run, NULL);
	state_record_flight(&state, &flight);
	assert_int_equal(read_flights(), 1);
	assert_int_equal(strlen(flights[0].job), sizeof(flight.job) - 1);
	assert_int_equal(flights[0].job[sizeof(flight.job) - 2], '~');
	assert_string_equal(flights[0].origin, "http://a?]0;evil??:80");
	assert_string_equal(flights[0].run, "");
}

/* Texts that fill their fields to the last byte come from a writer that isn't ours. */
static void texts_without_end_are_ended(void **unused)
{
	(void)unused;
	struct state_flight flight = {0};
	memset(flight.job, 'a', sizeof(flight.job));
	state_record_flight(&state, &flight);
	assert_int_equal(read_flights(), 1);
	assert_int_equal(strlen(flights[0].job), sizeof(flight.job) - 1);
}

static struct state_slot *slot_of(uint64_t number)
{
	struct state_layout *layout = atomic_load(&state.shared);
	return &layout->slots[number % STATE_FLIGHTS];
}

/* A writer that was killed half-way leaves a slot that no reader believes, and that the next lap uses. */
static void killed_writers_leave_a_gap(void **unused)
{
	(void)unused;
	for (int64_t i = 0; i < 10; i++)
		record(i);
	atomic_fetch_sub(&slot_of(4)->sequence, 1);  /* never completed */
	atomic_fetch_xor(&slot_of(6)->words[20], 1); /* a second writer's word */
	assert_int_equal(read_flights(), 8);
	for (size_t i = 0; i < 8; i++)
		assert_true(flights[i].pid != 4 && flights[i].pid != 6);
	for (int64_t i = 10; i < 10 + STATE_FLIGHTS; i++)
		record(i);
	assert_int_equal(read_flights(), STATE_FLIGHTS);
}

/* Writers that stood still for a lap, before and after they took the slot. */
static void late_writers_give_way(void **unused)
{
	(void)unused;
	struct state_layout *layout = atomic_load(&state.shared);
	for (int64_t i = 0; i < 300; i++)
		record(i);
	struct state_flight late = flight_of(9999);
	state_write_flight(layout, 10, &late);
	assert_int_equal(read_flights(), STATE_FLIGHTS);
	for (size_t i = 0; i < STATE_FLIGHTS; i++)
		expect_flight(&flights[i], 299 - (int64_t)i);
	/* A word that comes after the newer flight was whole. */
	atomic_store(&slot_of(266)->words[3], 9999);
	assert_int_equal(read_flights(), STATE_FLIGHTS - 1);
}

/* A slot that seems to belong to a flight far ahead, which nobody has drawn. */
static void rubbish_does_not_keep_a_slot(void **unused)
{
	(void)unused;
	static const uint64_t sequences[] = {1001, 1000, UINT64_MAX, UINT64_MAX / 2};
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++) {
		atomic_store(&slot_of(i)->sequence, sequences[i]);
		record((int64_t)i);
		assert_int_equal(read_flights(), i + 1);
	}
}

enum { WRITERS = 4, EACH = 3000 };

static _Atomic bool is_over;

static void *write_flights(void *argument)
{
	int64_t first = *(int64_t *)argument;
	for (int64_t i = 0; i < EACH; i++)
		record(first + i);
	return NULL;
}

static void *read_all_the_time(void *bad)
{
	static struct state_flight seen[STATE_FLIGHTS];
	while (!atomic_load(&is_over)) {
		struct state_snapshot *snapshot = state_snapshot_take(&state);
		size_t count = state_snapshot_flights(snapshot, seen);
		for (size_t i = 0; i < count; i++) {
			struct state_flight expected = flight_of(seen[i].pid);
			expected.number = seen[i].number;
			*(size_t *)bad += memcmp(&expected, &seen[i], sizeof(expected)) != 0;
			*(size_t *)bad += i > 0 && seen[i].number >= seen[i - 1].number;
		}
		state_snapshot_free(snapshot);
	}
	return NULL;
}

static void readers_see_whole_flights_while_threads_write(void **unused)
{
	(void)unused;
	pthread_t writers[WRITERS], reader;
	int64_t firsts[WRITERS];
	size_t bad = 0;
	atomic_store(&is_over, false);
	assert_int_equal(pthread_create(&reader, NULL, read_all_the_time, &bad), 0);
	for (size_t i = 0; i < WRITERS; i++) {
		firsts[i] = (int64_t)(i + 1) * 1000000;
		assert_int_equal(pthread_create(&writers[i], NULL, write_flights, &firsts[i]), 0);
	}
	for (size_t i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	atomic_store(&is_over, true);
	pthread_join(reader, NULL);
	assert_int_equal(bad, 0);
	/* One or two can have been lost to a writer that stood still for a lap. */
	assert_in_range(read_flights(), STATE_FLIGHTS - WRITERS, STATE_FLIGHTS);
}

static void without_a_file_nothing_is_recorded(void **unused)
{
	(void)unused;
	struct state own = {.shared = NULL};
	struct state_flight flight = flight_of(1);
	state_record_flight(&own, &flight);
	struct state_snapshot *snapshot = state_snapshot_take(&own);
	assert_int_equal(state_snapshot_flights(snapshot, flights), 0);
	state_snapshot_free(snapshot);
	state_close(&own);
}

#define WITH_RECORDER(test) cmocka_unit_test_setup_teardown(test, open_recorder, close_recorder)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_RECORDER(the_last_ones_newest_first),
	    WITH_RECORDER(texts_are_cut_and_clean),
	    WITH_RECORDER(texts_without_end_are_ended),
	    WITH_RECORDER(killed_writers_leave_a_gap),
	    WITH_RECORDER(late_writers_give_way),
	    WITH_RECORDER(rubbish_does_not_keep_a_slot),
	    WITH_RECORDER(readers_see_whole_flights_while_threads_write),
	    WITH_RECORDER(without_a_file_nothing_is_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
