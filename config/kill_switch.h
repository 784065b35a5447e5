/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_KILL_SWITCH_H
#define TENACURL_CONFIG_KILL_SWITCH_H

/* The file by whose being there an administrator switches tenacurl off for every program of the host. */

#include "config/load_result.h"

#define KILL_SWITCH "/run/tenacurl/off"

enum kill_switch {
	KILL_SWITCH_OPEN,    /* it isn't there */
	KILL_SWITCH_SET,     /* it is, and it is root's or the effective user's */
	KILL_SWITCH_FOREIGN, /* it is, but it is somebody else's, whose word doesn't count (config/owner.h) */
	KILL_SWITCH_UNKNOWN  /* it can't be looked at, which is no permission to go on */
};

/* Looks. `error`, if it isn't NULL, is filled for the last two. A link counts as what it is itself. Any thread; errno
 * is kept. */
enum kill_switch kill_switch_look(struct policy_error *error);

#endif
