/* SPDX-License-Identifier: MIT */
/*
 * Sorted by process, operation and time, the records of an operation stand together: that an outer layer came back, the
 * attempts, the operation's own. A number that is used again (pids are) shows as a record that can't follow.
 *
 * What the origin is to blame for is a failure that may pass, and that the origin or the way to it made: not one that
 * the program made, nor a final answer.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/log/report.h"

/* The operation whose records are being read. */
struct draft {
	struct report_row *row; /* NULL: none */
	const struct report_record *first, *last;
	const struct report_record *operation; /* its own record; NULL: not seen yet */
	int64_t attempts, unsent;
	int64_t began_failing_us, failed_us; /* attempts that the origin is to blame for; 0: none */
};

/* By process and operation; equal texts are the same pointer. */
static int compare_operations(const struct report_record *a, const struct report_record *b)
{
	int result = report_order((uint64_t)a->pid, (uint64_t)b->pid);
	result = result ? result : report_order((uint64_t)a->operation, (uint64_t)b->operation);
	result = result ? result : report_order((uintptr_t)a->program, (uintptr_t)b->program);
	return result ? result : report_order((uintptr_t)a->run, (uintptr_t)b->run);
}

static int compare_in_operation(const struct report_record *a, const struct report_record *b)
{
	int result = report_order((uint64_t)a->time_us, (uint64_t)b->time_us);
	result = result ? result : report_order(a->kind, b->kind);
	return result ? result : report_order((uint64_t)a->attempt, (uint64_t)b->attempt);
}

static int compare_records(const void *left, const void *right)
{
	const struct report_record *a = left, *b = right;
	int result = compare_operations(a, b);
	result = result ? result : compare_in_operation(a, b);
	return result ? result : report_order(a->number, b->number);
}

static int compare_rows(const void *left, const void *right)
{
	const struct report_row *a = left, *b = right;
	int result = strcmp(a->program, b->program);
	result = result ? result : strcmp(a->origin, b->origin);
	result = result ? result : strcmp(a->job, b->job);
	return result ? result : report_order(a->is_audit, b->is_audit);
}

static int compare_row_pointers(const void *left, const void *right)
{
	const struct report_row *const *a = left, *const *b = right;
	return compare_rows(*a, *b);
}

static struct report_row *add_row(struct report *report, const struct report_row *wanted)
{
	struct report_row *row = malloc(sizeof(*row));
	if (!row || !array_make_room(&report->rows, report->row_count, sizeof(row))) {
		free(row);
		return NULL;
	}
	*row = *wanted;
	report->rows[report->row_count++] = row;
	return tsearch(row, &report->row_tree, compare_rows) ? row : NULL;
}

/* The row that a record belongs to; NULL without memory. */
static struct report_row *row_of(struct report *report, const struct report_record *record)
{
	struct report_row wanted = {
	    .program = record->program, .origin = record->origin, .job = record->job, .is_audit = record->is_audit};
	struct report_row **found = tfind(&wanted, &report->row_tree, compare_rows);
	return found ? *found : add_row(report, &wanted);
}

