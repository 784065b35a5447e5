/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_DICE_H
#define TENACURL_INTERPOSE_DICE_H

#include <stddef.h>

/*
 * Returns a number uniform in 0..1. The kernel's random numbers: no seed, no state, no lock, right after fork. errno is
 * kept.
 */
double dice_draw(void);

/* Writes `digits` hexadecimal digits and a terminator, from the same source. */
void dice_write_hex(char *out, size_t digits);

#endif
