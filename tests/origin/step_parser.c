/* SPDX-License-Identifier: MIT */
/*
 * A step's fields as a table: name, kind, where the value goes, what it may be.
 *
 * Bytes (body, raw, header values) are either a text, taken as UTF-8 with JSON's escapes, or {"hex": "0d0a…"}.
 */
#include "tests/origin/step_parser.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum field_kind {
	FIELD_NUMBER,
	FIELD_FLAG,
	FIELD_TEXT,
	FIELD_WORD,
	FIELD_BYTES,
	FIELD_HEADERS,
	FIELD_INFORMATIONAL,
	FIELD_DRIP,
	FIELD_REFUSE,
	FIELD_REPEAT
};

struct field {
	const char *name;
	enum field_kind kind;
	size_t offset;
	int64_t min, max;
	const char *const *words; /* FIELD_WORD: by value, from the enum's 0; "" for those without a name */
};

static const char *const READ_WORDS[] = {"full", "headers", "none", "accept", NULL};
static const char *const FRAMING_WORDS[] = {"", "length", "chunked", "close", "none", NULL};
static const char *const END_WORDS[] = {"", "keep", "close", "reset", "silence", NULL};
static const char *const FAULT_WORDS[] = {"", "fin", "reset", "silence", NULL};

#define BODY_BYTES_MAX  (INT64_C(1) << 40)
#define DURATION_MS_MAX INT64_C(3600000)
#define AT(member)      offsetof(struct step, member)

static const struct field FIELDS[] = {
    {"status", FIELD_NUMBER, AT(status), 100, 999, NULL},
    {"reason", FIELD_TEXT, AT(reason), 0, 0, NULL},
    {"headers", FIELD_HEADERS, AT(headers), 0, 0, NULL},
    {"body", FIELD_BYTES, AT(body), 0, 0, NULL},
    {"body_bytes", FIELD_NUMBER, AT(body_bytes), 0, BODY_BYTES_MAX, NULL},
    {"declared_bytes", FIELD_NUMBER, AT(declared_bytes), 0, BODY_BYTES_MAX, NULL},
    {"send_bytes", FIELD_NUMBER, AT(send_bytes), 0, BODY_BYTES_MAX, NULL},
    {"framing", FIELD_WORD, AT(framing), 0, 0, FRAMING_WORDS},
    {"informational", FIELD_INFORMATIONAL, 0, 0, 0, NULL},
    {"trailers", FIELD_HEADERS, AT(trailers), 0, 0, NULL},
    {"delay_ms", FIELD_NUMBER, AT(delay_ms), 0, DURATION_MS_MAX, NULL},
    {"body_delay_ms", FIELD_NUMBER, AT(body_delay_ms), 0, DURATION_MS_MAX, NULL},
    {"drip", FIELD_DRIP, 0, 0, 0, NULL},
    {"read", FIELD_WORD, AT(read), 0, 0, READ_WORDS},
    {"expect_continue", FIELD_FLAG, AT(expect_continue), 0, 0, NULL},
    {"end", FIELD_WORD, AT(end), 0, 0, END_WORDS},
    {"fault", FIELD_WORD, AT(fault), 0, 0, FAULT_WORDS},
    {"raw", FIELD_BYTES, AT(raw), 0, 0, NULL},
    {"header_cut", FIELD_NUMBER, AT(header_cut), 0, 1 << 20, NULL},
    {"echo", FIELD_FLAG, AT(echo), 0, 0, NULL},
    {"tunnel", FIELD_FLAG, AT(tunnel), 0, 0, NULL},
    {"refuse", FIELD_REFUSE, 0, 0, 0, NULL},
    {"repeat", FIELD_REPEAT, 0, 0, 0, NULL},
};

bool step_error_set(struct step_error *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->text, sizeof error->text, format, arguments);
	va_end(arguments);
	return false;
}

void step_error_prefix(struct step_error *error, const char *list, size_t index)
{
	struct step_error inner = *error;

	snprintf(error->text, sizeof error->text, "%.60s step %zu: %.160s", list, index, inner.text);
}

