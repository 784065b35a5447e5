/* SPDX-License-Identifier: MIT */
#include "base/time_namespace.h"

#include <stdlib.h>
#include <string.h>

#include "base/proc.h"

#define TICKS_PER_S 100 /* USER_HZ */
#define MS_PER_S    1000
#define NS_PER_S    1000000000
#define TEXT_BYTES  160

/* A line is a name, seconds, and nanoseconds, which are never negative. The kernel bounds them to 146 years. */
static int64_t read_offset(const char *text, const char *name, int64_t units_per_s)
{
	const char *at = strstr(text, name);
	char *rest;

	if (at == NULL)
		return 0;
	int64_t s = strtoll(at + strlen(name), &rest, 10), ns = strtoll(rest, NULL, 10);
	return s * units_per_s + ns / (NS_PER_S / units_per_s);
}

struct time_offsets time_namespace_offsets(void)
{
	char text[TEXT_BYTES];

	if (proc_read("/proc/self/timens_offsets", text, sizeof(text)) <= 0)
		return (struct time_offsets){0};
	return (struct time_offsets){
	    .monotonic_ms = read_offset(text, "monotonic", MS_PER_S),
	    .boottime_ticks = read_offset(text, "boottime", TICKS_PER_S),
	};
}
