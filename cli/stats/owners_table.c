/* SPDX-License-Identifier: MIT */
/*
 *         LEFT   REFUSED  OPERATIONS  ORIGIN
 *           12         0        1204  https://api.example.org:443  [payments]
 *
 *     REPEATS AFTER             KEPT       LEARNED     EXPIRES  CALLER
 *     status 12, connect 3        14     3.0 h ago    in 6.8 d  import.sh, libfetch.so.1: https://api.example.org:443
 */
#include <inttypes.h>
#include <string.h>

#include "cli/stats/print.h"
#include "engine/engine.h"

#define CELL_BYTES     48
#define FAILURES_BYTES 256

static void put_duration(const char *before, int64_t ms, const char *behind, char out[static CELL_BYTES])
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = {{"d", 86400000}, {"h", 3600000}, {"min", 60000}, {"s", 1000}};
	size_t unit = 0;
	while (unit < sizeof(units) / sizeof(units[0]) - 1 && ms < units[unit].ms)
		unit++;
	snprintf(out, CELL_BYTES, "%s%.1f %s%s", before, (double)ms / (double)units[unit].ms, units[unit].name, behind);
}

/* The classes of failure after which it came back, the most frequent ones first. */
static void put_failures(const struct state_learned *learned, char out[static FAILURES_BYTES])
{
	uint8_t left[STATE_LEARNED_CLASSES];
	size_t used_bytes = 0;
	memcpy(left, learned->repeats, sizeof(left));
	*out = '\0';
	for (size_t told = 0; told < STATE_LEARNED_CLASSES; told++) {
		size_t most = 0;
		for (size_t i = 1; i < STATE_LEARNED_CLASSES; i++)
			if (left[i] > left[most])
				most = i;
		if (left[most] == 0 || used_bytes >= FAILURES_BYTES)
			return;
		used_bytes += (size_t)snprintf(out + used_bytes, FAILURES_BYTES - used_bytes, "%s%s %u%s",
		                               told ? ", " : "", engine_class_name((enum engine_class)most), left[most],
		                               left[most] == UINT8_MAX ? "+" : "");
		left[most] = 0;
	}
}

static void put_user(FILE *out, const struct stats *stats, size_t user)
{
	if (stats->all_users)
		fprintf(out, "  of %s", stats->users[user].name);
	putc('\n', out);
}

static void print_rows(FILE *out, const struct stats *stats)
{
	bool has_title = false;
	for (size_t i = 0; i < stats->row_count; i++) {
		const struct stats_row *row = &stats->rows[i];
		if (stats_left(row) + stats_refused(row) == 0)
			continue;
		if (!has_title)
			fprintf(out, "%8s  %8s  %10s  ORIGIN\n", "LEFT", "REFUSED", "OPERATIONS");
		has_title = true;
		fprintf(out, "%8" PRIu64 "  %8" PRIu64 "  %10" PRIu64 "  %s  [%s]", stats_left(row), stats_refused(row),
		        stats_operations(row), row->view.origin, row->view.section);
		put_user(out, stats, row->user);
	}
	if (!has_title)
		fputs("No operation was left to its caller.\n", out);
}

static int failures_width(const struct stats *stats, const char *title)
{
	int width = (int)strlen(title);
	for (size_t i = 0; i < stats->caller_count; i++) {
		char failures[FAILURES_BYTES];
		put_failures(&stats->callers[i].learned, failures);
		if ((int)strlen(failures) > width)
			width = (int)strlen(failures);
	}
	return width;
}

static void print_caller(FILE *out, const struct stats *stats, const struct stats_caller *caller, int width)
{
	const struct state_learned *learned = &caller->learned;
	char failures[FAILURES_BYTES], age[CELL_BYTES], expiry[CELL_BYTES];
	put_failures(learned, failures);
	put_duration("", caller->age_ms, " ago", age);
	put_duration("in ", caller->expires_in_ms, "", expiry);
	fprintf(out, "%-*s  %8" PRIu64 "  %12s  %10s  %s%s%s: %s", width, failures, learned->kept, age, expiry,
	        learned->program[0] ? learned->program : "?", learned->caller[0] ? ", " : "", learned->caller,
	        learned->origin);
	put_user(out, stats, caller->user);
}

static void print_callers(FILE *out, const struct stats *stats)
{
	static const char title[] = "REPEATS AFTER";
	int width = failures_width(stats, title);
	if (stats->caller_count == 0) {
		fputs("Of no caller was it learned that it retries by itself.\n", out);
		return;
	}
	fprintf(out, "%-*s  %8s  %12s  %10s  CALLER\n", width, title, "KEPT", "LEARNED", "EXPIRES");
	for (size_t i = 0; i < stats->caller_count; i++)
		print_caller(out, stats, &stats->callers[i], width);
}

void owners_print_table(FILE *out, const struct stats *stats)
{
	print_rows(out, stats);
	putc('\n', out);
	print_callers(out, stats);
}
