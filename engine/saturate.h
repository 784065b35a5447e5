/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_SATURATE_H
#define TENACURL_ENGINE_SATURATE_H

/*
 * Arithmetic on instants and durations that cannot overflow. ENGINE_NEVER absorbs: nothing that is added to or taken
 * from "never" makes it come sooner.
 */

#include <stdint.h>

#include "engine/types.h"

/* The earlier of two instants, the shorter of two durations. */
static inline int64_t engine_earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* instant + duration; ENGINE_NEVER if either is, or if the sum is out of range. duration_ms ≥ 0. */
static inline int64_t engine_after(int64_t instant_ms, int64_t duration_ms)
{
	int64_t sum;

	if (instant_ms == ENGINE_NEVER || __builtin_add_overflow(instant_ms, duration_ms, &sum))
		return ENGINE_NEVER;
	return sum;
}

/* instant - duration; ENGINE_NEVER stays, and what is out of range is as early as can be. duration_ms ≥ 0. */
static inline int64_t engine_before(int64_t instant_ms, int64_t duration_ms)
{
	int64_t difference;

	if (instant_ms == ENGINE_NEVER)
		return ENGINE_NEVER;
	return __builtin_sub_overflow(instant_ms, duration_ms, &difference) ? INT64_MIN : difference;
}

/* What is left from now_ms until the instant: negative once it has passed, ENGINE_NEVER if it never comes. */
static inline int64_t engine_left(int64_t instant_ms, int64_t now_ms)
{
	int64_t left;

	if (instant_ms == ENGINE_NEVER)
		return ENGINE_NEVER;
	if (__builtin_sub_overflow(instant_ms, now_ms, &left))
		return instant_ms < now_ms ? INT64_MIN : ENGINE_NEVER - 1;
	return left;
}

/* The instant that ends a limit which 0 switches off. */
static inline int64_t engine_end_of(int64_t entry_ms, int64_t limit_ms)
{
	return limit_ms > 0 ? engine_after(entry_ms, limit_ms) : ENGINE_NEVER;
}

/* A positive amount of milliseconds as an integer, rounded down; what is too large, or not a number, becomes 1 << 62.
 */
static inline int64_t engine_whole_ms(double ms)
{
	const int64_t largest = INT64_C(1) << 62;

	return ms < (double)largest ? (int64_t)ms : largest;
}

#endif
