/* SPDX-License-Identifier: MIT */
/*
 * https://prometheus.io/docs/instrumenting/exposition_formats/: all samples of a metric stand together, after its HELP
 * and TYPE; buckets are cumulative; label values have \, " and line feeds escaped.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "cli/stats/print.h"
#include "engine/engine.h"

/* What a metric prints its samples with. */
struct exposition {
	FILE *out;
	const struct stats *stats;
	const char *name;
};

static void put_value(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			putc('\\', out);
		putc(*text, out);
	}
	putc('"', out);
}

/* Begins a sample: its name, and the labels that all of them have. label NULL: no further one. */
static void begin(const struct exposition *to, const struct stats_row *row, const char *suffix, const char *label,
                  const char *value)
{
	fprintf(to->out, "%s%s{origin=", to->name, suffix);
	put_value(to->out, row->view.origin);
	fputs(",section=", to->out);
	put_value(to->out, row->view.section);
	if (to->stats->all_users) {
		fputs(",user=", to->out);
		put_value(to->out, to->stats->users[row->user].name);
	}
	if (label) {
		fprintf(to->out, ",%s=", label);
		put_value(to->out, value);
	}
	fputs("} ", to->out);
}

static void put_count(const struct exposition *to, const struct stats_row *row, const char *label, const char *value,
                      uint64_t count)
{
	begin(to, row, "", label, value);
	fprintf(to->out, "%" PRIu64 "\n", count);
}

static void put_seconds(const struct exposition *to, uint64_t ms)
{
	fprintf(to->out, "%" PRIu64 ".%03" PRIu64 "\n", ms / 1000, ms % 1000);
}

/* bound: the largest value in the bucket, negative for the last one. count: of it and those below. */
static void put_bucket(const struct exposition *to, const struct stats_row *row, double bound, uint64_t count)
{
	char text[32];
	snprintf(text, sizeof(text), "%g", bound);
	begin(to, row, "_bucket", "le", bound < 0 ? "+Inf" : text);
	fprintf(to->out, "%" PRIu64 "\n", count);
}

static void put_durations(const struct exposition *to, const struct stats_row *row, const uint64_t *buckets,
                          uint64_t sum_ms)
{
	uint64_t count = 0;
	for (size_t i = 0; i < STATE_MS_BUCKETS; i++) {
		count += buckets[i];
		put_bucket(to, row, i < STATE_MS_BUCKETS - 1 ? (double)state_ms_bounds[i] / 1000 : -1, count);
	}
	begin(to, row, "_sum", NULL, NULL);
	put_seconds(to, sum_ms);
	begin(to, row, "_count", NULL, NULL);
	fprintf(to->out, "%" PRIu64 "\n", count);
}

static void print_operations(const struct exposition *to, const struct stats_row *row)
{
	put_count(to, row, "result", "failure", row->view.operations[0]);
	put_count(to, row, "result", "success", row->view.operations[1]);
}

static void print_attempts(const struct exposition *to, const struct stats_row *row)
{
	uint64_t count = 0;
	for (size_t i = 0; i < STATE_COUNT_BUCKETS; i++) {
		count += row->view.attempts[i];
		put_bucket(to, row, i < STATE_COUNT_BUCKETS - 1 ? (double)i : -1, count);
	}
	begin(to, row, "_sum", NULL, NULL);
	fprintf(to->out, "%" PRIu64 "\n", row->view.attempts_sum);
	begin(to, row, "_count", NULL, NULL);
	fprintf(to->out, "%" PRIu64 "\n", count);
}

/* Prints those that are not 0, and whatever has no name of its own as one. */
static void print_named(const struct exposition *to, const struct stats_row *row, const uint64_t *counts, size_t count,
                        size_t named, const char *(*name)(size_t index))
{
	uint64_t others = 0;
	for (size_t i = 0; i < count; i++) {
		if (i >= named)
			others += counts[i];
		else if (counts[i])
			put_count(to, row, "reason", name(i), counts[i]);
	}
	if (others)
		put_count(to, row, "reason", "unknown", others);
}

static const char *class_name(size_t failure)
{
	return engine_class_name((enum engine_class)failure);
}

static const char *reason_name(size_t reason)
{
	return engine_reason_name((enum engine_reason)reason);
}

static void print_retries(const struct exposition *to, const struct stats_row *row)
{
	print_named(to, row, row->view.retries, STATE_CLASSES_MAX, ENGINE_CLASS_LOCAL + 1, class_name);
}

static void print_stops(const struct exposition *to, const struct stats_row *row)
{
	uint64_t stops[STATE_REASONS_MAX];
	for (size_t i = 0; i < STATE_REASONS_MAX; i++)
		stops[i] = i == ENGINE_SUCCESS ? 0 : row->view.stops[i];
	print_named(to, row, stops, STATE_REASONS_MAX, ENGINE_PASSED_THROUGH + 1, reason_name);
}

static void print_tokens(const struct exposition *to, const struct stats_row *row)
{
	if (row->tokens_max <= 0)
		return;
	begin(to, row, "", NULL, NULL);
	put_seconds(to, (uint64_t)row->millitokens);
}

static void print_tokens_max(const struct exposition *to, const struct stats_row *row)
{
	if (row->tokens_max > 0)
		put_count(to, row, NULL, NULL, (uint64_t)row->tokens_max);
}

