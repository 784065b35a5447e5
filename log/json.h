/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_LOG_JSON_H
#define TENACURL_LOG_JSON_H

/* JSON by hand: the preloaded object depends on nothing but libc. Async-signal-safe, any thread. */

#include "base/bounded_text.h"

/*
 * Appends `text` as a JSON string (RFC 8259 §7), or null for NULL. Quotes, backslashes and whatever isn't plain
 * (base/utf8.h) are escaped, and so are $ and `, which a shell that took the line for its own would act on; each byte
 * that is not part of valid UTF-8 becomes U+FFFD. A text whose escaped form is longer than limit_bytes is cut between
 * characters and ends with an ellipsis.
 */
void json_put_text(struct bounded_text *writer, const char *text, size_t limit_bytes);

#endif
