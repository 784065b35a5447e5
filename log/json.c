/* SPDX-License-Identifier: MIT */
#include "log/json.h"

#include <string.h>

#include "base/utf8.h"

/* U+2026, in place of what was cut off. */
static const char ELLIPSIS[] = "\xe2\x80\xa6";
#define ELLIPSIS_BYTES (sizeof(ELLIPSIS) - 1)

/* The longest form one character takes: \u001b. */
#define PIECE_BYTES_MAX 6

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

void json_put_text(struct bounded_text *writer, const char *text, size_t limit_bytes)
{
	if (!text) {
		bounded_put(writer, "null", 4);
		return;
	}
	bool whole = escapes_within(text, limit_bytes);
	size_t room = whole ? limit_bytes : limit_bytes > ELLIPSIS_BYTES ? limit_bytes - ELLIPSIS_BYTES : 0;

	bounded_put(writer, "\"", 1);
	const unsigned char *at = (const unsigned char *)text;
	while (*at && !writer->overflow) {
		char piece[PIECE_BYTES_MAX];
		size_t bytes = escape_next(&at, piece);
		if (bytes > room)
			break;
		room -= bytes;
		bounded_put(writer, piece, bytes);
	}
	if (!whole)
		bounded_put(writer, ELLIPSIS, ELLIPSIS_BYTES);
	bounded_put(writer, "\"", 1);
}
