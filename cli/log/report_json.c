/* SPDX-License-Identifier: MIT */
/* tenacurl(1) documents the keys. */

#include "cli/log/report.h"
#include "cli/say/plain_json.h"
#include "cli/say/time.h"

#define SCHEMA 1

enum { FREQUENT_VALUES = 16 };

static json_t *number(int64_t value)
{
	return value == REPORT_UNKNOWN ? json_null() : json_integer((json_int_t)value);
}

static json_t *time_or_null(int64_t time_us)
{
	char text[SAY_TIME_BYTES];
	const char *time = time_us ? say_time_utc(time_us, text) : NULL;
	return time ? json_string(time) : json_null();
}

static json_t *largest(const struct report_values *values)
{
	return values->count ? number(values->values[values->count - 1]) : json_null();
}

static json_t *smallest(const struct report_values *values)
{
	return values->count ? number(values->values[0]) : json_null();
}

static json_t *count(size_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *owners_of(const struct report_row *row)
{
	json_t *array = json_array();
	for (size_t i = 0; i < row->owners.count; i++) {
		const struct report_tally *tally = &row->owners.tallies[i];
		json_array_append_new(array, json_pack("{s:s, s:o, s:o}", "owner", tally->what, "evidence",
		                                       plain_json_text(tally->by), "operations", number(tally->count)));
	}
	return array;
}

static json_t *stops_of(const struct report_row *row)
{
	json_t *object = json_object();
	for (size_t i = 0; i < row->stops.count; i++)
		json_object_set_new(object, row->stops.tallies[i].what, number(row->stops.tallies[i].count));
	return object;
}

static json_t *retry_after_of(const struct report_row *row)
{
	const struct report_values *values = &row->retry_after_ms;
	struct report_run runs[FREQUENT_VALUES];
	size_t distinct = report_values_frequent(values, runs, FREQUENT_VALUES);
	json_t *frequent = json_array();
	for (size_t i = 0; i < distinct && i < FREQUENT_VALUES; i++)
		json_array_append_new(
		    frequent, json_pack("{s:o, s:o}", "ms", number(runs[i].value), "count", count(runs[i].count)));
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "count", count(values->count), "min_ms", smallest(values),
	                 "max_ms", largest(values), "distinct", count(distinct), "frequent", frequent);
}

static json_t *recovery_of(const struct report_row *row)
{
	const struct report_values *values = &row->recovery_ms;
	return json_pack("{s:o, s:o, s:o, s:b}", "count", count(values->count), "median_ms",
	                 number(report_values_median(values)), "max_ms", largest(values), "down", row->is_down);
}

static json_t *waits_of(const struct report_row *row)
{
	return json_pack("{s:o, s:o, s:o}", "count", number(row->waits), "sum_ms", number(row->waits_ms), "max_ms",
	                 row->waits ? number(row->longest_wait_ms) : json_null());
}

static json_t *audit_of(const struct report_row *row)
{
	if (!row->is_audit)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "added_sends_min", number(row->would_retry), "saved_requests",
	                 number(row->refused), "saved_successes", number(row->refused_successes), "failed_retriable",
	                 number(row->failed_retriable), "failed_final", number(row->failed - row->failed_retriable));
}

static json_t *numbers_of(const struct report_row *row)
{
	double amplification = report_amplification(row);
	return json_pack("{s:o, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "program",
	                 plain_json_text(row->program), "origin", row->origin, "job", plain_json_text(row->job), "mode",
	                 row->is_audit ? "audit" : "enforce", "operations", number(row->operations), "at_once",
	                 number(row->at_once), "rescued", number(row->rescued), "failed", number(row->failed),
	                 "unfinished", number(row->unfinished), "refused", number(row->refused), "intents",
	                 number(row->intents), "attempts", number(row->attempts), "sends", number(row->sends),
	                 "sends_per_intent", amplification < 0 ? json_null() : json_real(amplification));
}

static json_t *row_of(const struct report_row *row)
{
	json_t *object = numbers_of(row);
	json_t *details = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "owners", owners_of(row), "waits",
	                            waits_of(row), "stops", stops_of(row), "retry_after", retry_after_of(row),
	                            "recovery", recovery_of(row), "ambiguous", number(row->ambiguous),
	                            "upstream_retries", number(row->upstream_retries), "audit", audit_of(row));
	json_object_update(object, details);
	json_decref(details);
	return object;
}

bool report_print_json(FILE *out, const struct report *report)
{
	const struct report_records *source = &report->source;
	json_t *rows = json_array();
	for (size_t i = 0; i < report->row_count; i++)
		json_array_append_new(rows, row_of(report->rows[i]));
	return plain_json_print(out, json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", SCHEMA,
	                                       "records", count(report->seen.records), "foreign_lines",
	                                       count(report->seen.foreign_lines), "duplicates",
	                                       count(source->duplicates), "lost", number(source->lost), "notes",
	                                       count(source->notes), "first", time_or_null(report->first_us), "last",
	                                       time_or_null(report->last_us), "rows", rows));
}
