/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_HTTP_DATE_H
#define TENACURL_ENGINE_HTTP_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_http_date {
	int64_t epoch_s;     /* seconds since 1970, negative before */
	bool two_digit_year; /* RFC 850 form: epoch_s reads its year as 20YY */
};

/*
 * Reads one of the three date forms of RFC 9110 §5.6.7 at the start of `text`:
 *
 *     Sun, 06 Nov 1994 08:49:37 GMT        IMF-fixdate; a year of more digits is read, too, so that a far one is far
 *     Sunday, 06-Nov-94 08:49:37 GMT       RFC 850
 *     Sun Nov  6 08:49:37 1994             asctime
 *
 * Letters may be of either case, and the day's name need not fit the date; everything else is as strict as the grammar,
 * and the date must exist. Returns how many bytes it takes, 0 if there is none. No locale, no time zone, no allocation.
 */
size_t engine_http_date_read(const char *text, size_t text_bytes, struct engine_http_date *date);

/* Days from 1970-01-01 to a date of the Gregorian calendar; negative before. The date must exist, year ≥ 0. */
int64_t engine_days_since_1970(int64_t year, int month, int day);

#endif
