/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_STATS_QUANTILE_H
#define TENACURL_CLI_STATS_QUANTILE_H

#include <stdint.h>

#include "state/sizes.h"

/*
 * Estimates the duration, in ms, which `share` (0 to 1) of those in a histogram of a state don't exceed, as
 * Prometheus's histogram_quantile does: in proportion within its bucket; the largest bound if it is above all of them.
 * Returns a negative number for an empty histogram. Pure.
 */
double quantile_ms(const uint64_t buckets[static STATE_MS_BUCKETS], double share);

#endif