static void print_breaker(const struct exposition *to, const struct stats_row *row)
{
	if (row->breaker >= STATS_BREAKER_CLOSED)
		put_count(to, row, NULL, NULL, (uint64_t)(row->breaker - STATS_BREAKER_CLOSED));
}

static void print_waits(const struct exposition *to, const struct stats_row *row)
{
	put_durations(to, row, row->view.waits_ms, row->view.waits_ms_sum);
}

static void print_time_to_success(const struct exposition *to, const struct stats_row *row)
{
	put_durations(to, row, row->view.success_ms, row->view.success_ms_sum);
}

/* Where a row has a plain count; as many events of a kind. */
#define COUNT(field)  .count_at = offsetof(struct stats_row, view.field)
#define EVENTS(event) COUNT(events[STATE_EVENT_##event])

static const struct metric {
	const char *name;
	const char *type;
	const char *help;
	void (*print)(const struct exposition *to, const struct stats_row *row); /* NULL: it is a count */
	size_t count_at;                                                         /* of a uint64_t in struct stats_row */
} METRICS[] = {
    {"tenacurl_operations_total", "counter", "Transfers that programs asked for, by what they got.",
     .print = print_operations},
    {"tenacurl_operations_rescued_total", "counter", "Operations that succeeded after a retry.", COUNT(rescued)},
    {"tenacurl_operations_refused_total", "counter",
     "Operations that failed without a request, on the word of the policy.", EVENTS(REFUSED)},
    {"tenacurl_sends_total", "counter", "Requests on the wire, repeats by libcurl itself included.", COUNT(sends_sum)},
    {"tenacurl_attempts", "histogram", "Attempts of each operation, the first one included.", .print = print_attempts},
    {"tenacurl_retries_total", "counter", "Retries, by the failure that they answered.", .print = print_retries},
    {"tenacurl_stops_total", "counter", "Operations that ended without success, by what ended them.",
     .print = print_stops},
    {"tenacurl_retry_exhausted_total", "counter", "Operations that were retried and still failed.", EVENTS(EXHAUSTED)},
    {"tenacurl_retry_budget_empty_total", "counter", "Retries that were not made for want of budget.",
     EVENTS(BUDGET_EMPTY)},
    {"tenacurl_retry_budget_tokens", "gauge", "Retries that the budget allows now.", .print = print_tokens},
    {"tenacurl_retry_budget_tokens_max", "gauge", "Retries that a full budget allows.", .print = print_tokens_max},
    {"tenacurl_breaker_open_total", "counter", "How often the circuit breaker opened.", EVENTS(BREAKER_OPENED)},
    {"tenacurl_breaker_state", "gauge", "The circuit breaker: 0 closed, 1 half-open, 2 open.", .print = print_breaker},
    {"tenacurl_operations_retrying", "gauge", "Operations that are between two attempts now.", COUNT(leases)},
    {"tenacurl_retry_wait_seconds", "histogram", "Waits before retries.", .print = print_waits},
    {"tenacurl_time_to_success_seconds", "histogram",
     "Time from the call to the return of operations that succeeded, waits included.", .print = print_time_to_success},
};

static uint64_t count_at(const void *counts, size_t offset)
{
	uint64_t count;
	memcpy(&count, (const char *)counts + offset, sizeof(count));
	return count;
}

/* A counter that a user has, not an origin. */
struct user_metric {
	const char *name;
	const char *help;
	size_t offset; /* of a uint64_t in struct stats_user */
};

static const struct user_metric USER_METRICS[] = {
    {"tenacurl_origins_unlisted_total", "How often an origin found no place in the shared state.",
     offsetof(struct stats_user, table_full)},
    {"tenacurl_origins_dropped_total", "Origins whose place another one got, with the numbers that they had.",
     offsetof(struct stats_user, origins_dropped)},
    {"tenacurl_log_records_lost_total", "Records of the log that could not be written.",
     offsetof(struct stats_user, lost_records)},
};

static void print_user_metric(FILE *out, const struct stats *stats, const struct user_metric *metric)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s counter\n", metric->name, metric->help, metric->name);
	for (size_t i = 0; i < stats->user_count; i++) {
		fputs(metric->name, out);
		if (stats->all_users) {
			fputs("{user=", out);
			put_value(out, stats->users[i].name);
			putc('}', out);
		}
		fprintf(out, " %" PRIu64 "\n", count_at(&stats->users[i], metric->offset));
	}
}

void stats_print_prometheus(FILE *out, const struct stats *stats)
{
	for (size_t i = 0; i < sizeof(METRICS) / sizeof(METRICS[0]); i++) {
		const struct metric *metric = &METRICS[i];
		const struct exposition to = {.out = out, .stats = stats, .name = metric->name};
		fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help, metric->name, metric->type);
		for (size_t number = 0; number < stats->row_count; number++) {
			const struct stats_row *row = &stats->rows[number];
			if (metric->print)
				metric->print(&to, row);
			else
				put_count(&to, row, NULL, NULL, count_at(row, metric->count_at));
		}
	}
	for (size_t i = 0; i < sizeof(USER_METRICS) / sizeof(USER_METRICS[0]); i++)
		print_user_metric(out, stats, &USER_METRICS[i]);
}
