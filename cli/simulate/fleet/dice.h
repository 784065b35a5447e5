/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SIMULATE_FLEET_DICE_H
#define TENACURL_CLI_SIMULATE_FLEET_DICE_H

/* Dice that fall the same way for the same seed, on every machine (splitmix64, by S. Vigna; public domain). */

#include <stdint.h>

/* Uniform in 0..1, 1 excluded. The state may begin with any value. */
static inline double fleet_dice_draw(uint64_t *state)
{
	uint64_t mixed = *state += UINT64_C(0x9E3779B97F4A7C15);

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
	mixed ^= mixed >> 31;
	return (double)(mixed >> 11) / (double)(UINT64_C(1) << 53);
}

#endif
