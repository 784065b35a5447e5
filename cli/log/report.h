/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_LOG_REPORT_H
#define TENACURL_CLI_LOG_REPORT_H

/*
 * `tenacurl report FILE…|-`: what logs say of each program, origin and job. report.c understands the command line,
 * report_read.c takes what is needed out of the records, report_gather.c puts operations together and adds them up,
 * with the lists of report_values.c, report_events.c looks at their order in time, report_print.c and report_json.c
 * print. The help text in report.c says what the numbers mean.
 *
 * Records come in any order: of many processes, from files that were rotated. The time in them is what counts.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "cli/log/records.h"

/*
 * argv[0] is the subcommand's own name. Returns the exit status: 0, also if some lines or files could not be read; 1 if
 * none of them could, or if nothing can be written; 2 for usage.
 */
int report_command(int argc, char **argv);

#define REPORT_UNKNOWN (-1)

enum report_kind { REPORT_NESTED, REPORT_ATTEMPT, REPORT_OPERATION, REPORT_NOTE };

/* What is needed of a record. Texts are interned: equal ones are the same pointer. "": unknown or none. */
struct report_record {
	enum report_kind kind;
	bool is_audit;
	bool is_retry; /* the verdict */
	bool unsent, ambiguous;
	int64_t time_us;
	size_t number; /* in the order of reading */
	int64_t pid, operation;
	const char *program, *job, *run, *origin;
	const char *owner, *evidence, *intent;
	const char *failure, *reason;
	int64_t status, curl_code;
	int64_t attempt, upstream_attempts;
	int64_t attempts, sends; /* REPORT_UNKNOWN: not told, as below */
	int64_t elapsed_ms, wait_ms, retry_after_ms;
	int64_t lost; /* records before this one that could not be written */
};

struct report_records {
	struct report_record *records;
	size_t count;
	void *texts;           /* a tree of the interned ones */
	int64_t time_us;       /* of the record that was read last */
	int64_t lost;          /* records that could not be written */
	size_t notes;          /* what tenacurl said of itself */
	size_t duplicates;     /* found twice, counted once */
	bool is_out_of_memory; /* nothing more was taken */
};

struct report_values {
	int64_t *values;
	size_t count;
};

/* How often something was; `what` and `by` are interned texts. */
struct report_tally {
	const char *what, *by;
	int64_t count;
};

struct report_tallies {
	struct report_tally *tallies;
	size_t count;
};

/* What a program, in a job, got from an origin; in audit mode on a row of its own. */
struct report_row {
	const char *program, *origin, *job;
	bool is_audit;

	int64_t operations, at_once, rescued, failed, unfinished;
	int64_t refused; /* without a request; in audit mode they would have been */
	int64_t intents;
	int64_t attempts, sends;
	int64_t waits, waits_ms, longest_wait_ms; /* in audit mode what would have been waited */
	int64_t ambiguous;
	int64_t upstream_retries;
	struct report_tallies owners; /* owner, evidence */
	struct report_tallies stops;  /* reason */
	struct report_values retry_after_ms;
	struct report_values recovery_ms;
	bool is_down; /* it failed, and no success was seen after that */

	/* Audit mode only. */
	int64_t would_retry;
	int64_t failed_retriable;  /* of those that failed */
	int64_t refused_successes; /* of those that would have been refused */
};

/* What depends on the order of things. */
enum report_event_kind {
	REPORT_FAILING,   /* an attempt failed, for which the origin is to blame, of an operation that failed */
	REPORT_FAILED,    /* such an operation's end, at its last such attempt */
	REPORT_SUCCEEDED, /* an operation's end */
	REPORT_ENDED      /* another operation's */
};

struct report_event {
	struct report_row *row;
	const char *intent;
	enum report_event_kind kind;
	int64_t time_us;
	int64_t rescued_in_ms; /* REPORT_SUCCEEDED: after a retry, in so long; REPORT_UNKNOWN: at once */
};

struct report {
	struct report_records source;
	struct records_seen seen;
	struct report_row **rows; /* by program, origin, job, mode */
	size_t row_count;
	void *row_tree;
	struct report_event *events;
	size_t event_count;
	int64_t first_us, last_us; /* of the records; 0: no time was told */
};

/* Takes what is needed of a record. A records_visitor; context: struct report_records. */
void report_take(void *context, json_t *record);

/* Frees them, and the texts that rows point to. */
void report_records_free(struct report_records *records);

/* What comparison functions return. Pure. */
static inline int report_order(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

/* Fills rows and events from `source`, which is sorted. Returns false without memory. */
bool report_gather(struct report *report);

/* Counts the rows' intents and measures their recoveries. Sorts the events, and the lists of the rows. Returns
 * false without memory. */
bool report_follow_events(struct report *report);

/* Frees all that is in a report. */
void report_free(struct report *report);

/* Both return false without memory. A list of tallies has an end, since anybody may have written the log: what comes
 * after REPORT_TALLIES_MAX different ones is counted together, as "other". */
#define REPORT_TALLIES_MAX 256
bool report_values_add(struct report_values *values, int64_t value);
bool report_tallies_count(struct report_tallies *tallies, const char *what, const char *by);

/* Sorts all lists of a row: values from the smallest, tallies from the largest. */
void report_row_sort(struct report_row *row);

/* The value that half of them don't exceed; REPORT_UNKNOWN if there are none. They are sorted. */
int64_t report_values_median(const struct report_values *values);

/* A value, and how many of them are equal to it. */
struct report_run {
	int64_t value;
	size_t count;
};

/* Fills `runs` with the values that are most frequent, in their order, at most `max`. Returns how many values there are
 * that differ. They are sorted. */
size_t report_values_frequent(const struct report_values *values, struct report_run *runs, size_t max);

/* Sends per intent; negative if there was no intent. Pure. */
double report_amplification(const struct report_row *row);

/* Prints the report for people, or as one JSON object (false without memory). Errors stay on the stream. */
void report_print(FILE *out, const struct report *report);
bool report_print_json(FILE *out, const struct report *report);

#endif
