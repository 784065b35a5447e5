/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_LOG_JSON_H
#define TENACURL_LOG_JSON_H

/*
 * JSON into a buffer of fixed size, by hand: the preloaded object depends on nothing but libc. Nothing here allocates,
 * looks at a locale or uses stdio, so all of it is async-signal-safe and works on any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_writer {
	char *out; /* not owned, not terminated */
	size_t capacity_bytes;
	size_t used_bytes;
	bool overflow; /* something did not fit and was left out; what is in `out` is of no use */
};

/* Appends bytes as they are, all of them or none. */
void json_put_raw(struct json_writer *writer, const char *bytes, size_t byte_count);

/* Appends a decimal integer. */
void json_put_integer(struct json_writer *writer, int64_t value);
void json_put_unsigned(struct json_writer *writer, uint64_t value);

/*
 * Appends `text` as a JSON string (RFC 8259 §7), or null for NULL. Quotes, backslashes and whatever isn't plain
 * (base/utf8.h) are escaped, and so are $ and `, which a shell that took the line for its own would act on; each byte
 * that is not part of valid UTF-8 becomes U+FFFD. A text whose escaped form is longer than limit_bytes is cut between
 * characters and ends with an ellipsis.
 */
void json_put_text(struct json_writer *writer, const char *text, size_t limit_bytes);

#endif
