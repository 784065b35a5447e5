/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "cli/log/report.h"

/* At the same instant the failure came first, so that it isn't taken for one that lasts. */
static int compare_in_time(const struct report_event *a, const struct report_event *b)
{
	int result = report_order((uint64_t)a->time_us, (uint64_t)b->time_us);
	return result ? result : report_order(a->kind, b->kind);
}

static int by_row(const void *left, const void *right)
{
	const struct report_event *a = left, *b = right;
	int result = report_order((uintptr_t)a->row, (uintptr_t)b->row);
	return result ? result : compare_in_time(a, b);
}

static int by_intent(const void *left, const void *right)
{
	const struct report_event *a = left, *b = right;
	int result = report_order((uintptr_t)a->row, (uintptr_t)b->row);
	result = result ? result : report_order((uintptr_t)a->intent, (uintptr_t)b->intent);
	return result ? result : compare_in_time(a, b);
}

/* An intent ends with a success; what carries its id after that is a new one. Each is counted at its first event. */
static void count_intents(struct report *report)
{
	const struct report_event *last = NULL;
	for (size_t i = 0; i < report->event_count; i++) {
		const struct report_event *event = &report->events[i];
		bool goes_on =
		    last && last->row == event->row && last->intent == event->intent && last->kind != REPORT_SUCCEEDED;
		event->row->intents += *event->intent && !goes_on;
		last = event;
	}
}

/* Returns false without memory. */
static bool measure_recoveries(struct report *report)
{
	int64_t down_since_us = 0;
	bool good = true;
	for (size_t i = 0; good && i < report->event_count; i++) {
		const struct report_event *event = &report->events[i];
		struct report_row *row = event->row;
		if (event->kind == REPORT_SUCCEEDED) {
			if (row->is_down)
				good = report_values_add(&row->recovery_ms, (event->time_us - down_since_us) / 1000);
			if (good && event->rescued_in_ms != REPORT_UNKNOWN)
				good = report_values_add(&row->recovery_ms, event->rescued_in_ms);
			row->is_down = false;
		} else if (event->kind != REPORT_ENDED && !row->is_down) {
			down_since_us = event->time_us;
			row->is_down = true;
		}
	}
	return good;
}

static void sort(struct report *report, int (*compare)(const void *left, const void *right))
{
	if (report->event_count)
		qsort(report->events, report->event_count, sizeof(*report->events), compare);
}

bool report_follow_events(struct report *report)
{
	sort(report, by_intent);
	count_intents(report);
	sort(report, by_row);
	if (!measure_recoveries(report))
		return false;
	for (size_t i = 0; i < report->row_count; i++)
		report_row_sort(report->rows[i]);
	return true;
}
