/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_FILE_H
#define TENACURL_STATE_FILE_H

/* The state file in its directory: looking at it with suspicion, making it, replacing it. */

#include <sys/types.h>

#include "state/state.h"

/*
 * Opens the file if it is there and can be trusted: regular, of `owner`, mode 0600, of our size, with our header. flags
 * are those of open(2). Returns a descriptor, to be closed by the caller, or -1 with the trouble in *outcome:
 * STATE_NO_FILE, STATE_CANT_READ, or one from STATE_NOT_REGULAR on.
 */
int state_open_file(int directory, const char *name, uid_t owner, int flags, struct state_outcome *outcome);

/*
 * Opens the file for reading and writing; makes it if there is none, and replaces it if it can't be trusted. Returns a
 * descriptor, to be closed by the caller, or -1. In both cases the trouble is in *outcome, if there was any.
 */
int state_reach_file(int directory, const char *name, struct state_outcome *outcome);

#endif