static bool get_number(const json_t *value, int64_t min, int64_t max, int64_t *number)
{
	if (!json_is_integer(value) || json_integer_value(value) < min || json_integer_value(value) > max)
		return false;
	*number = json_integer_value(value);
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes the digits in place: the JSON text is ours, and twice as long as its bytes. */
static bool decode_hex(const json_t *text, struct step_bytes *bytes)
{
	char *digits = (char *)(uintptr_t)json_string_value(text);
	size_t count = json_string_length(text);

	if (!digits || count % 2)
		return false;
	for (size_t i = 0; i < count; i += 2) {
		int high = hex_digit(digits[i]), low = hex_digit(digits[i + 1]);

		if (high < 0 || low < 0)
			return false;
		digits[i / 2] = (char)(high << 4 | low);
	}
	*bytes = (struct step_bytes){.data = digits, .bytes = count / 2};
	return true;
}

static bool get_bytes(const json_t *value, struct step_bytes *bytes)
{
	if (json_is_object(value) && json_object_size(value) == 1)
		return decode_hex(json_object_get(value, "hex"), bytes);
	if (!json_is_string(value))
		return false;
	*bytes = (struct step_bytes){.data = json_string_value(value), .bytes = json_string_length(value)};
	return true;
}

static bool get_word(const json_t *value, const char *const *words, int *word)
{
	const char *text = json_string_value(value);

	if (!text || !*text)
		return false;
	for (int i = 0; words[i]; i++) {
		if (strcmp(words[i], text) == 0) {
			*word = i;
			return true;
		}
	}
	return false;
}

static bool get_headers(const json_t *value, struct step_headers *headers)
{
	size_t count = json_array_size(value);

	if (!json_is_array(value) || headers->items)
		return false;
	headers->items = calloc(count + 1, sizeof *headers->items);
	if (!headers->items)
		return false;
	for (size_t i = 0; i < count; i++) {
		const json_t *pair = json_array_get(value, i);

		headers->items[i].name = json_string_value(json_array_get(pair, 0));
		if (json_array_size(pair) != 2 || !headers->items[i].name ||
		    !get_bytes(json_array_get(pair, 1), &headers->items[i].value))
			return false;
	}
	headers->count = count;
	return true;
}

static bool get_informational_block(const json_t *value, struct step_informational *block)
{
	const json_t *headers = json_object_get(value, "headers");
	const json_t *reason = json_object_get(value, "reason");

	block->reason = json_string_value(reason);
	if (!get_number(json_object_get(value, "status"), 100, 199, &block->status) || (reason && !block->reason))
		return false;
	return !headers || get_headers(headers, &block->headers);
}

static bool get_informational(const json_t *value, struct step *step)
{
	size_t count = json_array_size(value);

	if (!json_is_array(value) || step->informational)
		return false;
	step->informational = calloc(count + 1, sizeof *step->informational);
	if (!step->informational)
		return false;
	step->informational_count = count;
	for (size_t i = 0; i < count; i++) {
		if (!get_informational_block(json_array_get(value, i), &step->informational[i]))
			return false;
	}
	return true;
}

/* true: for ever; N: so many times. */
static bool get_repeat(const json_t *value, struct step *step)
{
	if (json_is_true(value)) {
		step->uses_left = STEP_UNSET;
		return true;
	}
	return get_number(value, 1, INT32_MAX, &step->uses_left);
}

static bool get_field(struct step *step, const struct field *field, const json_t *value)
{
	void *member = (char *)step + field->offset;

	switch (field->kind) {
	case FIELD_NUMBER:
		return get_number(value, field->min, field->max, member);
	case FIELD_FLAG:
		*(bool *)member = json_is_true(value);
		return json_is_boolean(value);
	case FIELD_TEXT:
		*(const char **)member = json_string_value(value);
		return json_is_string(value);
	case FIELD_WORD:
		return get_word(value, field->words, member);
	case FIELD_BYTES:
		return get_bytes(value, member);
	case FIELD_HEADERS:
		return get_headers(value, member);
	case FIELD_INFORMATIONAL:
		return get_informational(value, step);
	case FIELD_DRIP:
		return get_number(json_object_get(value, "bytes"), 1, 1 << 20, &step->drip_bytes) &&
		       get_number(json_object_get(value, "every_ms"), 0, DURATION_MS_MAX, &step->drip_every_ms);
	case FIELD_REFUSE:
		return get_number(json_object_get(value, "for_ms"), 0, DURATION_MS_MAX, &step->refuse_for_ms);
	case FIELD_REPEAT:
		return get_repeat(value, step);
	}
	return false;
}

static void set_defaults(struct step *step)
{
	step->status = 200;
	step->body_bytes = STEP_UNSET;
	step->declared_bytes = STEP_UNSET;
	step->send_bytes = STEP_UNSET;
	step->drip_bytes = STEP_UNSET;
	step->header_cut = STEP_UNSET;
	step->refuse_for_ms = STEP_UNSET;
	step->expect_continue = true;
	step->uses_left = 1;
}

static const struct field *find_field(const char *name)
{
	for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++) {
		if (strcmp(FIELDS[i].name, name) == 0)
			return &FIELDS[i];
	}
	return NULL;
}

bool step_parse(struct step *step, json_t *object, struct step_error *error)
{
	const char *name;
	json_t *value;

	set_defaults(step);
	if (!json_is_object(object))
		return step_error_set(error, "a step must be an object");
	json_object_foreach(object, name, value)
	{
		const struct field *field = find_field(name);

		if (!field)
			return step_error_set(error, "unknown field \"%s\"", name);
		if (!get_field(step, field, value))
			return step_error_set(error, "\"%s\" has a value that it can't have", name);
	}
	return true;
}

void step_free(struct step *step)
{
	for (size_t i = 0; i < step->informational_count; i++)
		free(step->informational[i].headers.items);
	free(step->informational);
	free(step->headers.items);
	free(step->trailers.items);
}
