/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_BACKOFF_H
#define TENACURL_ENGINE_BACKOFF_H

#include <stdint.h>

#include "config/policy.h"
#include "engine/retry_after.h"

/*
 * How long to back off before retry `retry` (1 for the first): d = min(cap, base · multiplier^(retry−1)), spread by
 * the policy's jitter with `draw` (0..1; values outside are clamped), rounded down, and at least backoff_min_ms.
 * "Full" and "equal" jitter are those of https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/.
 * Pure.
 */
int64_t engine_backoff_ms(const struct policy_rules *rules, int retry, double draw);

/*
 * The wait before retry `retry`: the longer of the backoff and what the server asked for, with its jitter from the same
 * draw. room_ms is the longest wait that still fits (negative if none does): the jitter, never the demand itself, is
 * cut to it. asked must not be ENGINE_RETRY_AFTER_BEYOND. Pure.
 */
int64_t engine_wait_ms(const struct policy_rules *rules, int retry, double draw, struct engine_retry_after asked,
                       int64_t room_ms);

#endif
