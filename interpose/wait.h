/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_WAIT_H
#define TENACURL_INTERPOSE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct operation;

/*
 * Sleeps until the instant due_ms, never less, whatever signals arrive; the program's progress callback goes on being
 * called, on this thread, and ends the wait by returning non-zero. Returns whether the wait came to its end. A
 * cancellation point.
 */
bool wait_until(struct operation *operation, int64_t due_ms);

/*
 * The program paused the delivery of a response that libcurl has finished with: waits as perform would, until the
 * program unpauses (from its progress callback), aborts, or the operation's time is over. Returns CURLE_OK,
 * CURLE_ABORTED_BY_CALLBACK or CURLE_OPERATION_TIMEDOUT.
 */
int wait_while_paused(struct operation *operation);

#endif
