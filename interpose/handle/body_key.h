/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BODY_KEY_H
#define TENACURL_INTERPOSE_BODY_KEY_H

/*
 * What a request's body is known by, so that the same one is known again: bytes in memory by what they are; files by
 * device, inode, size, time of change, and where in them it begins; what a callback gives by what went out.
 */

#include <stdint.h>

#include "interpose/handle/handle.h"

/* Whether it went out, in an attempt that was judged. */
enum body_sent {
	BODY_UNSENT,
	BODY_SENT,      /* more than once, for all that is known */
	BODY_SENT_ONCE, /* the attempt was one request */
};

/*
 * Returns what the handle's next body is known by, 1 if it has none; 0: it can't be told. What a callback gives is
 * known only once it was sent to its end, or was read before (body_preview()). While the program's perform runs; no
 * allocation. Looks at files, by stat.
 */
uint64_t body_key(const struct handle *handle, enum body_sent sent);

#endif
