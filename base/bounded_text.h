/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_BOUNDED_TEXT_H
#define TENACURL_BASE_BOUNDED_TEXT_H

/*
 * A text that is put together in room of a fixed size. No allocation, no locale, no stdio: async-signal-safe, any
 * thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bounded_text {
	char *out; /* not owned, not terminated */
	size_t capacity_bytes;
	size_t used_bytes;
	bool overflow; /* something did not fit and was left out */
};

/* Appends bytes, all of them or none; none once something was left out. */
void bounded_put(struct bounded_text *text, const char *bytes, size_t count_bytes);

/* The same for a terminated text. */
void bounded_put_words(struct bounded_text *text, const char *words);

/* The same for a number in decimal. */
void bounded_put_unsigned(struct bounded_text *text, uint64_t value);
void bounded_put_integer(struct bounded_text *text, int64_t value);

/* Appends as much of a terminated text as fits. */
void bounded_append(struct bounded_text *text, const char *words);

#endif
