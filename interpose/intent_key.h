/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_INTENT_KEY_H
#define TENACURL_INTERPOSE_INTENT_KEY_H

#include <stdint.h>

#include "interpose/handle.h"

/*
 * Returns a hash of what the handle's next request asks for: verb, URL with its query, range, body, for which user,
 * through which proxy or socket. Parameters that change from try to try by design (a retry count) are left out, and so
 * are most headers, which change too (dates, signatures). 0: it can't be told, since the body is in no memory that
 * could be read (a callback, a file, a form). A body that a callback gives is known once it was sent (`sent`: an
 * attempt was made) and copied whole. While the program's perform runs; no allocation.
 */
uint64_t intent_key_of(const struct handle *handle, bool sent);

/* Returns a hash of a body that libcurl copies, 0 if it is too large to be hashed. bytes -1: a text that ends with NUL.
 */
uint64_t intent_key_of_body(const void *body, int64_t bytes);

#endif
