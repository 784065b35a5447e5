/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_LOG_CALENDAR_H
#define TENACURL_LOG_CALENDAR_H

/*
 * UTC without the C library's calendar: gmtime_r() and localtime_r() take a lock in some C libraries, which a fork in
 * another thread may leave held for ever.
 */

#include <stdbool.h>
#include <stdint.h>

struct calendar_time {
	int year; /* 1970..9999 */
	int month, day, hour, minute, second;
	int microsecond;
};

/*
 * Splits microseconds since the epoch into a date and time of day. Returns false, with nothing set, outside the years
 * 1970 to 9999. Pure, async-signal-safe.
 */
bool calendar_from_us(int64_t time_us, struct calendar_time *time);

/* Writes `value` as exactly `digits` decimal digits, without a terminator. Pure, async-signal-safe. */
void calendar_put_digits(char *out, int value, int digits);

#define CALENDAR_RFC3339_BYTES 27 /* 2026-01-02T03:04:05.678901Z */

/* Writes the time as RFC 3339 with microseconds and Z, without a terminator. Pure, async-signal-safe. */
void calendar_put_rfc3339(char out[static CALENDAR_RFC3339_BYTES], const struct calendar_time *time);

#endif
