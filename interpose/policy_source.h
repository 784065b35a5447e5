/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_POLICY_SOURCE_H
#define TENACURL_INTERPOSE_POLICY_SOURCE_H

/*
 * The policy of this process: found and loaded at the first transfer, looked at again once a second at most.
 */

#include <stdbool.h>
#include <stdint.h>

#include "config/policy.h"

/*
 * Returns the policy in force, or NULL if tenacurl must stay out of it: switched off, the policy can't be loaded, or
 * this is the fork of a process that was loading it. A returned policy is never freed, since operations in any thread
 * may be using it. After the first call lock-free, and without a system call except once a second.
 */
const struct policy *policy_source_get(int64_t now_ms);

/*
 * Looks again, whatever the time: whether the kill switch is set, or a newer policy says `mode = off` for the section
 * that an operation of `policy` goes by.
 */
bool policy_source_is_switched_off(const struct policy *policy, const struct policy_section *section);

#endif
