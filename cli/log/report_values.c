/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/log/report.h"

bool report_values_add(struct report_values *values, int64_t value)
{
	if (!array_make_room(&values->values, values->count, sizeof(value)))
		return false;
	values->values[values->count++] = value;
	return true;
}

static struct report_tally *find_tally(const struct report_tallies *tallies, const char *what, const char *by)
{
	for (size_t i = 0; i < tallies->count; i++)
		if (tallies->tallies[i].what == what && tallies->tallies[i].by == by)
			return &tallies->tallies[i];
	return NULL;
}

bool report_tallies_count(struct report_tallies *tallies, const char *what, const char *by)
{
	static const char others[] = "other", nothing[] = "";
	struct report_tally *tally = find_tally(tallies, what, by);
	if (!tally && tallies->count >= REPORT_TALLIES_MAX) {
		what = others;
		by = nothing;
		tally = find_tally(tallies, what, by);
	}
	if (tally) {
		tally->count++;
		return true;
	}
	if (!array_make_room(&tallies->tallies, tallies->count, sizeof(*tallies->tallies)))
		return false;
	tallies->tallies[tallies->count++] = (struct report_tally){.what = what, .by = by, .count = 1};
	return true;
}

static int compare_values(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

static void sort_values(struct report_values *values)
{
	if (values->count)
		qsort(values->values, values->count, sizeof(*values->values), compare_values);
}

static int most_first(const void *left, const void *right)
{
	const struct report_tally *a = left, *b = right;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	int result = strcmp(a->what, b->what);
	return result ? result : strcmp(a->by, b->by);
}

static void sort_tallies(struct report_tallies *tallies)
{
	if (tallies->count)
		qsort(tallies->tallies, tallies->count, sizeof(*tallies->tallies), most_first);
}

void report_row_sort(struct report_row *row)
{
	sort_values(&row->recovery_ms);
	sort_values(&row->retry_after_ms);
	sort_tallies(&row->owners);
	sort_tallies(&row->stops);
}

int64_t report_values_median(const struct report_values *values)
{
	return values->count ? values->values[(values->count - 1) / 2] : REPORT_UNKNOWN;
}

static int by_frequency(const void *left, const void *right)
{
	const struct report_run *a = left, *b = right;
	return (a->count < b->count) - (a->count > b->count);
}

static int by_value(const void *left, const void *right)
{
	const struct report_run *a = left, *b = right;
	return (a->value > b->value) - (a->value < b->value);
}

size_t report_values_frequent(const struct report_values *values, struct report_run *runs, size_t max)
{
	size_t kept = 0, distinct = 0;
	for (size_t begin = 0, end = 0; begin < values->count; begin = end, distinct++) {
		while (end < values->count && values->values[end] == values->values[begin])
			end++;
		struct report_run run = {.value = values->values[begin], .count = end - begin};
		if (kept < max)
			runs[kept++] = run;
		else if (runs[max - 1].count < run.count)
			runs[max - 1] = run;
		qsort(runs, kept, sizeof(*runs), by_frequency);
	}
	qsort(runs, kept, sizeof(*runs), by_value);
	return distinct;
}

double report_amplification(const struct report_row *row)
{
	return row->intents ? (double)row->sends / (double)row->intents : -1;
}
