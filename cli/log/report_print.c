/* SPDX-License-Identifier: MIT */
/*
 *     import.sh  https://api.example.org  job nightly
 *       operations   14: 2 succeeded at once, 9 after a retry, 3 failed
 *       sends        23 for 12 intents, 1.92 each; 25 attempts
 *       waits        11, together 12.300 s, the longest 2.100 s
 *       failed by    attempt_cap 2, unsafe_replay 1
 *
 * Lines that have nothing to tell are left out.
 */
#include <inttypes.h>

#include "cli/log/report.h"
#include "cli/say/plain_text.h"
#include "cli/say/time.h"

enum { FREQUENT_VALUES = 4 };

static void put_label(FILE *out, const char *label)
{
	fprintf(out, "  %-11s  ", label);
}

static void put_count(FILE *out, int64_t count, const char *what)
{
	fprintf(out, "%" PRId64 " %s%s", count, what, count == 1 ? "" : "s");
}

static void print_name(FILE *out, const struct report_row *row)
{
	putc('\n', out);
	plain_text_put(out, *row->program ? row->program : "?");
	fputs("  ", out);
	plain_text_put(out, row->origin);
	if (*row->job) {
		fputs("  job ", out);
		plain_text_put(out, row->job);
	}
	fputs(row->is_audit ? "  (audit)\n" : "\n", out);
}

static void print_operations(FILE *out, const struct report_row *row)
{
	const struct {
		int64_t count;
		const char *how;
	} ends[] = {{row->at_once, "succeeded at once"},
	            {row->rescued, "succeeded after a retry"},
	            {row->failed, "failed"},
	            {row->unfinished, "without an end in the log"}};
	const char *separator = ": ";
	put_label(out, "operations");
	fprintf(out, "%" PRId64, row->operations);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (!ends[i].count)
			continue;
		fprintf(out, "%s%" PRId64 " %s", separator, ends[i].count, ends[i].how);
		separator = ", ";
	}
	putc('\n', out);
}

static void print_sends(FILE *out, const struct report_row *row)
{
	put_label(out, "sends");
	fprintf(out, "%" PRId64 " for ", row->sends);
	put_count(out, row->intents, "intent");
	if (row->intents)
		fprintf(out, ", %.2f each", report_amplification(row));
	fputs("; ", out);
	put_count(out, row->attempts, "attempt");
	putc('\n', out);
}

static void print_tallies(FILE *out, const char *label, const struct report_tallies *tallies)
{
	if (!tallies->count)
		return;
	put_label(out, label);
	for (size_t i = 0; i < tallies->count; i++) {
		const struct report_tally *tally = &tallies->tallies[i];
		fputs(i ? ", " : "", out);
		plain_text_put(out, *tally->what ? tally->what : "?");
		fprintf(out, " %" PRId64, tally->count);
		if (*tally->by) {
			fputs(" (", out);
			plain_text_put(out, tally->by);
			putc(')', out);
		}
	}
	putc('\n', out);
}

static void print_waits(FILE *out, const struct report_row *row)
{
	if (!row->waits || row->is_audit)
		return;
	put_label(out, "waits");
	fprintf(out, "%" PRId64 ", together ", row->waits);
	plain_text_put_duration(out, row->waits_ms);
	fputs(", the longest ", out);
	plain_text_put_duration(out, row->longest_wait_ms);
	putc('\n', out);
}

static void print_retry_after(FILE *out, const struct report_row *row)
{
	const struct report_values *values = &row->retry_after_ms;
	struct report_run runs[FREQUENT_VALUES];
	if (!values->count)
		return;
	size_t distinct = report_values_frequent(values, runs, FREQUENT_VALUES);
	size_t shown = distinct < FREQUENT_VALUES ? distinct : FREQUENT_VALUES;
	put_label(out, "Retry-After");
	fprintf(out, "%zu, from ", values->count);
	plain_text_put_duration(out, values->values[0]);
	fputs(" to ", out);
	plain_text_put_duration(out, values->values[values->count - 1]);
	for (size_t i = 0; i < shown; i++) {
		fputs(i ? ", " : ": ", out);
		plain_text_put_duration(out, runs[i].value);
		fprintf(out, " (%zu)", runs[i].count);
	}
	fputs(distinct > shown ? ", …\n" : "\n", out);
}

