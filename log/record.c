/* SPDX-License-Identifier: MIT */
/*
 * A record is a struct, a line is that struct walked by a table: FIELDS fixes the names, the order and which kinds of
 * record have which field. Readers may rely on the order; a new field goes where it belongs and keeps RECORD_SCHEMA.
 *
 * A line has a hard bound, so that one write() of it is never torn. The few texts of a record can be of any length;
 * when the line is too long, it is made again with a bound on each text, halved until it fits. Only texts over the
 * bound lose anything, so the longest one is shortened first.
 */
#include "log/record.h"

#include <string.h>

#include "log/calendar.h"
#include "log/json.h"

#define TEXT_BYTES_MIN 16 /* below this, shortening a text further says nothing to anybody */

enum field_type {
	FIELD_SCHEMA,
	FIELD_KIND,
	FIELD_TIME,             /* int64_t, microseconds since the epoch */
	FIELD_TEXT,             /* const char *; NULL is null */
	FIELD_INT,              /* int */
	FIELD_INT_OR_NONE,      /* int; 0 is null */
	FIELD_INT64,            /* int64_t */
	FIELD_MS,               /* int64_t; RECORD_UNKNOWN_MS is null */
	FIELD_UNSIGNED,         /* uint64_t */
	FIELD_UNSIGNED_OR_NONE, /* uint64_t; 0 is null */
	FIELD_BOOL,
	FIELD_ANSWER,   /* int, an enum record_answer; RECORD_NOT_ASKED is null */
	FIELD_JUDGEMENT /* const struct record_judgement *; NULL is null */
};

enum {
	IN_ATTEMPT = 1 << RECORD_ATTEMPT,
	IN_OPERATION = 1 << RECORD_OPERATION,
	IN_NESTED = 1 << RECORD_NESTED,
	IN_NOTE = 1 << RECORD_NOTE,
	IN_BOTH = IN_ATTEMPT | IN_OPERATION,
	IN_THREE = IN_BOTH | IN_NESTED,
	IN_ALL = IN_THREE | IN_NOTE
};

struct field {
	char name[24];
	enum field_type type;
	int kinds;
	size_t offset;
};

#define AT(member) offsetof(struct record, member)

