/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_LOG_QUIET_H
#define TENACURL_LOG_QUIET_H

/*
 * A stretch of system calls that the host program can't notice: errno stays, a signal that our own write causes is gone
 * before it is delivered, and the thread can't be cancelled in the middle, with a descriptor open.
 */

#include <signal.h>
#include <stdbool.h>

struct quiet_stretch {
	int saved_errno;
	int cancel_state;
	bool masked; /* saved_mask is to be restored */
	bool sigpipe_was_pending;
	bool sigxfsz_was_pending;
	sigset_t saved_mask;
};

/*
 * Begins a stretch: blocks SIGPIPE, SIGXFSZ and SIGTTOU for this thread (a blocked SIGTTOU lets a background process
 * write to its terminal instead of stopping it, POSIX general terminal interface §11.1.4) and defers cancellation. Any
 * thread.
 */
void quiet_begin(struct quiet_stretch *stretch);

/*
 * Ends it: consumes the SIGPIPE or SIGXFSZ that a failed write of ours left pending, restores mask, cancel state and
 * errno exactly. write_errno: the errno with which our write failed, 0 if none did.
 */
void quiet_end(const struct quiet_stretch *stretch, int write_errno);

#endif
