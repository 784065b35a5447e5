/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_RUN_DEADLINE_H
#define TENACURL_CLI_RUN_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/deadline_text.h"
#include "cli/say/error.h"

/*
 * Reads a duration: digits, optionally with a fraction, and ms, s, m, h or d; s if no unit follows, as in timeout(1).
 * Fractions of a millisecond round up. Returns false for zero, signs, over 365 days and everything else.
 */
bool run_parse_duration(const char *text, int64_t *duration_ms);

/* Whether an inherited deadline still means something: this boot, and its launcher is running. */
bool run_deadline_is_live(const struct deadline_text *deadline);

/*
 * Writes the text of a deadline `duration_ms` from now, with this process as its launcher (it stays that through exec),
 * or `inherited` (NULL: none) if that ends earlier. Returns false with `error` filled if /proc can't be read.
 */
bool run_make_deadline(int64_t duration_ms, const struct deadline_text *inherited,
                       char out[static DEADLINE_TEXT_BYTES_MAX], struct say_error *error);

#endif
