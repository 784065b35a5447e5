/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_CHECK_H
#define TENACURL_CONFIG_CHECK_H

/* What a policy's values say to each other. */

#include <stdbool.h>

#include "config/load_result.h"
#include "config/policy.h"

/*
 * Whether the policy is free of contradictions (min_try_ms over per_try_ms or deadline_ms; audit without a log); if
 * not, `error` tells the first. policy_load() and policy_load_with() did this already; it is for those who put
 * overrides on a copy of the built-in policy. Pure, no allocation.
 */
bool policy_check(const struct policy *policy, struct policy_error *error);

/* Tells each value that can never have an effect, because of another one, to `warn`. */
void check_unreachable(const struct policy *policy, policy_warn warn, void *warn_context);

#endif
