/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_VARIABLE_H
#define TENACURL_CONFIG_VARIABLE_H

/*
 * How the text of an environment variable is read: in the preloaded object, in the audit modules, which have no C
 * library, and in the command line tool alike.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/ascii.h"

/* A part of a text. */
struct variable_span {
	const char *bytes;
	size_t count;
};

static inline bool variable_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/*
 * What is meant by a value: itself without the blanks around it and without pairs of quotes, which a shell would have
 * taken away, but files of variables keep (docker --env-file, EnvironmentFile= of some, crontabs). NULL: nothing.
 */
static inline struct variable_span variable_value(const char *text)
{
	struct variable_span span = {text, 0};
	bool is_shorter = text != NULL;

	while (text != NULL && text[span.count] != '\0')
		span.count++;
	while (is_shorter) {
		size_t count = span.count;
		const char *bytes = span.bytes;
		bool is_quoted = count >= 2 && (bytes[0] == '"' || bytes[0] == '\'') && bytes[0] == bytes[count - 1];
		bool begins_blank = count > 0 && variable_is_blank(bytes[0]);
		bool ends_blank = count > 0 && variable_is_blank(bytes[count - 1]);
		span.bytes += is_quoted || begins_blank;
		span.count -= is_quoted ? 2 : begins_blank || ends_blank;
		is_shorter = span.count != count;
	}
	return span;
}

enum variable_switch {
	VARIABLE_OFF,
	VARIABLE_ON,
	VARIABLE_ON_BY_ODD_WORD /* nobody knows what was meant; the program was to be left alone somehow */
};

/* Whether the span is `word`, which is in small letters, in any case of ASCII. */
static inline bool variable_is_word(struct variable_span span, const char *word)
{
	size_t i = 0;

	for (; i < span.count && word[i] != '\0'; i++) {
		if (ascii_lower(span.bytes[i]) != word[i])
			return false;
	}
	return i == span.count && word[i] == '\0';
}

/* How TENACURL_DISABLE is set: only what clearly says no leaves tenacurl on. NULL: unset. */
static inline enum variable_switch variable_read_switch(const char *text)
{
	struct variable_span span = variable_value(text);

	if (span.count == 0 || variable_is_word(span, "0") || variable_is_word(span, "no") ||
	    variable_is_word(span, "false") || variable_is_word(span, "off"))
		return VARIABLE_OFF;
	if (variable_is_word(span, "1") || variable_is_word(span, "yes") || variable_is_word(span, "true") ||
	    variable_is_word(span, "on"))
		return VARIABLE_ON;
	return VARIABLE_ON_BY_ODD_WORD;
}

#endif
