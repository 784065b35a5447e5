/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_LIMITS_H
#define TENACURL_ENGINE_LIMITS_H

#include <stdint.h>

#include "config/policy.h"

/* The shortest time that an attempt can be given, at least 1 ms: libcurl would read 0 as "no limit". Pure. */
static inline int64_t engine_shortest_attempt_ms(const struct policy_rules *rules)
{
	return rules->min_try_ms > 0 ? rules->min_try_ms : 1;
}

#endif
