/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_OVERRIDE_H
#define TENACURL_CONFIG_OVERRIDE_H

/* What stands above a policy file: values that came from outside it. */

#include <stdbool.h>

#include "config/load_result.h"
#include "config/policy.h"

/* Values from outside a file (TENACURL_MODE, TENACURL_LOG, --mode, --log); NULL: none. Not owned. */
struct policy_overrides {
	const char *mode;
	const char *log;
};

/*
 * Parses a value of `mode` or `log` that came from outside a file (TENACURL_MODE, TENACURL_LOG, --mode, --log) and
 * applies it to every section of `policy`: a mode replaces every section's but `off` in a file stays off (unless the
 * override is off, which wins everywhere); a log replaces the sink. Returns false, with `error` filled and the policy
 * untouched, if the value is not one the key takes. The policy must not be shared with other threads yet, nor be the
 * built-in one (policy_copy() makes one). Texts are copied.
 */
bool policy_override(struct policy *policy, const char *key, const char *value, struct policy_error *error);

#endif
