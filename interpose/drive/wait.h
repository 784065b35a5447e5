/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_WAIT_H
#define TENACURL_INTERPOSE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/record/operation.h"

enum wait_end {
	WAIT_OVER,
	WAIT_CANCELLED,  /* by the program's progress callback */
	WAIT_BROKEN_OFF, /* tenacurl was switched off meanwhile, this process can't sleep, or is a child of the one that
	                    waits */
	WAIT_GONE,       /* the program's callback ended the operation: nothing of it is left, or of its handle */
};

/*
 * Sleeps until the instant due_ms, never less, whatever signals arrive; the program's progress callback goes on being
 * called, on this thread, and ends the wait by returning non-zero. So does, within a second, the kill switch or a newer
 * policy with `mode = off`. A cancellation point.
 */
enum wait_end wait_until(struct operation *operation, int64_t due_ms);

/* Whether tenacurl, or the policy, stays out of what the operation does by now. Looks again, whatever the time. */
bool wait_is_switched_off(const struct operation *operation);

/* Whether this process can sleep, as far as that can be told beforehand. The first no is told in the log. errno is
 * kept. */
bool wait_is_possible(const struct operation *operation);

/*
 * The program paused the delivery of a response that libcurl has finished with: waits as perform would, until the
 * program unpauses (from its progress callback), aborts, or the operation's time is over. Returns CURLE_OK,
 * CURLE_ABORTED_BY_CALLBACK (also if the operation is gone) or CURLE_OPERATION_TIMEDOUT (also if this process can't
 * sleep).
 */
CURLcode wait_while_paused(struct operation *operation);

#endif
