/* SPDX-License-Identifier: MIT */

#include "engine/request_field.h"

#define LINE_ENDS "\r\n"
/* What libcurl passes over behind the colon: newer ones blanks, older ones all that isspace() of the C locale does. */
#define SPACES " \t\r\n\v\f"

struct span request_field_text(const char *entry)
{
	const char *colon = strchr(entry, ':');
	size_t name_bytes = strcspn(entry, ":;");
	struct span nothing = {NULL, 0};

	if (name_bytes == 0)
		return nothing;
	if (!colon)
		return strcmp(entry + name_bytes, ";") == 0 ? (struct span){entry, name_bytes} : nothing;
	return colon[1 + strspn(colon + 1, SPACES)] ? (struct span){entry, strlen(entry)} : nothing;
}

static bool is_line_end(char c)
{
	return c == '\r' || c == '\n';
}

/* A line that begins with a blank continues the one before (obs-fold, RFC 9112 §5.2). */
static bool cut_continuation(struct span *rest, struct span *line)
{
	while (rest->bytes > 0 && is_line_end(rest->text[0]))
		*rest = span_after(*rest, 1);
	if (rest->bytes == 0 || !ascii_is_blank(rest->text[0]))
		return false;
	*line = span_cut(rest, LINE_ENDS);
	return true;
}

bool request_field_next(struct span *rest, struct request_field *field)
{
	struct span more, line;

	while (rest->bytes > 0 && is_line_end(rest->text[0]))
		*rest = span_after(*rest, 1);
	if (rest->bytes == 0)
		return false;
	line = span_cut(rest, LINE_ENDS);
	while (cut_continuation(rest, &more))
		line.bytes = (size_t)(more.text + more.bytes - line.text);
	field->name = span_trimmed(span_cut(&line, ":"));
	field->value = span_trimmed(line);
	return true;
}

bool request_field_has_value(const struct request_field *field)
{
	size_t bytes = span_until(field->value, LINE_ENDS);

	for (size_t i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)field->value.text[i];
		if (c > ' ' && c != 0x7f && c != '"')
			return true;
	}
	return false;
}

static bool begins_with_word(struct span name, const char *word)
{
	for (size_t i = 0; word[i]; i++) {
		if (i == name.bytes)
			return false;
		char c = name.text[i] == '_' ? '-' : ascii_lower(name.text[i]);
		if (c != word[i])
			return false;
	}
	return true;
}

bool request_name_contains(struct span name, const char *word)
{
	for (; name.bytes > 0; name = span_after(name, 1))
		if (begins_with_word(name, word))
			return true;
	return false;
}
