/* SPDX-License-Identifier: MIT */
#include "config/complaint.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bounded_text.h"

#define PATH_SHOWN_BYTES 120
#define TEXT_SHOWN_BYTES 60

static void append_shortened(struct bounded_text *text, const char *added)
{
	char shown[TEXT_SHOWN_BYTES + 1];
	size_t length = strnlen(added, TEXT_SHOWN_BYTES);

	memcpy(shown, added, length);
	shown[length] = '\0';
	bounded_append(text, shown);
	if (added[length] != '\0')
		bounded_append(text, "...");
}

/* The end of a path tells more than its beginning. */
static void append_path(struct bounded_text *text, const char *path)
{
	size_t length = strlen(path);

	if (length > PATH_SHOWN_BYTES) {
		bounded_append(text, "...");
		path += length - PATH_SHOWN_BYTES;
	}
	bounded_append(text, path);
}

static void append_line_number(struct bounded_text *text, uint32_t line)
{
	char number[16];

	snprintf(number, sizeof number, ":%u", (unsigned)line);
	bounded_append(text, number);
}

static void append_place(struct bounded_text *text, const struct complaint_place *place)
{
	if (place->path != NULL) {
		append_path(text, place->path);
		if (place->line != 0)
			append_line_number(text, place->line);
		bounded_append(text, ": ");
	}
	if (place->section != NULL) {
		bounded_append(text, place->is_upstream ? "[upstream " : "[");
		append_shortened(text, place->section);
		bounded_append(text, "]");
		bounded_append(text, place->key != NULL ? " " : ": ");
	}
	if (place->key != NULL) {
		append_shortened(text, place->key);
		bounded_append(text, " =");
		if (place->value != NULL && place->value[0] != '\0') {
			bounded_append(text, " ");
			append_shortened(text, place->value);
		}
		bounded_append(text, ": ");
	}
}

void complain(struct policy_error *error, const struct complaint_place *place, const char *format, ...)
{
	struct bounded_text text = {.out = error->text, .capacity_bytes = sizeof error->text - 1};
	va_list arguments;

	/* In place: whoever complains may have little stack left. */
	append_place(&text, place);
	va_start(arguments, format);
	vsnprintf(text.out + text.used_bytes, sizeof error->text - text.used_bytes, format, arguments);
	va_end(arguments);
	for (char *at = error->text; *at != '\0'; at++)
		*at = *at >= ' ' && *at <= '~' ? *at : '?';
	error->is_passing = false;
}

void complain_of_memory(struct policy_error *error, const char *path)
{
	const struct complaint_place place = {.path = path};

	complain(error, &place, "there is no memory to read it");
	error->is_passing = true;
}
