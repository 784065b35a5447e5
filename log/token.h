/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_LOG_TOKEN_H
#define TENACURL_LOG_TOKEN_H

/* What looks like a secret among the segments of a path. */

#include <stdbool.h>

#include "base/span.h"

/*
 * Whether a segment holds something that looks as if it had been drawn by lot: keys, webhook and bot tokens, UUIDs,
 * base64url, JWT. Words, slugs, versions, dates and numbers don't. Pure, no allocation, async-signal-safe.
 */
bool token_is_likely(struct span segment);

#endif
