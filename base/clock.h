/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_CLOCK_H
#define TENACURL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/*
 * CLOCK_MONOTONIC in milliseconds, rounded down: what a state and all deadlines go by. Through the vDSO: no system
 * call. 0 where a sandbox refuses even that. Any context.
 */
static inline int64_t clock_ms(void)
{
	struct timespec now = {0};
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The calendar, in microseconds since the epoch: for HTTP-dates and log records only. */
static inline int64_t clock_calendar_us(void)
{
	struct timespec now = {0};
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

#endif
