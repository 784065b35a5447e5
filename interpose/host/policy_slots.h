/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_POLICY_SLOTS_H
#define TENACURL_INTERPOSE_POLICY_SLOTS_H

/*
 * The policy in force, and those before it that operations still go by: a policy is freed when the last of these is
 * over, so that a file may change as often as it likes.
 */

#include <stdint.h>

#include "config/policy.h"

/* A policy that must not be freed for the moment. */
struct policy_hold {
	const struct policy *policy; /* NULL: none is in force, and there is nothing to release */
	uint64_t version; /* never the same for two policies, though these may follow at one address; not 0 */
};

/* Holds what is in force. Any thread; no lock, no system call. */
void policy_slots_hold(struct policy_hold *hold);

/* Ends it. Whoever never comes to that keeps a policy from being freed, and does no other harm. */
void policy_slots_release(const struct policy_hold *hold);

/*
 * Puts a policy, which it then owns, in force, or none for NULL. The caller holds a lock that lets nobody else do this
 * or sweep.
 */
void policy_slots_publish(const struct policy *policy);

/* What is in force, for whoever has that lock. */
const struct policy *policy_slots_peek(void);

/* Frees what isn't in force and nobody holds. Under that lock. */
void policy_slots_sweep(void);

#endif
