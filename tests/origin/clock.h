/* SPDX-License-Identifier: MIT */
#ifndef ORIGIN_CLOCK_H
#define ORIGIN_CLOCK_H

#include <stdint.h>

/* Microseconds of CLOCK_MONOTONIC, the clock that Python's time.monotonic_ns() reads too. Any thread. */
int64_t clock_us(void);

#endif
