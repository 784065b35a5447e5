/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_INTENT_KEY_H
#define TENACURL_INTERPOSE_INTENT_KEY_H

#include <stdint.h>

#include "interpose/handle/body_key.h"
#include "interpose/handle/handle.h"

/*
 * Returns a hash of what the handle's next request asks for: verb, URL with its query, range, body (interpose/
 * body_key.h), for which user, through which proxy or socket. Parameters that change from try to try by design (a retry
 * count) are left out, and so are most headers, which change too (dates, signatures). 0: it can't be told, since nobody
 * knows the body, or not before it was sent. While the program's perform runs; no
 * allocation.
 */
uint64_t intent_key_of(const struct handle *handle, enum body_sent sent);

/* The same of all but the body, of which only the announced size counts: what may be the same request. */
uint64_t intent_key_of_candidate(const struct handle *handle);

#endif
