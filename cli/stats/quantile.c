/* SPDX-License-Identifier: MIT */
#include "cli/stats/quantile.h"

#include <stddef.h>

#include "state/read.h"

double quantile_ms(const uint64_t buckets[static STATE_MS_BUCKETS], double share)
{
	double total = 0, below = 0;
	for (size_t i = 0; i < STATE_MS_BUCKETS; i++)
		total += (double)buckets[i];
	if (total == 0)
		return -1;
	for (size_t i = 0; i < STATE_MS_BUCKETS - 1; i++) {
		double low = i ? (double)state_ms_bounds[i - 1] : 0, inside = (double)buckets[i];
		if (inside > 0 && below + inside >= share * total)
			return low + ((double)state_ms_bounds[i] - low) * (share * total - below) / inside;
		below += inside;
	}
	return (double)state_ms_bounds[STATE_MS_BUCKETS - 2];
}
