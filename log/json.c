/* SPDX-License-Identifier: MIT */
#include "log/json.h"

#include <string.h>

#include "base/utf8.h"

/* U+2026, in place of what was cut off. */
static const char ELLIPSIS[] = "\xe2\x80\xa6";
#define ELLIPSIS_BYTES (sizeof(ELLIPSIS) - 1)

/* The longest form one character takes: \u001b. */
#define PIECE_BYTES_MAX 6

void json_put_raw(struct json_writer *writer, const char *bytes, size_t byte_count)
{
	if (writer->overflow || byte_count > writer->capacity_bytes - writer->used_bytes) {
		writer->overflow = true;
		return;
	}
	memcpy(writer->out + writer->used_bytes, bytes, byte_count);
	writer->used_bytes += byte_count;
}

void json_put_unsigned(struct json_writer *writer, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);
	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	json_put_raw(writer, digits + at, sizeof(digits) - at);
}

void json_put_integer(struct json_writer *writer, int64_t value)
{
	if (value >= 0) {
		json_put_unsigned(writer, (uint64_t)value);
		return;
	}
	json_put_raw(writer, "-", 1);
	json_put_unsigned(writer, 0 - (uint64_t)value);
}

static size_t put_unicode_escape(uint32_t code_point, char piece[PIECE_BYTES_MAX])
{
	static const char HEX[] = "0123456789abcdef";
	piece[0] = '\\';
	piece[1] = 'u';
	for (int i = 0; i < 4; i++)
		piece[2 + i] = HEX[code_point >> (12 - 4 * i) & 15];
	return 6;
}

/* Escapes the character at *text, moves *text behind it, returns the size of its escaped form. */
static size_t escape_next(const unsigned char **text, char piece[PIECE_BYTES_MAX])
{
	unsigned char byte = **text;
	if (byte == '"' || byte == '\\') {
		piece[0] = '\\';
		piece[1] = (char)byte;
		++*text;
		return 2;
	}

	uint32_t point;
	size_t length = utf8_read((const char *)*text, &point);
	if (!length) {
		++*text;
		return put_unicode_escape(0xfffd, piece);
	}
	memcpy(piece, *text, length);
	*text += length;
	/* Controls are orders to a terminal, $ and ` to a shell, and writing that turns round is another text to its
	 * reader. */
	bool is_order = !utf8_is_plain(point) || point == '$' || point == '`';
	return is_order ? put_unicode_escape(point, piece) : length;
}

static bool escapes_within(const char *text, size_t limit_bytes)
{
	const unsigned char *at = (const unsigned char *)text;
	char piece[PIECE_BYTES_MAX];
	size_t bytes = 0;
	while (*at) {
		bytes += escape_next(&at, piece);
		if (bytes > limit_bytes)
			return false;
	}
	return true;
}

void json_put_text(struct json_writer *writer, const char *text, size_t limit_bytes)
{
	if (!text) {
		json_put_raw(writer, "null", 4);
		return;
	}
	bool whole = escapes_within(text, limit_bytes);
	size_t room = whole ? limit_bytes : limit_bytes > ELLIPSIS_BYTES ? limit_bytes - ELLIPSIS_BYTES : 0;

	json_put_raw(writer, "\"", 1);
	const unsigned char *at = (const unsigned char *)text;
	while (*at && !writer->overflow) {
		char piece[PIECE_BYTES_MAX];
		size_t bytes = escape_next(&at, piece);
		if (bytes > room)
			break;
		room -= bytes;
		json_put_raw(writer, piece, bytes);
	}
	if (!whole)
		json_put_raw(writer, ELLIPSIS, ELLIPSIS_BYTES);
	json_put_raw(writer, "\"", 1);
}
