/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_SHARED_STATE_H
#define TENACURL_INTERPOSE_SHARED_STATE_H

/*
 * The state (state/state.h) of this process, and the entry in it that a handle's operations go by: origin of the URL as
 * set, and section. It is opened at the first operation that is ours, once: `state` and `state_dir` of a policy that
 * changes later have no say any more, but for `state = none`.
 *
 * Operations that are only audited have entries of their own ("NAME (audit)"), so that they decide as they would if
 * they acted, with a budget and a breaker, and take nothing from those that do.
 */

#include "config/policy.h"
#include "interpose/handle/handle.h"
#include "state/flight.h"
#include "state/state.h"

/*
 * Finds the entry for the operation that begins, if it isn't known yet; opens the state before that, which costs system
 * calls, and 4 KiB of stack. Not to be called with a lock held. Trouble is told once, to the policy's log or syslog.
 * errno is kept.
 */
void shared_state_find(struct handle *handle, const struct policy *policy, const struct policy_section *section);

/*
 * The entry that was found; if another origin has it by now, since it was idle and the table full, or if this is a
 * child and it was the parent's own, the one that is found now. NULL with `state = none`: then nothing is shared, and
 * nothing restrains. In an operation only. No system call, but sched_yield where another process makes room; any
 * thread.
 */
struct state_entry *shared_state_look_again(struct handle *handle);
static inline struct state_entry *shared_state_entry(struct handle *handle)
{
	struct state_entry *entry = handle->shared_entry;
	return !entry || state_entry_holds(entry, handle->shared_key) ? entry : shared_state_look_again(handle);
}

#define SHARED_STATE_SECTION_BYTES 128

/* Writes the name that the section goes by in the state. Pure. */
void shared_state_section(const struct policy_section *section, char out[static SHARED_STATE_SECTION_BYTES]);

/* Writes the origin that the handle asks, as entries are named by, into `out`; "?" if its URL has none. Pure. */
void shared_state_origin(const struct handle *handle, char *out, size_t out_bytes);

#endif
