/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BOUNDS_H
#define TENACURL_INTERPOSE_BOUNDS_H

/*
 * What bounds an operation's retries without a word of the policy: the request itself, and the service that the process
 * is.
 */

#include <stdbool.h>
#include <stdint.h>

#include "config/policy.h"
#include "interpose/handle/handle.h"

/* These two are looked at only once something failed. */

/* Whether the request asks if somebody is there (base/probe.h), and the policy has no section that names its host. */
bool bounds_is_probe(const struct handle *handle, const struct policy_rules *rules);

/* The instant at which the request expires by its URL and headers, ENGINE_NEVER if nothing says so. */
int64_t bounds_expires_ms(const struct handle *handle);

/*
 * What retries may add to an operation of this thread that begins now, at least 1; 0: as much as they like. It is less
 * than half of the service's WATCHDOG_USEC (sd_watchdog_enabled(3)), less what was added since the program had so long
 * a time for itself.
 */
int64_t bounds_added_limit_ms(int64_t now_ms);

/* Such an operation is over, and `added_ms` of its time was ours. */
void bounds_note_added(int64_t added_ms, int64_t now_ms);

#endif
