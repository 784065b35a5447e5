/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_RETRY_AFTER_H
#define TENACURL_ENGINE_RETRY_AFTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/policy.h"

enum engine_retry_after_kind {
	ENGINE_RETRY_AFTER_NONE,  /* no demand: absent, negative, zero, past, not a number */
	ENGINE_RETRY_AFTER_WAIT,  /* wait_ms, at least 1 */
	ENGINE_RETRY_AFTER_BEYOND /* longer than can be told (overflow, far years) */
};

struct engine_retry_after {
	enum engine_retry_after_kind kind;
	int64_t wait_ms;
};

/*
 * What a response's headers ask for, gathered line by line: the dates need the response's own Date, and of several
 * values the largest counts. Zero-initialise at each status line.
 */
struct engine_demand {
	struct engine_retry_after seconds; /* the largest of the numeric values so far */
	int64_t date_s;                    /* the latest HTTP-date so far, seconds since the epoch; 0: none */
	int64_t short_date_s;              /* likewise, of those with a two-digit year, read as 20YY; 0: none */
	int64_t response_date_s;           /* the response's own Date, the earliest if there are several; 0: none */
	bool stop_hint;                    /* a header told us not to retry */
};

/* More than this is ENGINE_RETRY_AFTER_BEYOND: the bound that RFC 9111 §1.2.2 gives for delta-seconds. */
#define ENGINE_RETRY_AFTER_MAX_MS (INT64_C(2147483647) * 1000)

/*
 * Adds one header line ("Name: value", with or without line end) to the demand: one of the policy's
 * retry_after_headers, Date, or a stop hint (x-should-retry: false and its kin). Other lines change nothing.
 *
 * Seconds are parsed as 1*DIGIT [ "." 1*DIGIT ] and rounded up to a millisecond; a header whose name ends in "-ms"
 * counts milliseconds, and takes no dates. The three date forms are those of RFC 9110 §5.6.7. Several values in one
 * line are parted by a comma and white space, as where lines were joined; "1,5" is a decimal comma, not two values. A
 * value that is none of this is no demand, and takes nothing from the others. Pure, no allocation; the line need not be
 * terminated.
 */
void engine_demand_add_line(struct engine_demand *demand, const struct policy_rules *rules, const char *line,
                            size_t line_bytes);

/*
 * What the demand comes to. now_s: the wall clock, seconds since the epoch, used only for a date when the response had
 * no Date of its own. Pure.
 */
struct engine_retry_after engine_demand_resolve(const struct engine_demand *demand, int64_t now_s);

/* Whether resolving needs the wall clock. Pure. */
bool engine_demand_needs_clock(const struct engine_demand *demand);

#endif