static const struct field FIELDS[] = {
    {"schema", FIELD_SCHEMA, IN_ALL, 0},
    {"kind", FIELD_KIND, IN_ALL, AT(kind)},
    {"time", FIELD_TIME, IN_ALL, AT(time_us)},
    {"pid", FIELD_INT64, IN_ALL, AT(pid)},
    {"program", FIELD_TEXT, IN_ALL, AT(program)},
    {"job", FIELD_TEXT, IN_ALL, AT(job)},
    {"run", FIELD_TEXT, IN_ALL, AT(run)},
    {"mode", FIELD_TEXT, IN_ALL, AT(mode)},
    {"policy", FIELD_TEXT, IN_ALL, AT(policy_path)},
    {"policy_hash", FIELD_TEXT, IN_ALL, AT(policy_hash)},
    {"section", FIELD_TEXT, IN_ALL, AT(section)},
    {"libcurl_flavour", FIELD_TEXT, IN_ALL, AT(libcurl_flavour)},
    {"libcurl_version", FIELD_TEXT, IN_ALL, AT(libcurl_version)},
    {"operation", FIELD_UNSIGNED_OR_NONE, IN_ALL, AT(operation)},
    {"attempt", FIELD_INT, IN_ATTEMPT, AT(attempt)},
    {"method", FIELD_TEXT, IN_THREE, AT(method)},
    {"url", FIELD_TEXT, IN_THREE, AT(url)},
    {"owner", FIELD_TEXT, IN_THREE, AT(owner)},
    {"evidence", FIELD_TEXT, IN_THREE, AT(evidence)},
    {"intent", FIELD_TEXT, IN_THREE, AT(intent)},
    {"status", FIELD_INT_OR_NONE, IN_BOTH, AT(status)},
    {"curl_code", FIELD_INT, IN_BOTH, AT(curl_code)},
    {"curl", FIELD_TEXT, IN_BOTH, AT(curl_name)},
    {"failure", FIELD_TEXT, IN_BOTH, AT(failure)},
    {"unsent", FIELD_BOOL, IN_ATTEMPT, AT(unsent)},
    {"ambiguous", FIELD_BOOL, IN_ATTEMPT, AT(ambiguous)},
    {"dns_ms", FIELD_MS, IN_ATTEMPT, AT(dns_ms)},
    {"connect_ms", FIELD_MS, IN_ATTEMPT, AT(connect_ms)},
    {"tls_ms", FIELD_MS, IN_ATTEMPT, AT(tls_ms)},
    {"first_byte_ms", FIELD_MS, IN_ATTEMPT, AT(first_byte_ms)},
    {"total_ms", FIELD_MS, IN_ATTEMPT, AT(total_ms)},
    {"retry_after_ms", FIELD_MS, IN_ATTEMPT, AT(retry_after_ms)},
    {"upstream_attempts", FIELD_INT_OR_NONE, IN_ATTEMPT, AT(upstream_attempts)},
    {"verdict", FIELD_TEXT, IN_BOTH, AT(verdict)},
    {"reason", FIELD_TEXT, IN_BOTH, AT(reason)},
    {"wait_ms", FIELD_MS, IN_ATTEMPT, AT(wait_ms)},
    {"judged", FIELD_JUDGEMENT, IN_ATTEMPT, AT(judged)},
    {"attempts", FIELD_INT, IN_OPERATION, AT(attempts)},
    {"sends", FIELD_INT64, IN_OPERATION, AT(sends)},
    {"waited_ms", FIELD_MS, IN_OPERATION, AT(waited_ms)},
    {"elapsed_ms", FIELD_MS, IN_OPERATION, AT(elapsed_ms)},
    {"intent_operations", FIELD_INT_OR_NONE, IN_OPERATION | IN_NESTED, AT(intent_operations)},
    {"intent_sends", FIELD_INT64, IN_OPERATION | IN_NESTED, AT(intent_sends)},
    {"gap_ms", FIELD_MS, IN_NESTED, AT(gap_ms)},
    {"left_ms", FIELD_MS, IN_BOTH, AT(left_ms)},
    {"note", FIELD_TEXT, IN_NOTE, AT(note)},
    {"lost", FIELD_UNSIGNED, IN_ALL, AT(lost)},
};

#define JUDGED(member) offsetof(struct record_judgement, member)

