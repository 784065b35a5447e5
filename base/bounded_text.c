/* SPDX-License-Identifier: MIT */
#include "base/bounded_text.h"

#include <string.h>

static size_t room_bytes(const struct bounded_text *text)
{
	return text->capacity_bytes - text->used_bytes;
}

static void copy(struct bounded_text *text, const char *bytes, size_t count_bytes)
{
	memcpy(text->out + text->used_bytes, bytes, count_bytes);
	text->used_bytes += count_bytes;
}

void bounded_put(struct bounded_text *text, const char *bytes, size_t count_bytes)
{
	text->overflow = text->overflow || count_bytes > room_bytes(text);
	if (!text->overflow)
		copy(text, bytes, count_bytes);
}

void bounded_put_words(struct bounded_text *text, const char *words)
{
	bounded_put(text, words, strlen(words));
}

void bounded_put_unsigned(struct bounded_text *text, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	bounded_put(text, digits + at, sizeof(digits) - at);
}

void bounded_put_integer(struct bounded_text *text, int64_t value)
{
	if (value < 0)
		bounded_put(text, "-", 1);
	bounded_put_unsigned(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void bounded_append(struct bounded_text *text, const char *words)
{
	size_t all_bytes = strlen(words), bytes = all_bytes < room_bytes(text) ? all_bytes : room_bytes(text);

	copy(text, words, bytes);
	text->overflow = text->overflow || bytes < all_bytes;
}
