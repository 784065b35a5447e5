/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_TIME_NAMESPACE_H
#define TENACURL_BASE_TIME_NAMESPACE_H

/*
 * How far this process's clocks are ahead of the host's (time_namespaces(7)). One that is in no time namespace of its
 * own has the host's, and so has one where that can't be told: an older kernel, no /proc. System calls, no allocation,
 * any thread; errno isn't kept.
 */

#include <stdint.h>

struct time_offsets {
	int64_t monotonic_ms;   /* CLOCK_MONOTONIC */
	int64_t boottime_ticks; /* CLOCK_BOOTTIME, in clock ticks, as starttime in /proc/PID/stat (proc(5)) */
};

struct time_offsets time_namespace_offsets(void);

#endif
