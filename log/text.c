/* SPDX-License-Identifier: MIT */
#include "log/text.h"

#include <string.h>

#include "base/bounded_text.h"
#include "base/utf8.h"
#include "log/calendar.h"

#define TEXT_BYTES_LIMIT    1024
#define SECONDS_BYTES       19 /* 2026-01-02T03:04:05 */
#define HTTP_RETURNED_ERROR 22 /* CURLE_HTTP_RETURNED_ERROR: FAILONERROR made a failure of a status */

/* A text that somebody else chose: what a terminal would obey becomes a question mark. */
static void put_plain(struct bounded_text *line, const char *text)
{
	const char *end = text + TEXT_BYTES_LIMIT;
	while (*text && text < end) {
		uint32_t point;
		size_t length = utf8_read(text, &point);
		if (length && utf8_is_plain(point))
			bounded_put(line, text, length);
		else
			bounded_put_words(line, "?");
		text += length ? length : 1;
	}
	if (*text)
		bounded_put_words(line, "...");
}

static void put_duration(struct bounded_text *line, int64_t duration_ms)
{
	char thousandths[3];
	if (duration_ms < 1000) {
		bounded_put_integer(line, duration_ms);
		bounded_put_words(line, " ms");
		return;
	}
	calendar_put_digits(thousandths, (int)(duration_ms % 1000), 3);
	bounded_put_integer(line, duration_ms / 1000);
	bounded_put_words(line, ".");
	bounded_put(line, thousandths, sizeof(thousandths));
	bounded_put_words(line, " s");
}

static void put_count(struct bounded_text *line, int64_t count, const char *noun)
{
	bounded_put_integer(line, count);
	bounded_put_words(line, " ");
	bounded_put_words(line, noun);
	if (count != 1)
		bounded_put_words(line, "s");
}

static void put_who(struct bounded_text *line, const struct record *record)
{
	struct calendar_time time;
	char text[CALENDAR_RFC3339_BYTES];
	bounded_put_words(line, "tenacurl: ");
	if (calendar_from_us(record->time_us, &time)) {
		calendar_put_rfc3339(text, &time);
		bounded_put(line, text, SECONDS_BYTES);
		bounded_put_words(line, "Z ");
	}
	put_plain(line, record->program ? record->program : "?");
	bounded_put_words(line, "[");
	bounded_put_integer(line, record->pid);
	bounded_put_words(line, record->mode && strcmp(record->mode, "audit") == 0 ? "] audit" : "]");
}

/* The status, or the name of the curl code where the transfer itself failed. */
static void put_result(struct bounded_text *line, const struct record *record)
{
	bool is_status = record->status != 0 && (record->curl_code == 0 || record->curl_code == HTTP_RETURNED_ERROR);
	if (is_status)
		bounded_put_integer(line, record->status);
	else
		bounded_put_words(line, record->curl_code != 0 && record->curl_name ? record->curl_name : "-");
}

static void put_attempt(struct bounded_text *line, const struct record *record)
{
	bounded_put_words(line, "attempt ");
	bounded_put_integer(line, record->attempt);
	bounded_put_words(line, ": ");
	put_result(line, record);
	bounded_put_words(line, ", ");
	bounded_put_words(line, record->verdict ? record->verdict : "?");
	if (record->wait_ms != RECORD_UNKNOWN_MS) {
		bounded_put_words(line, " in ");
		put_duration(line, record->wait_ms);
	}
	bounded_put_words(line, ": ");
	bounded_put_words(line, record->reason ? record->reason : "?");
	if (record->ambiguous)
		bounded_put_words(line, ", may have been executed");
}

static void put_operation(struct bounded_text *line, const struct record *record)
{
	bool is_audit = record->mode && strcmp(record->mode, "audit") == 0;
	put_result(line, record);
	bounded_put_words(line, " after ");
	put_count(line, record->attempts, "attempt");
	bounded_put_words(line, " in ");
	put_duration(line, record->elapsed_ms);
	if (record->waited_ms > 0) {
		bounded_put_words(line, is_audit ? " (would have waited " : " (waited ");
		put_duration(line, record->waited_ms);
		bounded_put_words(line, ")");
	}
	bounded_put_words(line, ": ");
	bounded_put_words(line, record->reason ? record->reason : "?");
}

static void put_return(struct bounded_text *line, const struct record *record)
{
	bounded_put_words(line, "came back after ");
	put_duration(line, record->gap_ms);
	bounded_put_words(line, ": operation ");
	bounded_put_integer(line, record->intent_operations);
	bounded_put_words(line, " of intent ");
	bounded_put_words(line, record->intent ? record->intent : "?");
}

static void put_what(struct bounded_text *line, const struct record *record)
{
	switch (record->kind) {
	case RECORD_ATTEMPT:
		put_attempt(line, record);
		return;
	case RECORD_OPERATION:
		put_operation(line, record);
		return;
	case RECORD_NESTED:
		put_return(line, record);
		return;
	case RECORD_NOTE:
		put_plain(line, record->note ? record->note : "");
		return;
	}
}

size_t record_format_text(const struct record *record, char out[static RECORD_BYTES_MAX])
{
	struct bounded_text line = {.out = out, .capacity_bytes = RECORD_BYTES_MAX};
	put_who(&line, record);
	if (record->kind != RECORD_NOTE) {
		bounded_put_words(&line, " ");
		put_plain(&line, record->method ? record->method : "?");
		bounded_put_words(&line, " ");
		put_plain(&line, record->url ? record->url : "?");
	}
	bounded_put_words(&line, ": ");
	put_what(&line, record);
	if (record->lost > 0) {
		bounded_put_words(&line, " (");
		put_count(&line, (int64_t)record->lost, "record");
		bounded_put_words(&line, " before this could not be written)");
	}
	bounded_put_words(&line, "\n");
	return line.overflow ? 0 : line.used_bytes;
}
