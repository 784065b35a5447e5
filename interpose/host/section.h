/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_SECTION_H
#define TENACURL_INTERPOSE_SECTION_H

#include "base/url.h"
#include "config/policy.h"

/*
 * The section of `policy` that a request to the URL (NULL: to none) gets in this program. NULL: the policy has it left
 * alone, or it isn't HTTP. Lives as long as `policy`. Names of the program are known (process_names()).
 */
const struct policy_section *section_of(const struct policy *policy, const struct url *url);

#endif
