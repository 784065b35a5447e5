/* SPDX-License-Identifier: MIT */
/*
 *     OPERATIONS  SUCCESS  ATTEMPTS  SENDS  RETRIES    EXHAUSTED  WAITED  P50   P95    BUDGET    BREAKER
 *
 *     https://api.example.org:443  [payments]
 *           1204  99.83 %      1.03   1.03  31 status          2  12.3 s  8 ms  45 ms  97.2/100  open for 3 s
 */
#include <inttypes.h>
#include <string.h>

#include "cli/stats/lost_records.h"
#include "cli/stats/print.h"
#include "cli/stats/quantile.h"
#include "engine/engine.h"

#define CELL_BYTES 48

static void put_duration(double ms, char out[static CELL_BYTES])
{
	if (ms < 0)
		strcpy(out, "-");
	else if (ms < 1000)
		snprintf(out, CELL_BYTES, "%.0f ms", ms);
	else if (ms < 100000)
		snprintf(out, CELL_BYTES, "%.1f s", ms / 1000);
	else
		snprintf(out, CELL_BYTES, "%.0f s", ms / 1000);
}

static void put_count(uint64_t count, char out[static CELL_BYTES])
{
	snprintf(out, CELL_BYTES, "%" PRIu64, count);
}

static void put_ratio(uint64_t sum, const struct stats_row *row, char out[static CELL_BYTES])
{
	uint64_t operations = stats_operations(row);
	if (operations)
		snprintf(out, CELL_BYTES, "%.2f", (double)sum / (double)operations);
	else
		strcpy(out, "-");
}

static void put_operations(const struct stats_row *row, char out[static CELL_BYTES])
{
	put_count(stats_operations(row), out);
}

/* Rounded down, so that 100 % means that nothing failed. */
static void put_success(const struct stats_row *row, char out[static CELL_BYTES])
{
	uint64_t operations = stats_operations(row);
	if (!operations) {
		strcpy(out, "-");
		return;
	}
	uint64_t hundredths = row->view.operations[1] * 10000 / operations;
	snprintf(out, CELL_BYTES, "%" PRIu64 ".%02" PRIu64 " %%", hundredths / 100, hundredths % 100);
}

static void put_attempts(const struct stats_row *row, char out[static CELL_BYTES])
{
	put_ratio(row->view.attempts_sum, row, out);
}

static void put_sends(const struct stats_row *row, char out[static CELL_BYTES])
{
	put_ratio(row->view.sends_sum, row, out);
}

/* How many, and the failure that most of them answered. */
static void put_retries(const struct stats_row *row, char out[static CELL_BYTES])
{
	size_t most = 0;
	for (size_t i = 1; i < STATE_CLASSES_MAX; i++)
		if (row->view.retries[i] > row->view.retries[most])
			most = i;
	snprintf(out, CELL_BYTES, "%" PRIu64 "%s%s", row->retries, row->retries ? " " : "",
	         row->retries ? engine_class_name((enum engine_class)most) : "");
}

static void put_exhausted(const struct stats_row *row, char out[static CELL_BYTES])
{
	put_count(row->view.events[STATE_EVENT_EXHAUSTED], out);
}

static void put_waited(const struct stats_row *row, char out[static CELL_BYTES])
{
	put_duration((double)row->view.waits_ms_sum, out);
}

static void put_median(const struct stats_row *row, char out[static CELL_BYTES])
{
	put_duration(quantile_ms(row->view.success_ms, 0.5), out);
}

static void put_95th(const struct stats_row *row, char out[static CELL_BYTES])
{
	put_duration(quantile_ms(row->view.success_ms, 0.95), out);
}

static void put_budget(const struct stats_row *row, char out[static CELL_BYTES])
{
	if (row->tokens_max > 0)
		snprintf(out, CELL_BYTES, "%.1f/%" PRId64, (double)row->millitokens / 1000, row->tokens_max);
	else
		strcpy(out, row->breaker == STATS_BREAKER_UNKNOWN ? "unknown" : "off");
}

