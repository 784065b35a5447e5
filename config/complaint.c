/* SPDX-License-Identifier: MIT */
#include "config/complaint.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATH_SHOWN_BYTES 120
#define TEXT_SHOWN_BYTES 60

/* A line that is being put together; what doesn't fit is cut. */
struct text {
	char *bytes;
	size_t size;
	size_t used;
};

static char printable(char c)
{
	return c >= ' ' && c <= '~' ? c : '?';
}

static void append_byte(struct text *text, char c)
{
	if (text->used + 1 < text->size)
		text->bytes[text->used++] = printable(c);
	text->bytes[text->used] = '\0';
}

static void append(struct text *text, const char *added)
{
	for (; *added != '\0'; added++)
		append_byte(text, *added);
}

static void append_shortened(struct text *text, const char *added)
{
	for (size_t i = 0; added[i] != '\0'; i++) {
		if (i == TEXT_SHOWN_BYTES) {
			append(text, "...");
			return;
		}
		append_byte(text, added[i]);
	}
}

/* The end of a path tells more than its beginning. */
static void append_path(struct text *text, const char *path)
{
	size_t length = strlen(path);

	if (length > PATH_SHOWN_BYTES) {
		append(text, "...");
		path += length - PATH_SHOWN_BYTES;
	}
	append(text, path);
}

static void append_line_number(struct text *text, uint32_t line)
{
	char number[16];

	snprintf(number, sizeof number, ":%u", (unsigned)line);
	append(text, number);
}

static void append_place(struct text *text, const struct complaint_place *place)
{
	if (place->path != NULL) {
		append_path(text, place->path);
		if (place->line != 0)
			append_line_number(text, place->line);
		append(text, ": ");
	}
	if (place->section != NULL) {
		append(text, place->is_upstream ? "[upstream " : "[");
		append_shortened(text, place->section);
		append(text, "]");
		append(text, place->key != NULL ? " " : ": ");
	}
	if (place->key != NULL) {
		append_shortened(text, place->key);
		append(text, " =");
		if (place->value != NULL && place->value[0] != '\0') {
			append(text, " ");
			append_shortened(text, place->value);
		}
		append(text, ": ");
	}
}

void complain(struct policy_error *error, const struct complaint_place *place, const char *format, ...)
{
	struct text text = {.bytes = error->text, .size = sizeof error->text};
	va_list arguments;

	/* In place: whoever complains may have little stack left. */
	text.bytes[0] = '\0';
	append_place(&text, place);
	va_start(arguments, format);
	vsnprintf(text.bytes + text.used, text.size - text.used, format, arguments);
	va_end(arguments);
	for (char *at = text.bytes + text.used; *at != '\0'; at++)
		*at = printable(*at);
	error->is_passing = false;
}

void complain_of_memory(struct policy_error *error, const char *path)
{
	const struct complaint_place place = {.path = path};

	complain(error, &place, "there is no memory to read it");
	error->is_passing = true;
}
