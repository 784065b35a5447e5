/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_DICE_H
#define TENACURL_INTERPOSE_DICE_H

#include <stdint.h>

/*
 * Returns a number uniform in 0..1. The kernel's random numbers: no seed, no state, no lock, right after fork. errno is
 * kept.
 */
double dice_draw(void);

/* Returns a random number, never 0, from the same source. errno is kept. */
uint64_t dice_number(void);

#endif
