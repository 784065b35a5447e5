/* SPDX-License-Identifier: MIT */
/*
 * A log can have millions of records, so what is kept of one is small: numbers, and texts that are stored once. Anybody
 * may have written the file: numbers are bounded, so that no sum of them overflows.
 */
#include <ctype.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/log/report.h"
#include "cli/say/time.h"

#define ORIGIN_BYTES 1024 /* a record's redacted URL is shorter */
#define NUMBER_MAX   INT64_C(1000000000000)

static int compare_texts(const void *left, const void *right)
{
	return strcmp(left, right);
}

static const char *intern(struct report_records *records, const char *text)
{
	if (!*text)
		return "";
	const char **found = tsearch(text, &records->texts, compare_texts);
	if (found && *found != text)
		return *found;
	const char *kept = found ? strdup(text) : NULL;
	if (kept)
		*found = kept;
	else if (found)
		tdelete(text, &records->texts, compare_texts);
	records->is_out_of_memory |= !kept;
	return kept ? kept : "";
}

static const char *interned(struct report_records *records, const json_t *record, const char *name)
{
	return intern(records, record_text(record, name));
}

static bool ends_with(const char *text, size_t bytes, const char *end)
{
	size_t end_bytes = strlen(end);
	return bytes >= end_bytes && memcmp(text + bytes - end_bytes, end, end_bytes) == 0;
}

/* scheme://host[:port], in lower case, without the port that goes without saying; "?" for a URL that isn't known. */
static const char *origin_of(struct report_records *records, const char *url)
{
	char origin[ORIGIN_BYTES];
	const char *authority = strstr(url, "://");
	size_t bytes = authority ? (size_t)(authority - url) + 3 : 0;
	bytes += strcspn(url + bytes, "/?#");
	if (bytes == 0 || bytes >= sizeof(origin))
		return "?";
	for (size_t i = 0; i < bytes; i++)
		origin[i] = (char)tolower((unsigned char)url[i]);
	if (strncmp(origin, "http://", 7) == 0 && ends_with(origin, bytes, ":80"))
		bytes -= 3;
	else if (strncmp(origin, "https://", 8) == 0 && ends_with(origin, bytes, ":443"))
		bytes -= 4;
	origin[bytes] = '\0';
	return intern(records, origin);
}

/* A number that is there and makes sense, REPORT_UNKNOWN otherwise. */
static int64_t number_of(const json_t *record, const char *name)
{
	const json_t *value = json_object_get(record, name);
	int64_t number = json_is_integer(value) ? json_integer_value(value) : REPORT_UNKNOWN;
	if (number < 0)
		return REPORT_UNKNOWN;
	return number < NUMBER_MAX ? number : NUMBER_MAX;
}

static int64_t number_or_0(const json_t *record, const char *name)
{
	int64_t number = number_of(record, name);
	return number == REPORT_UNKNOWN ? 0 : number;
}

static bool says(const json_t *record, const char *name, const char *word)
{
	return strcmp(record_text(record, name), word) == 0;
}

static enum report_kind kind_of(const json_t *record)
{
	if (says(record, "kind", "operation"))
		return REPORT_OPERATION;
	if (says(record, "kind", "note"))
		return REPORT_NOTE;
	return says(record, "kind", "nested") ? REPORT_NESTED : REPORT_ATTEMPT;
}

static void take_texts(struct report_records *records, const json_t *record, struct report_record *taken)
{
	taken->program = interned(records, record, "program");
	taken->job = interned(records, record, "job");
	taken->run = interned(records, record, "run");
	taken->origin = origin_of(records, record_text(record, "url"));
	taken->owner = interned(records, record, "owner");
	taken->evidence = interned(records, record, "evidence");
	taken->intent = interned(records, record, "intent");
	taken->failure = interned(records, record, "failure");
	taken->reason = interned(records, record, "reason");
}

static void take_numbers(const json_t *record, struct report_record *taken)
{
	taken->lost = number_or_0(record, "lost");
	taken->pid = number_or_0(record, "pid");
	taken->operation = number_or_0(record, "operation");
	taken->status = number_or_0(record, "status");
	taken->curl_code = number_or_0(record, "curl_code");
	taken->attempt = number_or_0(record, "attempt");
	taken->upstream_attempts = number_or_0(record, "upstream_attempts");
	taken->attempts = number_of(record, "attempts");
	taken->sends = number_of(record, "sends");
	taken->elapsed_ms = number_of(record, "elapsed_ms");
	taken->wait_ms = number_of(record, "wait_ms");
	taken->retry_after_ms = number_of(record, "retry_after_ms");
}

static void take(struct report_records *records, const json_t *record)
{
	struct report_record taken = {
	    .kind = kind_of(record),
	    .is_audit = says(record, "mode", "audit"),
	    .is_retry = says(record, "verdict", "retry"),
	    .unsent = json_is_true(json_object_get(record, "unsent")),
	    .ambiguous = json_is_true(json_object_get(record, "ambiguous")),
	    .time_us = records->time_us,
	    .number = records->count,
	};
	take_texts(records, record, &taken);
	take_numbers(record, &taken);
	if (array_make_room(&records->records, records->count, sizeof(taken)))
		records->records[records->count++] = taken;
	else
		records->is_out_of_memory = true;
}

void report_take(void *context, json_t *record)
{
	struct report_records *records = context;
	int64_t time_us;
	if (records->is_out_of_memory)
		return;
	/* One without a time stays where it stands. */
	if (say_time_read(record_text(record, "time"), &time_us))
		records->time_us = time_us;
	records->lost += number_or_0(record, "lost");
	take(records, record);
}

void report_records_free(struct report_records *records)
{
	tdestroy(records->texts, free);
	free(records->records);
}
