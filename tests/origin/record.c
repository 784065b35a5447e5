/* SPDX-License-Identifier: MIT */
#include "tests/origin/record.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/origin/clock.h"

/* Consumes `event`. The lock keeps events apart where the record is a pipe, which may take long ones in parts. */
static void write_event(struct record *record, json_t *event)
{
	char *text = event ? json_dumps(event, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	size_t left = text ? strlen(text) + 1 : 0;

	if (text)
		text[left - 1] = '\n';
	pthread_mutex_lock(&record->lock);
	for (const char *next = text; left > 0;) {
		ssize_t written = write(record->fd, next, left);

		if (written <= 0)
			break;
		next += written;
		left -= (size_t)written;
	}
	pthread_mutex_unlock(&record->lock);
	free(text);
	json_decref(event);
}

static json_t *hex_of(const char *bytes, size_t byte_count)
{
	static const char DIGITS[] = "0123456789abcdef";
	char *text = malloc(byte_count * 2 + 1);
	json_t *value;

	if (!text)
		return json_null();
	for (size_t i = 0; i < byte_count; i++) {
		text[2 * i] = DIGITS[(unsigned char)bytes[i] >> 4];
		text[2 * i + 1] = DIGITS[(unsigned char)bytes[i] & 15];
	}
	value = json_stringn_nocheck(text, byte_count * 2);
	free(text);
	return value;
}

static json_t *new_event(const char *name, int64_t connection, int64_t time_us)
{
	return json_pack("{s:s, s:I, s:I}", "event", name, "connection", (json_int_t)connection, "us",
	                 (json_int_t)time_us);
}

static void set_number(json_t *event, const char *name, int64_t number)
{
	json_object_set_new(event, name, json_integer(number));
}

static void set_text(json_t *event, const char *name, const char *text)
{
	json_object_set_new(event, name, text ? json_string_nocheck(text) : json_null());
}

void record_accepted(struct record *record, int64_t connection, int64_t time_us)
{
	write_event(record, new_event("accepted", connection, time_us));
}

static void set_body(json_t *event, const struct request *request)
{
	set_number(event, "body_us", request->body_us);
	set_number(event, "body_bytes", request->body_bytes);
	json_object_set_new(event, "body_hex", hex_of(request->body.data, request->body.bytes));
}

void record_request(struct record *record, int64_t connection, const struct request *request)
{
	json_t *event = new_event("request", connection, request->first_byte_us);

	set_number(event, "request", request->number);
	set_number(event, "on_connection", request->on_connection);
	set_number(event, "head_us", request->head_us);
	set_text(event, "method", request->method);
	set_text(event, "target", request->target);
	json_object_set_new(event, "head_hex", hex_of(request->head.data, request->head.bytes));
	json_object_set_new(event, "body_read", json_boolean(request->body_read));
	set_body(event, request);
	write_event(record, event);
}

void record_late_body(struct record *record, int64_t connection, const struct request *request)
{
	json_t *event = new_event("late_body", connection, request->body_us);

	set_number(event, "request", request->number);
	set_body(event, request);
	write_event(record, event);
}

static const char *name_of_result(enum wire_result result)
{
	static const char *const NAMES[] = {"sent", "peer_closed", "peer_reset", "stopping"};

	return NAMES[result];
}

void record_answered(struct record *record, int64_t connection, int64_t request_number,
                     const struct record_answer *answer)
{
	json_t *event = new_event("answered", connection, answer->started_us);

	set_number(event, "request", request_number);
	set_number(event, "ended_us", answer->ended_us);
	set_number(event, "status", answer->status);
	set_number(event, "sent_bytes", answer->sent_bytes);
	set_text(event, "end", answer->end);
	set_text(event, "list", answer->list);
	set_number(event, "step", answer->step);
	set_text(event, "how", name_of_result(answer->how));
	write_event(record, event);
}

void record_closed(struct record *record, int64_t connection, const char *by)
{
	json_t *event = new_event("closed", connection, clock_us());

	set_text(event, "by", by);
	write_event(record, event);
}

void record_tunnel(struct record *record, int64_t connection, const char *target, int64_t up_bytes, int64_t down_bytes)
{
	json_t *event = new_event("tunnel", connection, clock_us());

	set_text(event, "target", target);
	set_number(event, "up_bytes", up_bytes);
	set_number(event, "down_bytes", down_bytes);
	write_event(record, event);
}
