/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_BLOCK_H
#define TENACURL_CONFIG_BLOCK_H

/* The memory behind a policy that was loaded or copied. */

#include "config/arena.h"
#include "config/policy.h"

/*
 * Returns an empty policy with room for `section_count` zeroed sections and a copy of `path` (NULL allowed), for
 * policy_free(), or NULL without memory.
 */
struct policy *block_new(size_t section_count, const char *path);

/* The arena that holds what the policy points to; it lives as long as the policy. Not for the built-in policy. */
struct arena *block_arena(struct policy *policy);

#endif
