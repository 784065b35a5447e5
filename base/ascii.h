/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_ASCII_H
#define TENACURL_BASE_ASCII_H

/* Characters as HTTP has them. <ctype.h> and strcasecmp() ask the host program's locale. */

#include <stdbool.h>
#include <stddef.h>

static inline bool ascii_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool ascii_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* White space within a line: OWS of RFC 9110 §5.6.3. */
static inline bool ascii_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline char ascii_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* -1: no hexadecimal digit. */
static inline int ascii_hex_value(char c)
{
	if (ascii_is_digit(c))
		return c - '0';
	c = ascii_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The length of `prefix` if `text` starts with it in any case, else 0. */
static inline size_t ascii_prefix_bytes(const char *text, size_t text_bytes, const char *prefix)
{
	size_t i = 0;

	for (; prefix[i]; i++) {
		if (i == text_bytes || ascii_lower(text[i]) != ascii_lower(prefix[i]))
			return 0;
	}
	return i;
}

/* Whether the terminated `text` begins with `prefix` in any case. */
static inline bool ascii_begins_with(const char *text, const char *prefix)
{
	while (*prefix && ascii_lower(*text) == ascii_lower(*prefix)) {
		text++;
		prefix++;
	}
	return *prefix == '\0';
}

/* Whether `text` is `word` in any case. */
static inline bool ascii_equals(const char *text, size_t text_bytes, const char *word)
{
	return ascii_prefix_bytes(text, text_bytes, word) == text_bytes && word[text_bytes] == '\0';
}

#endif
