/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_POLICY_SOURCE_H
#define TENACURL_INTERPOSE_POLICY_SOURCE_H

/*
 * The policy of this process: found and loaded at the first transfer, looked at again once a second at most.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/url.h"
#include "config/policy.h"
#include "interpose/host/policy_slots.h"

/*
 * Holds the policy in force for an operation, which ends with policy_slots_release(). Returns false, with nothing to
 * release, if tenacurl must stay out of it: switched off, the policy can't be loaded, or this is the fork of a process
 * that was loading it. After the first call lock-free, and without a system call except once a second.
 */
bool policy_source_hold(int64_t now_ms, struct policy_hold *hold);

/*
 * Looks again, whatever the time: whether the kill switch is set, or a newer policy leaves alone, or only looks
 * on at, what goes by this section of `policy`: a request to the URL (NULL: to none).
 */
bool policy_source_is_switched_off(const struct url *url, const struct policy *policy,
                                   const struct policy_section *section);

#endif
