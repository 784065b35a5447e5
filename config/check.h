/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_CHECK_H
#define TENACURL_CONFIG_CHECK_H

/* What a policy's values say to each other. Contradictions are errors: see policy_check() in config/load.h. */

#include "config/load.h"

/* Tells each value that can never have an effect, because of another one, to `warn`. */
void check_unreachable(const struct policy *policy, policy_warn warn, void *warn_context);

#endif
