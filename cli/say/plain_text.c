/* SPDX-License-Identifier: MIT */
#include "cli/say/plain_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define ESCAPE_BYTES 12 /* of "\\u10ffff" and its end */

/* Writes the next character as it is to be printed, and returns how many bytes of the text it takes. */
static size_t take_character(const char *text, char printed[static ESCAPE_BYTES])
{
	uint32_t point;
	size_t bytes = utf8_read(text, &point);

	if (bytes > 0 && utf8_is_plain(point)) {
		memcpy(printed, text, bytes);
		printed[bytes] = '\0';
	} else if (bytes > 0 && point > 0xff) {
		snprintf(printed, ESCAPE_BYTES, "\\u%04x", point);
	} else {
		snprintf(printed, ESCAPE_BYTES, "\\x%02x", bytes > 0 ? point : (unsigned char)*text);
	}
	return bytes > 0 ? bytes : 1;
}

static bool is_plain(const char *text)
{
	while (*text) {
		uint32_t point;
		size_t bytes = utf8_read(text, &point);
		if (bytes == 0 || !utf8_is_plain(point))
			return false;
		text += bytes;
	}
	return true;
}

void plain_text_put(FILE *out, const char *text)
{
	while (*text) {
		char printed[ESCAPE_BYTES];
		text += take_character(text, printed);
		fputs(printed, out);
	}
}

/* Kept until the end: there are few, and nobody else would know when to free them. */
struct copy {
	struct copy *next;
	char text[];
};

const char *plain_text(const char *text)
{
	static struct copy *copies;
	if (!text || is_plain(text))
		return text;
	struct copy *copy = malloc(sizeof(*copy) + strlen(text) * (ESCAPE_BYTES - 1) + 1);
	if (!copy)
		return "?";
	char *end = copy->text;
	while (*text) {
		text += take_character(text, end);
		end += strlen(end);
	}
	copy->next = copies;
	copies = copy;
	return copy->text;
}

void plain_text_put_duration(FILE *out, long long ms)
{
	if (ms < 1000)
		fprintf(out, "%lld ms", ms);
	else if (ms % 1000 == 0)
		fprintf(out, "%lld s", ms / 1000);
	else
		fprintf(out, "%lld.%03lld s", ms / 1000, ms % 1000);
}
