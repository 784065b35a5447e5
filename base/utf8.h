/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_UTF8_H
#define TENACURL_BASE_UTF8_H

/* UTF-8 that somebody else wrote. Pure, no locale, async-signal-safe. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns the length of the character that the terminated text begins with and writes its code point, or 0 if its first
 * byte is not part of valid UTF-8 (RFC 3629).
 */
size_t utf8_read(const char *text, uint32_t *code_point);

/*
 * Whether a character shows itself and nothing else: false for controls (C0, DEL, C1), which terminals obey, for line
 * and paragraph separators, and for what turns the direction of writing, so that a text reads other than it is.
 */
bool utf8_is_plain(uint32_t code_point);

#endif
