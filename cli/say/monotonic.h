/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SAY_MONOTONIC_H
#define TENACURL_CLI_SAY_MONOTONIC_H

#include <stdint.h>
#include <time.h>

/* The clock that everything in a state goes by, in milliseconds. */
static inline int64_t monotonic_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
