/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_SPAN_H
#define TENACURL_BASE_SPAN_H

/* A part of a text that isn't terminated. Pure; any context. */

#include <stddef.h>
#include <string.h>

#include "base/ascii.h"

struct span {
	const char *text; /* NULL: there is none, which is not the same as an empty one */
	size_t bytes;
};

/* What follows its first `bytes`, of which it must have as many. */
static inline struct span span_after(struct span span, size_t bytes)
{
	return (struct span){span.text + bytes, span.bytes - bytes};
}

/* How much of it comes before the first of the characters in `ends`; all of it if none is there. */
static inline size_t span_until(struct span span, const char *ends)
{
	size_t bytes = 0;

	while (bytes < span.bytes && (span.text[bytes] == '\0' || !strchr(ends, span.text[bytes])))
		bytes++;
	return bytes;
}

/* Reads the first byte, decoded if it is escaped ("%2F"), and returns how many bytes that takes. Not of an empty span.
 */
static inline size_t span_decode(struct span span, char *byte)
{
	*byte = span.text[0];
	if (span.bytes < 3 || span.text[0] != '%' || ascii_hex_value(span.text[1]) < 0 ||
	    ascii_hex_value(span.text[2]) < 0)
		return 1;
	*byte = (char)(ascii_hex_value(span.text[1]) * 16 + ascii_hex_value(span.text[2]));
	return 3;
}

/* Without the blanks before and after it. */
static inline struct span span_trimmed(struct span span)
{
	while (span.bytes > 0 && ascii_is_blank(span.text[0]))
		span = span_after(span, 1);
	while (span.bytes > 0 && ascii_is_blank(span.text[span.bytes - 1]))
		span.bytes--;
	return span;
}

/* Cuts off what comes before the first of the characters in `ends`, and takes that character away. */
static inline struct span span_cut(struct span *rest, const char *ends)
{
	size_t bytes = span_until(*rest, ends);
	struct span first = {rest->text, bytes};

	*rest = span_after(*rest, bytes < rest->bytes ? bytes + 1 : bytes);
	return first;
}

#endif
