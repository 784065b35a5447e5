/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_THREAD_NOTES_H
#define TENACURL_INTERPOSE_THREAD_NOTES_H

/*
 * What a thread must remember from one operation to another: the deadline of the operation that it is in the middle of,
 * for those that begin inside its callbacks; when one was refused last; what retries added lately. Few threads ever
 * need any, so nothing is made before that, and until then a look costs one load. By pthread_setspecific, since
 * thread-local storage of our own would need the dynamic linker's library.
 */

#include <stdint.h>

#include "interpose/handle/handle.h"

/* The operation that encloses those begun in its callbacks. handle NULL: none does. */
struct enclosing {
	const struct handle *handle;
	const void *frame;   /* of its call */
	int64_t deadline_ms; /* instant: the policy's or the run's, never the program's own timeout */
};

/*
 * The deadline that an operation of this frame inherits from the one it was begun inside; INT64_MAX: none. An operation
 * that was left by longjmp is none, as far as can be told. No system call.
 */
int64_t thread_notes_deadline(const void *frame, int64_t now_ms);

/*
 * Makes an operation the enclosing one; *outer gets the one before it. Returns false without memory: then nothing is
 * inherited, and nothing is to be left.
 */
bool thread_notes_enter(const struct enclosing *inner, struct enclosing *outer);
void thread_notes_leave(const struct enclosing *outer);

/* When this thread's last refused operation returned; INT64_MIN: none did. */
int64_t thread_notes_refused_ms(void);
void thread_notes_set_refused_ms(int64_t now_ms);

/*
 * How much time retries have added to this thread's operations, up to now and with less than window_ms from one to the
 * next; thread_notes_add() adds to it what ended now.
 */
int64_t thread_notes_added_ms(int64_t now_ms, int64_t window_ms);
void thread_notes_add(int64_t added_ms, int64_t now_ms, int64_t window_ms);

#endif