static const struct field JUDGEMENT_FIELDS[] = {
    {"at_ms", FIELD_INT64, IN_ATTEMPT, JUDGED(at_ms)},
    {"treated_as", FIELD_TEXT, IN_ATTEMPT, JUDGED(treated_as)},
    {"conditional", FIELD_BOOL, IN_ATTEMPT, JUDGED(conditional)},
    {"has_idempotency_key", FIELD_BOOL, IN_ATTEMPT, JUDGED(has_idempotency_key)},
    {"body_replayable", FIELD_BOOL, IN_ATTEMPT, JUDGED(body_replayable)},
    {"program_timeout_ms", FIELD_MS, IN_ATTEMPT, JUDGED(program_timeout_ms)},
    {"inherited_deadline_ms", FIELD_MS, IN_ATTEMPT, JUDGED(inherited_deadline_ms)},
    {"added_limit_ms", FIELD_MS, IN_ATTEMPT, JUDGED(added_limit_ms)},
    {"prior_attempts", FIELD_INT64, IN_ATTEMPT, JUDGED(prior_attempts)},
    {"prior_ms", FIELD_INT64, IN_ATTEMPT, JUDGED(prior_ms)},
    {"status", FIELD_INT_OR_NONE, IN_ATTEMPT, JUDGED(status)},
    {"curl_code", FIELD_INT, IN_ATTEMPT, JUDGED(curl_code)},
    {"unsent", FIELD_BOOL, IN_ATTEMPT, JUDGED(unsent)},
    {"connect_status", FIELD_INT_OR_NONE, IN_ATTEMPT, JUDGED(connect_status)},
    {"os_errno", FIELD_INT_OR_NONE, IN_ATTEMPT, JUDGED(os_errno)},
    {"single", FIELD_BOOL, IN_ATTEMPT, JUDGED(single)},
    {"request_changed", FIELD_BOOL, IN_ATTEMPT, JUDGED(request_changed)},
    {"not_http", FIELD_BOOL, IN_ATTEMPT, JUDGED(not_http)},
    {"headers_complete", FIELD_BOOL, IN_ATTEMPT, JUDGED(headers_complete)},
    {"cancelled", FIELD_BOOL, IN_ATTEMPT, JUDGED(cancelled)},
    {"delivered", FIELD_BOOL, IN_ATTEMPT, JUDGED(delivered)},
    {"stop_hint", FIELD_BOOL, IN_ATTEMPT, JUDGED(stop_hint)},
    {"retry_after_beyond", FIELD_BOOL, IN_ATTEMPT, JUDGED(retry_after_beyond)},
    {"retracted", FIELD_BOOL, IN_ATTEMPT, JUDGED(retracted)},
    {"resends", FIELD_INT64, IN_ATTEMPT, JUDGED(resends)},
    {"probe", FIELD_ANSWER, IN_ATTEMPT, JUDGED(probe)},
    {"outer_retries", FIELD_ANSWER, IN_ATTEMPT, JUDGED(outer_retries)},
    {"breaker_allows", FIELD_ANSWER, IN_ATTEMPT, JUDGED(breaker_allows)},
    {"can_rewind", FIELD_ANSWER, IN_ATTEMPT, JUDGED(can_rewind)},
    {"place", FIELD_ANSWER, IN_ATTEMPT, JUDGED(place)},
    {"token", FIELD_ANSWER, IN_ATTEMPT, JUDGED(token)},
    {"expires_ms", FIELD_MS, IN_ATTEMPT, JUDGED(expires_ms)},
    {"die", FIELD_MS, IN_ATTEMPT, JUDGED(die)},
    {"drawn_ms", FIELD_MS, IN_ATTEMPT, JUDGED(drawn_ms)},
    {"millitokens", FIELD_MS, IN_ATTEMPT, JUDGED(millitokens)},
    {"breaker", FIELD_TEXT, IN_ATTEMPT, JUDGED(breaker)},
};

/* A struct and the table that it is printed by. */
struct fields {
	const struct field *rows;
	size_t count;
	const void *values;
	int kind; /* of record: rows of others are left out */
};

static void put_fields(struct bounded_text *writer, const struct fields *fields, size_t text_bytes);

static const char *const KIND_NAMES[] = {
    [RECORD_ATTEMPT] = "attempt", [RECORD_OPERATION] = "operation", [RECORD_NESTED] = "nested", [RECORD_NOTE] = "note"};

static void put_time(struct bounded_text *writer, int64_t time_us)
{
	struct calendar_time time;
	if (!calendar_from_us(time_us, &time)) {
		bounded_put_words(writer, "null");
		return;
	}
	char text[CALENDAR_RFC3339_BYTES];
	calendar_put_rfc3339(text, &time);
	bounded_put(writer, "\"", 1);
	bounded_put(writer, text, sizeof(text));
	bounded_put(writer, "\"", 1);
}

static void put_int_or_none(struct bounded_text *writer, int64_t value, int64_t none)
{
	if (value == none)
		bounded_put_words(writer, "null");
	else
		bounded_put_integer(writer, value);
}

static void put_unsigned_or_none(struct bounded_text *writer, uint64_t value)
{
	if (value)
		bounded_put_unsigned(writer, value);
	else
		bounded_put_words(writer, "null");
}