static void print_recovery(FILE *out, const struct report_row *row)
{
	const struct report_values *values = &row->recovery_ms;
	if (!values->count && !row->is_down)
		return;
	put_label(out, "recovery");
	if (values->count) {
		fprintf(out, "%zu, half of them within ", values->count);
		plain_text_put_duration(out, report_values_median(values));
		fputs(", the longest ", out);
		plain_text_put_duration(out, values->values[values->count - 1]);
	}
	if (row->is_down)
		fputs(values->count ? "; not seen after the last failure" : "not seen", out);
	putc('\n', out);
}

static void print_rarities(FILE *out, const struct report_row *row)
{
	if (row->refused && !row->is_audit) {
		put_label(out, "refused");
		put_count(out, row->refused, "operation");
		fputs(", without a request\n", out);
	}
	if (row->ambiguous) {
		put_label(out, "ambiguous");
		fprintf(out, "%" PRId64 " %s %s have repeated a request that was executed\n", row->ambiguous,
		        row->ambiguous == 1 ? "retry" : "retries", row->is_audit ? "might" : "may");
	}
	if (row->upstream_retries) {
		put_label(out, "proxies");
		put_count(out, row->upstream_retries, "further attempt");
		fputs(" behind the origin's address\n", out);
	}
}

static void print_audit(FILE *out, const struct report_row *row)
{
	put_label(out, "added");
	if (row->would_retry) {
		fputs("at least ", out);
		put_count(out, row->would_retry, "send");
		fputs(" and ", out);
		plain_text_put_duration(out, row->waits_ms);
		fputs(" of waiting\n", out);
	} else {
		fputs("nothing\n", out);
	}
	if (row->refused) {
		put_label(out, "saved");
		put_count(out, row->refused, "request");
		fprintf(out, ", of which %" PRId64 " succeeded\n", row->refused_successes);
	}
	if (row->failed) {
		put_label(out, "failed");
		fprintf(out,
		        "%" PRId64 ": %" PRId64 " would have been tried again, which may have helped; %" PRId64
		        " would not\n",
		        row->failed, row->failed_retriable, row->failed - row->failed_retriable);
	}
}

static void print_row(FILE *out, const struct report_row *row)
{
	print_name(out, row);
	print_operations(out, row);
	print_sends(out, row);
	print_tallies(out, "owner", &row->owners);
	print_waits(out, row);
	if (row->is_audit)
		print_audit(out, row);
	print_tallies(out, "failed by", &row->stops);
	print_retry_after(out, row);
	print_recovery(out, row);
	print_rarities(out, row);
}

static void print_source(FILE *out, const struct report *report)
{
	put_count(out, (int64_t)report->seen.records, "record");
	if (report->last_us) {
		char first[SAY_TIME_BYTES], last[SAY_TIME_BYTES];
		fprintf(out, ", %s to %s", say_time(report->first_us, first), say_time(report->last_us, last));
	}
	putc('\n', out);
	if (!report->row_count)
		fputs("No operation was logged.\n", out);
}

static bool lacks_plain_successes(const struct report *report)
{
	for (size_t i = 0; i < report->row_count; i++)
		if (!report->rows[i]->at_once)
			return true;
	return false;
}

static void print_remarks(FILE *out, const struct report *report)
{
	const struct report_records *source = &report->source;
	if (lacks_plain_successes(report))
		fputs(
		    "\n"
		    "Where nothing succeeded at once, the log may leave such operations out (log_events = retries):\n"
		    "sends per intent then are those of operations in which something failed, and a recovery is seen\n"
		    "later than it came.\n",
		    out);
	if (source->lost || source->notes || source->duplicates)
		putc('\n', out);
	if (source->lost)
		fprintf(out, "Records that could not be written and are missing here: %" PRId64 ".\n", source->lost);
	if (source->notes)
		fprintf(out, "Notes of tenacurl about itself: %zu; `tenacurl log` prints them.\n", source->notes);
	if (source->duplicates)
		fprintf(out, "Records that were given more than once and counted once: %zu.\n", source->duplicates);
}

void report_print(FILE *out, const struct report *report)
{
	print_source(out, report);
	for (size_t i = 0; i < report->row_count; i++)
		print_row(out, report->rows[i]);
	print_remarks(out, report);
}
