/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_HOST_STATE_H
#define TENACURL_INTERPOSE_HOST_STATE_H

/* The state that this process shares with others of its user, opened at its first operation. */

#include <stdbool.h>

#include "config/policy.h"
#include "state/flight.h"
#include "state/state.h"

/*
 * Opens it, unless it is open: system calls, and 4 KiB of stack. Not to be called with a lock held. Returns whether
 * there is trouble to tell, once in a process; then *outcome says which.
 */
bool host_state_open(const struct policy_rules *rules, struct state_outcome *outcome);

/* Empties what is this process's own after a fork, where the kernel may not be asked to. Before each operation. */
void host_state_begin_anew_in_child(void);

/*
 * After a failure: looks, once a second at most, whether the state's file still has its name, and maps the one that has
 * it now, in the directory that the policy names at present. System calls and stack as host_state_open(), so not
 * inside of libcurl. errno is kept.
 */
void host_state_refresh(const struct policy *policy);

/*
 * The state itself, for what belongs to no entry. Before it is opened, with `state = none` and in a process that shares
 * nothing it is this process's own.
 */
struct state *host_state(void);

/* Records a flight in it. No system call. */
void host_state_record(const struct state_flight *flight);

#endif