static void put_answer(struct bounded_text *writer, int answer)
{
	bounded_put_words(writer, answer == RECORD_NOT_ASKED ? "null" : answer == RECORD_YES ? "true" : "false");
}

static void put_judgement(struct bounded_text *writer, const struct record_judgement *judged, size_t text_bytes)
{
	const struct fields fields = {JUDGEMENT_FIELDS, sizeof(JUDGEMENT_FIELDS) / sizeof(JUDGEMENT_FIELDS[0]), judged,
	                              IN_ATTEMPT};
	if (judged)
		put_fields(writer, &fields, text_bytes);
	else
		bounded_put_words(writer, "null");
}

static void put_value(struct bounded_text *writer, const void *values, const struct field *field, size_t text_bytes)
{
	const void *at = (const char *)values + field->offset;
	switch (field->type) {
	case FIELD_SCHEMA:
		bounded_put_integer(writer, RECORD_SCHEMA);
		return;
	case FIELD_KIND:
		json_put_text(writer, KIND_NAMES[*(const enum record_kind *)at], text_bytes);
		return;
	case FIELD_TIME:
		put_time(writer, *(const int64_t *)at);
		return;
	case FIELD_TEXT:
		json_put_text(writer, *(const char *const *)at, text_bytes);
		return;
	case FIELD_INT:
		bounded_put_integer(writer, *(const int *)at);
		return;
	case FIELD_INT_OR_NONE:
		put_int_or_none(writer, *(const int *)at, 0);
		return;
	case FIELD_INT64:
		bounded_put_integer(writer, *(const int64_t *)at);
		return;
	case FIELD_MS:
		put_int_or_none(writer, *(const int64_t *)at, RECORD_UNKNOWN_MS);
		return;
	case FIELD_UNSIGNED:
		bounded_put_unsigned(writer, *(const uint64_t *)at);
		return;
	case FIELD_UNSIGNED_OR_NONE:
		put_unsigned_or_none(writer, *(const uint64_t *)at);
		return;
	case FIELD_BOOL:
		bounded_put_words(writer, *(const bool *)at ? "true" : "false");
		return;
	case FIELD_ANSWER:
		put_answer(writer, *(const int *)at);
		return;
	case FIELD_JUDGEMENT:
		put_judgement(writer, *(const struct record_judgement *const *)at, text_bytes);
		return;
	}
}

static void put_fields(struct bounded_text *writer, const struct fields *fields, size_t text_bytes)
{
	const char *separator = "{";
	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->rows[i];
		if (!(field->kinds & fields->kind))
			continue;
		bounded_put_words(writer, separator);
		bounded_put_words(writer, "\"");
		bounded_put_words(writer, field->name);
		bounded_put_words(writer, "\":");
		put_value(writer, fields->values, field, text_bytes);
		separator = ",";
	}
	bounded_put_words(writer, "}");
}

/* Returns the size of the line, 0 if it doesn't fit. */
static size_t format_with_texts_of(const struct record *record, size_t text_bytes, char *out)
{
	const struct fields fields = {FIELDS, sizeof(FIELDS) / sizeof(FIELDS[0]), record, 1 << record->kind};
	struct bounded_text writer = {.out = out, .capacity_bytes = RECORD_BYTES_MAX};
	put_fields(&writer, &fields, text_bytes);
	bounded_put_words(&writer, "\n");
	return writer.overflow ? 0 : writer.used_bytes;
}

size_t record_format(const struct record *record, char out[static RECORD_BYTES_MAX])
{
	if ((size_t)record->kind >= sizeof(KIND_NAMES) / sizeof(KIND_NAMES[0]))
		return 0;
	size_t line_bytes = 0;
	for (size_t text_bytes = RECORD_BYTES_MAX; text_bytes >= TEXT_BYTES_MIN && !line_bytes; text_bytes /= 2)
		line_bytes = format_with_texts_of(record, text_bytes, out);
	return line_bytes;
}