static void put_breaker(const struct stats_row *row, char out[static CELL_BYTES])
{
	char age[CELL_BYTES] = "";
	bool is_closed = row->breaker < STATS_BREAKER_HALF_OPEN;
	if (!is_closed)
		put_duration((double)row->breaker_age_ms, age);
	snprintf(out, CELL_BYTES, "%s%s%.20s", stats_breaker_name(row->breaker), is_closed ? "" : " for ", age);
}

static const struct column {
	const char *title;
	void (*put)(const struct stats_row *row, char out[static CELL_BYTES]);
	bool to_the_left;
} COLUMNS[] = {
    {"OPERATIONS", put_operations, false}, {"SUCCESS", put_success, false}, {"ATTEMPTS", put_attempts, false},
    {"SENDS", put_sends, false},           {"RETRIES", put_retries, true},  {"EXHAUSTED", put_exhausted, false},
    {"WAITED", put_waited, false},         {"P50", put_median, false},      {"P95", put_95th, false},
    {"BUDGET", put_budget, false},         {"BREAKER", put_breaker, true},
};

enum { COLUMN_COUNT = sizeof(COLUMNS) / sizeof(COLUMNS[0]) };

static void find_widths(const struct stats *stats, int widths[static COLUMN_COUNT])
{
	char cell[CELL_BYTES];
	for (size_t column = 0; column < COLUMN_COUNT; column++) {
		widths[column] = (int)strlen(COLUMNS[column].title);
		for (size_t i = 0; i < stats->row_count; i++) {
			COLUMNS[column].put(&stats->rows[i], cell);
			if ((int)strlen(cell) > widths[column])
				widths[column] = (int)strlen(cell);
		}
	}
}

/* row NULL: the titles. */
static void print_line(FILE *out, const struct stats_row *row, const int widths[static COLUMN_COUNT])
{
	char cell[CELL_BYTES];
	for (size_t column = 0; column < COLUMN_COUNT; column++) {
		bool is_last = column == COLUMN_COUNT - 1;
		int width = COLUMNS[column].to_the_left ? -widths[column] : widths[column];
		snprintf(cell, sizeof(cell), "%s", COLUMNS[column].title);
		if (row)
			COLUMNS[column].put(row, cell);
		fprintf(out, "%*s%s", is_last ? 0 : width, cell, is_last ? "\n" : "  ");
	}
}

static void print_name(FILE *out, const struct stats *stats, const struct stats_row *row)
{
	fprintf(out, "\n%s  [%s]", row->view.origin, row->view.section);
	if (stats->all_users)
		fprintf(out, "  of %s", stats->users[row->user].name);
	putc('\n', out);
}

void stats_print_table(FILE *out, const struct stats *stats)
{
	int widths[COLUMN_COUNT];
	find_widths(stats, widths);
	if (stats->row_count)
		print_line(out, NULL, widths);
	else
		fputs("Nothing was counted yet.\n", out);
	for (size_t i = 0; i < stats->row_count; i++) {
		print_name(out, stats, &stats->rows[i]);
		print_line(out, &stats->rows[i], widths);
	}
	for (size_t i = 0; i < stats->user_count; i++)
		if (stats->users[i].table_full)
			fprintf(out, "\n%" PRIu64 " times an origin found no place here; user %s has too many.\n",
			        stats->users[i].table_full, stats->users[i].name);
	for (size_t i = 0; i < stats->user_count; i++)
		if (stats->users[i].origins_dropped)
			fprintf(out,
			        "\n%" PRIu64
			        " origins of user %s gave their place here to others: their numbers are gone.\n",
			        stats->users[i].origins_dropped, stats->users[i].name);
	for (size_t i = 0; i < stats->user_count; i++)
		lost_records_print(out, stats->users[i].lost_records, stats->users[i].name);
	for (size_t i = 0; i < stats->user_count; i++)
		if (stats->users[i].running || stats->users[i].died)
			fprintf(out,
			        "\nOperations of user %s after a failure: %" PRIu64 " under way, %" PRIu64
			        " ended with their process (tenacurl last --running).\n",
			        stats->users[i].name, stats->users[i].running, stats->users[i].died);
}
