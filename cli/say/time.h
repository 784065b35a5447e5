/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SAY_TIME_H
#define TENACURL_CLI_SAY_TIME_H

/* The one way in which commands write times, given in microseconds since the epoch. */

#include <stdbool.h>
#include <stdint.h>

#define SAY_TIME_BYTES 40

/* For people: local, with its zone: "2026-01-02 04:04:05+01:00"; "unknown time" for what is none. Returns `out`. */
const char *say_time(int64_t time_us, char out[static SAY_TIME_BYTES]);

/* For programs: UTC, RFC 3339: "2026-01-02T03:04:05.000000Z". Returns `out`; NULL for what is none. */
const char *say_time_utc(int64_t time_us, char out[static SAY_TIME_BYTES]);

/* Reads a time as log records have it (RFC 3339, UTC). Returns false for what isn't one. */
bool say_time_read(const char *text, int64_t *time_us);

#endif