static bool is_one_of(const char *word, const char *const words[])
{
	for (size_t i = 0; words[i]; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

static bool is_origins_failure(const struct report_record *record)
{
	static const char *const FAILURES[] = {"", "none", "caller", "local", NULL};
	static const char *const REASONS[] = {"terminal_error", "cancelled", "deadline_budget", NULL};
	return !is_one_of(record->failure, FAILURES) && !is_one_of(record->reason, REASONS);
}

static bool add_event(struct report *report, const struct report_event *event)
{
	if (!array_make_room(&report->events, report->event_count, sizeof(*event)))
		return false;
	report->events[report->event_count++] = *event;
	return true;
}

static bool add_attempt(struct draft *draft, const struct report_record *record)
{
	struct report_row *row = draft->row;
	draft->attempts++;
	draft->unsent += record->unsent;
	if (is_origins_failure(record)) {
		draft->began_failing_us = draft->began_failing_us ? draft->began_failing_us : record->time_us;
		draft->failed_us = record->time_us;
	}
	if (record->is_retry && record->wait_ms != REPORT_UNKNOWN) {
		row->waits++;
		row->waits_ms += record->wait_ms;
		if (record->wait_ms > row->longest_wait_ms)
			row->longest_wait_ms = record->wait_ms;
	}
	row->ambiguous += record->is_retry && record->ambiguous;
	row->upstream_retries += record->upstream_attempts > 1 ? record->upstream_attempts - 1 : 0;
	return record->retry_after_ms == REPORT_UNKNOWN ||
	       report_values_add(&row->retry_after_ms, record->retry_after_ms);
}

/* Without a request, on the policy's word; in audit mode the request was made all the same. */
static bool is_refused(const struct draft *draft)
{
	return draft->operation && draft->operation->attempts == 0;
}

static bool succeeded(const struct draft *draft)
{
	const struct report_record *record = draft->operation;
	if (is_refused(draft)) /* what it says of the failure is the refusal's */
		return draft->row->is_audit && record->curl_code == 0 && record->status < 400;
	return strcmp(record->failure, "none") == 0 || (!*record->failure && strcmp(record->reason, "success") == 0);
}

static void add_effort(const struct draft *draft)
{
	const struct report_record *record = draft->operation;
	struct report_row *row = draft->row;
	if (record && is_refused(draft) && row->is_audit) {
		row->attempts++;
		row->sends += record->curl_code == 0 || record->status > 0;
		return;
	}
	int64_t attempts = record && record->attempts != REPORT_UNKNOWN ? record->attempts : draft->attempts;
	bool tells_sends = record && record->sends != REPORT_UNKNOWN;
	row->attempts += attempts;
	row->sends += tells_sends ? record->sends : attempts - draft->unsent;
}

/* How it ended: adds it to the numbers of its row. Returns false without memory. */
static bool add_outcome(const struct draft *draft)
{
	struct report_row *row = draft->row;
	const struct report_record *told = draft->operation ? draft->operation : draft->last;
	row->would_retry += row->is_audit && told->is_retry;
	if (!draft->operation) {
		row->unfinished++;
		return true;
	}
	bool is_success = succeeded(draft);
	row->refused += is_refused(draft);
	row->refused_successes += is_refused(draft) && is_success;
	if (is_success) {
		row->rescued += told->attempts > 1;
		row->at_once += told->attempts <= 1;
		return true;
	}
	row->failed++;
	row->failed_retriable += row->is_audit && told->is_retry;
	return told->is_retry || report_tallies_count(&row->stops, told->reason, "");
}

/* Returns false without memory. */
static bool add_events(struct report *report, const struct draft *draft)
{
	struct report_event event = {.row = draft->row,
	                             .intent = draft->last->intent,
	                             .kind = REPORT_ENDED,
	                             .time_us = draft->last->time_us,
	                             .rescued_in_ms = REPORT_UNKNOWN};
	if (draft->operation && succeeded(draft)) {
		event.kind = REPORT_SUCCEEDED;
		if (draft->operation->attempts > 1)
			event.rescued_in_ms = draft->operation->elapsed_ms;
	} else if (draft->began_failing_us) {
		struct report_event failing = event;
		failing.kind = REPORT_FAILING;
		failing.time_us = draft->began_failing_us;
		if (!add_event(report, &failing))
			return false;
		event.kind = REPORT_FAILED;
		event.time_us = draft->failed_us;
	}
	return add_event(report, &event);
}

/* Returns false without memory. */
static bool finish(struct report *report, struct draft *draft)
{
	if (!draft->row)
		return true;
	const struct report_record *told = draft->last;
	draft->row->operations++;
	draft->row->intents += !*told->intent; /* one of its own */
	add_effort(draft);
	bool good = add_outcome(draft) && add_events(report, draft);
	if (good && *told->owner)
		good = report_tallies_count(&draft->row->owners, told->owner, told->evidence);
	*draft = (struct draft){0};
	return good;
}

static bool follows(const struct draft *draft, const struct report_record *record)
{
	if (!draft->row || draft->operation || compare_operations(draft->first, record) != 0)
		return false;
	if (record->kind == REPORT_ATTEMPT)
		return draft->last->kind == REPORT_NESTED || record->attempt > draft->last->attempt;
	return record->kind == REPORT_OPERATION;
}

static bool is_same_record(const struct draft *draft, const struct report_record *record)
{
	const struct report_record *last = draft->last;
	return last && last->time_us > 0 && compare_operations(last, record) == 0 &&
	       compare_in_operation(last, record) == 0;
}

/* It is no operation's, and ends the one before it. Returns false without memory. */
static bool add_note(struct report *report, struct draft *draft, const struct report_record *note)
{
	bool good = finish(report, draft);
	draft->last = note;
	report->source.notes++;
	return good;
}

/* Returns false without memory. */
static bool add_record(struct report *report, struct draft *draft, const struct report_record *record)
{
	if (is_same_record(draft, record)) {
		report->source.duplicates++;
		report->source.lost -= record->lost;
		return true;
	}
	if (record->kind == REPORT_NOTE)
		return add_note(report, draft, record);
	if (!follows(draft, record)) {
		if (!finish(report, draft))
			return false;
		*draft = (struct draft){.row = row_of(report, record), .first = record};
	}
	if (!draft->row)
		return false;
	draft->last = record;
	if (record->kind == REPORT_OPERATION)
		draft->operation = record;
	return record->kind != REPORT_ATTEMPT || add_attempt(draft, record);
}

static void note_time(struct report *report, int64_t time_us)
{
	if (time_us > 0 && (report->first_us == 0 || time_us < report->first_us))
		report->first_us = time_us;
	if (time_us > report->last_us)
		report->last_us = time_us;
}

bool report_gather(struct report *report)
{
	struct report_records *source = &report->source;
	struct draft draft = {0};
	if (source->count)
		qsort(source->records, source->count, sizeof(*source->records), compare_records);
	for (size_t i = 0; i < source->count; i++) {
		note_time(report, source->records[i].time_us);
		if (!add_record(report, &draft, &source->records[i]))
			return false;
	}
	if (!finish(report, &draft))
		return false;
	if (report->row_count)
		qsort(report->rows, report->row_count, sizeof(*report->rows), compare_row_pointers);
	return true;
}

static void keep(void *row)
{
	(void)row; /* the list of rows has it */
}

void report_free(struct report *report)
{
	tdestroy(report->row_tree, keep);
	for (size_t i = 0; i < report->row_count; i++) {
		free(report->rows[i]->owners.tallies);
		free(report->rows[i]->stops.tallies);
		free(report->rows[i]->retry_after_ms.values);
		free(report->rows[i]->recovery_ms.values);
		free(report->rows[i]);
	}
	free(report->rows);
	free(report->events);
	report_records_free(&report->source);
	*report = (struct report){0};
}
