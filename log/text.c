/* SPDX-License-Identifier: MIT */
#include "log/text.h"

#include <string.h>

#include "base/utf8.h"
#include "log/calendar.h"
#include "log/json.h"

#define TEXT_BYTES_LIMIT    1024
#define SECONDS_BYTES       19 /* 2026-01-02T03:04:05 */
#define HTTP_RETURNED_ERROR 22 /* CURLE_HTTP_RETURNED_ERROR: FAILONERROR made a failure of a status */

static void put(struct json_writer *line, const char *words)
{
	json_put_raw(line, words, strlen(words));
}

/* A text that somebody else chose: what a terminal would obey becomes a question mark. */
static void put_plain(struct json_writer *line, const char *text)
{
	const char *end = text + TEXT_BYTES_LIMIT;
	while (*text && text < end) {
		uint32_t point;
		size_t length = utf8_read(text, &point);
		if (length && utf8_is_plain(point))
			json_put_raw(line, text, length);
		else
			put(line, "?");
		text += length ? length : 1;
	}
	if (*text)
		put(line, "...");
}

static void put_duration(struct json_writer *line, int64_t duration_ms)
{
	char thousandths[3];
	if (duration_ms < 1000) {
		json_put_integer(line, duration_ms);
		put(line, " ms");
		return;
	}
	calendar_put_digits(thousandths, (int)(duration_ms % 1000), 3);
	json_put_integer(line, duration_ms / 1000);
	put(line, ".");
	json_put_raw(line, thousandths, sizeof(thousandths));
	put(line, " s");
}

static void put_count(struct json_writer *line, int64_t count, const char *noun)
{
	json_put_integer(line, count);
	put(line, " ");
	put(line, noun);
	if (count != 1)
		put(line, "s");
}

static void put_who(struct json_writer *line, const struct record *record)
{
	struct calendar_time time;
	char text[CALENDAR_RFC3339_BYTES];
	put(line, "tenacurl: ");
	if (calendar_from_us(record->time_us, &time)) {
		calendar_put_rfc3339(text, &time);
		json_put_raw(line, text, SECONDS_BYTES);
		put(line, "Z ");
	}
	put_plain(line, record->program ? record->program : "?");
	put(line, "[");
	json_put_integer(line, record->pid);
	put(line, record->mode && strcmp(record->mode, "audit") == 0 ? "] audit" : "]");
}

/* The status, or the name of the curl code where the transfer itself failed. */
static void put_result(struct json_writer *line, const struct record *record)
{
	bool is_status = record->status != 0 && (record->curl_code == 0 || record->curl_code == HTTP_RETURNED_ERROR);
	if (is_status)
		json_put_integer(line, record->status);
	else
		put(line, record->curl_code != 0 && record->curl_name ? record->curl_name : "-");
}

static void put_attempt(struct json_writer *line, const struct record *record)
{
	put(line, "attempt ");
	json_put_integer(line, record->attempt);
	put(line, ": ");
	put_result(line, record);
	put(line, ", ");
	put(line, record->verdict ? record->verdict : "?");
	if (record->wait_ms != RECORD_UNKNOWN_MS) {
		put(line, " in ");
		put_duration(line, record->wait_ms);
	}
	put(line, ": ");
	put(line, record->reason ? record->reason : "?");
	if (record->ambiguous)
		put(line, ", may have been executed");
}

static void put_operation(struct json_writer *line, const struct record *record)
{
	bool is_audit = record->mode && strcmp(record->mode, "audit") == 0;
	put_result(line, record);
	put(line, " after ");
	put_count(line, record->attempts, "attempt");
	put(line, " in ");
	put_duration(line, record->elapsed_ms);
	if (record->waited_ms > 0) {
		put(line, is_audit ? " (would have waited " : " (waited ");
		put_duration(line, record->waited_ms);
		put(line, ")");
	}
	put(line, ": ");
	put(line, record->reason ? record->reason : "?");
}

static void put_return(struct json_writer *line, const struct record *record)
{
	put(line, "came back after ");
	put_duration(line, record->gap_ms);
	put(line, ": operation ");
	json_put_integer(line, record->intent_operations);
	put(line, " of intent ");
	put(line, record->intent ? record->intent : "?");
}

static void put_what(struct json_writer *line, const struct record *record)
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
	struct json_writer line = {.out = out, .capacity_bytes = RECORD_BYTES_MAX};
	put_who(&line, record);
	if (record->kind != RECORD_NOTE) {
		put(&line, " ");
		put_plain(&line, record->method ? record->method : "?");
		put(&line, " ");
		put_plain(&line, record->url ? record->url : "?");
	}
	put(&line, ": ");
	put_what(&line, record);
	if (record->lost > 0) {
		put(&line, " (");
		put_count(&line, (int64_t)record->lost, "record");
		put(&line, " before this could not be written)");
	}
	put(&line, "\n");
	return line.overflow ? 0 : line.used_bytes;
}
