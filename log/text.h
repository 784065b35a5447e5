/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_LOG_TEXT_H
#define TENACURL_LOG_TEXT_H

#include <stddef.h>

#include "log/record.h"

/*
 * Formats `record` as one line for people, with its newline, into `out`: what `log = stderr` writes. Returns the number
 * of bytes, 0 if it does not fit. Its form may change; whoever reads records takes JSON. Controls and invalid UTF-8 are
 * replaced. No allocation, no stdio, async-signal-safe.
 *
 *     tenacurl: 2026-01-02T03:04:05Z curl[4711] GET http://h/x: attempt 1: 503, retry in 1.034 s: transient_failure
 *     tenacurl: 2026-01-02T03:04:06Z curl[4711] GET http://h/x: 200 after 2 attempts in 1.067 s (waited 1.034 s):
 * success
 */
size_t record_format_text(const struct record *record, char out[static RECORD_BYTES_MAX]);

#endif
