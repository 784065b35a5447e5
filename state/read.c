/* SPDX-License-Identifier: MIT */
/*
 * A file is read, not mapped: its owner may truncate it, which would be a SIGBUS for root who looks at everybody's. The
 * kernel copies memory that is written to meanwhile, in pieces of at least a word.
 */
#include "state/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "state/directory.h"
#include "state/entries.h"
#include "state/file.h"
#include "state/file_name.h"
#include "state/keyed.h"
#include "state/layout.h"
#include "state/lease.h"
#include "state/slot.h"

struct state_snapshot {
	struct state_layout layout;
};

typedef uint64_t __attribute__((may_alias)) any_word;

static struct state_snapshot *allocate(void)
{
	return aligned_alloc(_Alignof(struct state_snapshot), sizeof(struct state_snapshot));
}

struct state_snapshot *state_snapshot_take(const struct state *state)
{
	const struct state_layout *layout = atomic_load_explicit(&state->shared, memory_order_acquire);
	struct state_snapshot *snapshot = allocate();
	if (!layout)
		layout = atomic_load_explicit(&state->own, memory_order_acquire);
	if (!snapshot)
		return NULL;
	if (!layout) {
		memset(snapshot, 0, sizeof(*snapshot));
		return snapshot;
	}
	const any_word *from = (const any_word *)layout;
	any_word *to = (any_word *)&snapshot->layout;
	/* In this order, so that a flight's words are no older than its sequence. */
	for (size_t i = 0; i < sizeof(*layout) / sizeof(*from); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
	return snapshot;
}

static bool read_whole(int fd, void *buffer, size_t bytes)
{
	size_t used_bytes = 0;
	while (used_bytes < bytes) {
		ssize_t count_bytes = pread(fd, (char *)buffer + used_bytes, bytes - used_bytes, (off_t)used_bytes);
		if (count_bytes == 0 || (count_bytes < 0 && errno != EINTR))
			return false;
		used_bytes += count_bytes > 0 ? (size_t)count_bytes : 0;
	}
	return true;
}

/* By its name, or by that which it has until somebody who knows the boot's id comes. */
static int open_by_name(const struct state_request *request, int directory, uid_t owner, struct state_outcome *outcome)
{
	char name[STATE_FILE_NAME_BYTES];
	if (!state_file_name(request, directory, name)) {
		outcome->trouble = STATE_NO_BOOT_ID;
		return -1;
	}
	int fd = state_open_file(directory, name, owner, O_RDONLY, outcome);
	if (fd >= 0 || outcome->trouble != STATE_NO_FILE || !state_file_name_unknown(directory, name))
		return fd;
	return state_open_file(directory, name, owner, O_RDONLY, outcome);
}

static int open_in_place(const struct state_request *request, size_t place, uid_t owner, struct state_outcome *outcome)
{
	int directory = state_open_directory(request, place, owner, false, outcome);
	if (directory < 0) {
		if (outcome->trouble == STATE_NO_DIRECTORY && outcome->os_errno == ENOENT)
			outcome->trouble = STATE_NO_FILE;
		return -1;
	}
	int fd = open_by_name(request, directory, owner, outcome);
	close(directory);
	return fd;
}

static int open_for_reading(const struct state_request *request, uid_t owner, struct state_outcome *outcome)
{
	*outcome = (struct state_outcome){0};
	struct state_outcome foreign = {0};
	for (size_t place = 0; place < state_place_count(request); place++) {
		int fd = open_in_place(request, place, owner, outcome);
		if (fd >= 0)
			return fd;
		if (outcome->trouble == STATE_FOREIGN_DIRECTORY)
			foreign = *outcome;
		/* What a process would have gone by, had it been able to. */
		if (outcome->trouble == STATE_CANT_READ || outcome->trouble > STATE_NO_FILE)
			return -1;
	}
	if (foreign.trouble != STATE_NO_TROUBLE)
		*outcome = foreign;
	return -1;
}

struct state_snapshot *state_snapshot_read(const struct state_request *request, uid_t owner,
                                           struct state_outcome *outcome)
{
	struct state_snapshot *snapshot = NULL;
	int fd = open_for_reading(request, owner, outcome);
	if (fd < 0)
		return NULL;
	snapshot = allocate();
	errno = ENOMEM;
	if (!snapshot || !read_whole(fd, &snapshot->layout, sizeof(snapshot->layout))) {
		outcome->trouble = STATE_CANT_READ;
		outcome->os_errno = errno;
		free(snapshot);
		snapshot = NULL;
	}
	close(fd);
	outcome->shared = snapshot != NULL;
	return snapshot;
}

size_t state_snapshot_bytes(void)
{
	return sizeof(struct state_snapshot);
}

struct state_snapshot *state_snapshot_copy(const void *bytes)
{
	struct state_snapshot *snapshot = allocate();
	return snapshot ? memcpy(snapshot, bytes, sizeof(*snapshot)) : NULL;
}

void state_snapshot_free(struct state_snapshot *snapshot)
{
	free(snapshot);
}

/* Views. */

static uint64_t load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void load_all(uint64_t *out, const _Atomic uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = load(&words[i]);
}

static uint64_t sum(const uint64_t *values, size_t count)
{
	uint64_t total = 0;
	for (size_t i = 0; i < count; i++)
		total += values[i];
	return total;
}

static void view_name(const struct state_entry *entry, struct state_view *view)
{
	uint64_t words[(STATE_ORIGIN_BYTES + STATE_SECTION_BYTES) / 8];
	if (load(&entry->named) != 1) {
		strcpy(view->origin, "?");
		strcpy(view->section, "?");
		return;
	}
	load_all(words, entry->origin, STATE_ORIGIN_BYTES / 8);
	load_all(words + STATE_ORIGIN_BYTES / 8, entry->section, STATE_SECTION_BYTES / 8);
	memcpy(view->origin, words, STATE_ORIGIN_BYTES);
	memcpy(view->section, words + STATE_ORIGIN_BYTES / 8, STATE_SECTION_BYTES);
	state_clean_text(view->origin, STATE_ORIGIN_BYTES);
	state_clean_text(view->section, STATE_SECTION_BYTES);
}

/* Operations, attempts and sends, of all operations but the plain successes. */
static void view_others(const struct state_other_counters *counters, struct state_view *view)
{
	for (size_t result = 0; result < STATE_RESULTS; result++) {
		uint64_t attempts[STATE_COUNT_BUCKETS];
		load_all(attempts, counters->attempts[result], STATE_COUNT_BUCKETS);
		view->operations[result] = sum(attempts, STATE_COUNT_BUCKETS);
		for (size_t i = 0; i < STATE_COUNT_BUCKETS; i++)
			view->attempts[i] += attempts[i];
		if (result == 1)
			view->rescued = sum(attempts + 2, STATE_COUNT_BUCKETS - 2);
	}
	view->attempts_sum = load(&counters->attempts_sum);
	load_all(view->sends, counters->sends, STATE_COUNT_BUCKETS);
	view->sends_sum = load(&counters->sends_sum);
	load_all(view->success_ms, counters->success_ms, STATE_MS_BUCKETS);
	view->success_ms_sum = load(&counters->success_ms_sum);
	load_all(view->stops, counters->stops, STATE_REASONS_MAX);
	load_all(view->retries, counters->retries, STATE_CLASSES_MAX);
	load_all(view->waits_ms, counters->waits_ms, STATE_MS_BUCKETS);
	view->waits_ms_sum = load(&counters->waits_ms_sum);
	load_all(view->events, counters->events, STATE_EVENTS_MAX);
}

static void add_plain(const struct state_plain_counters *counters, struct state_view *view)
{
	uint64_t ms[STATE_MS_BUCKETS];
	load_all(ms, counters->ms, STATE_MS_BUCKETS);
	uint64_t operations = sum(ms, STATE_MS_BUCKETS);
	view->operations[1] += operations;
	view->attempts[1] += operations;
	view->attempts_sum += operations;
	view->sends[1] += operations;
	view->sends_sum += operations;
	for (size_t i = 0; i < STATE_MS_BUCKETS; i++)
		view->success_ms[i] += ms[i];
	view->success_ms_sum += load(&counters->ms_sum);
}

bool state_snapshot_view(const struct state_snapshot *snapshot, size_t index, int64_t now_ms, struct state_view *view)
{
	const struct state_entry *entry = &snapshot->layout.entries[index];
	if ((load(&entry->key) & STATE_KEY_OF_NAME) == 0)
		return false;
	memset(view, 0, sizeof(*view));
	view->budget = load(&entry->budget);
	view_name(entry, view);
	load_all(view->breaker, entry->breaker, STATE_BREAKER_WORDS);
	view->leases = state_leases_held(entry, now_ms);
	view_others(&entry->other, view);
	add_plain(&entry->plain, view);
	return true;
}

/* Flights. */

static bool read_slot(const struct state_slot *slot, uint64_t number, struct state_flight *flight)
{
	uint64_t words[STATE_FLIGHT_WORDS];
	uint64_t whole = 2 * number + 2;
	load_all(words, slot->words, STATE_FLIGHT_WORDS);
	if (load(&slot->sequence) != whole || load(&slot->checksum) != state_slot_checksum(whole, words))
		return false;
	memcpy(flight, words, sizeof(*flight));
	state_clean_text(flight->job, sizeof(flight->job));
	state_clean_text(flight->run, sizeof(flight->run));
	state_clean_text(flight->program, sizeof(flight->program));
	state_clean_text(flight->section, sizeof(flight->section));
	state_clean_text(flight->origin, sizeof(flight->origin));
	state_clean_text(flight->method, sizeof(flight->method));
	state_clean_text(flight->path, sizeof(flight->path));
	return true;
}

size_t state_snapshot_flights(const struct state_snapshot *snapshot, struct state_flight flights[static STATE_FLIGHTS])
{
	const struct state_header *header = &snapshot->layout.header;
	uint64_t next = load(&header->next_flight), first = load(&header->first_flight);
	size_t count = 0;

	for (uint64_t back = 1; back <= STATE_FLIGHTS && back <= next - first; back++)
		if (read_slot(&snapshot->layout.slots[(next - back) % STATE_FLIGHTS], next - back, &flights[count]))
			count++;
	return count;
}

size_t state_snapshot_learned(const struct state_snapshot *snapshot, int64_t now_ms,
                              struct state_learned learned[static STATE_LEARNED])
{
	size_t count = 0;
	for (size_t place = 0; place < STATE_LEARNED; place++) {
		if (!state_keyed_read(&state_learned_shape, snapshot->layout.learned, place, now_ms, &learned[count]))
			continue;
		state_learned_clean(&learned[count], now_ms);
		count++;
	}
	return count;
}

size_t state_snapshot_running(const struct state_snapshot *snapshot, int64_t now_ms,
                              struct state_running running[static STATE_RUNNING])
{
	size_t count = 0;
	for (size_t place = 0; place < STATE_RUNNING; place++) {
		if (!state_keyed_read(&state_running_shape, snapshot->layout.running, place, now_ms, &running[count]))
			continue;
		if (running[count].key != 0)
			state_running_clean(&running[count++]);
	}
	return count;
}

uint64_t state_snapshot_table_full(const struct state_snapshot *snapshot)
{
	return load(&snapshot->layout.header.table_full);
}

uint64_t state_snapshot_lost_records(const struct state_snapshot *snapshot)
{
	return load(&snapshot->layout.header.lost_records);
}

uint64_t state_snapshot_origins_dropped(const struct state_snapshot *snapshot)
{
	return load(&snapshot->layout.header.origins_dropped);
}

uint64_t state_snapshot_resets(const struct state_snapshot *snapshot)
{
	return load(&snapshot->layout.header.resets);
}
