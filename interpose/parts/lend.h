/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_LEND_H
#define TENACURL_INTERPOSE_LEND_H

/*
 * Lending: options of the program's handle that are set to something of ours for a while, and given back as the program
 * set them (handle->program says what that is; setopt of a lent option goes there).
 *
 * The callbacks, function and data in pairs, stay lent from the first operation on: without an operation they only
 * forward, so nobody can tell, and an operation costs no setopt. Everything else is lent for one operation.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/course.h"
#include "interpose/handle/handle.h"

/* What an attempt needs besides its plan. */
struct lend_wishes {
	bool quick_exit; /* a look-up may be left behind when time is up */
	bool fresh_connection, fresh_lookup;
};

/* Lends the callbacks, if they aren't lent yet. Returns false if libcurl refused; then none is. */
bool lend_callbacks(struct handle *handle);

/* Makes the lent callbacks of `copy`, a duplicate of another handle, point to its own record. Returns false if libcurl
 * refused. */
bool lend_adopt_duplicate(struct handle *copy);

/* Sets a duplicate that has no record back to what the program set on `source`. */
void lend_give_back_duplicate(const struct handle *source, CURL *copy);

/* Lends the read callback for an operation whose body comes from it. */
void lend_read_callback(struct handle *handle);

/*
 * Lends the seek callback to a handle whose body the program can't rewind, for what libcurl rewinds in the next attempt
 * before it has an answer. Returns false if libcurl refused. Given back once the answer begins: what libcurl does then,
 * at a redirect or a 401, it does as without us. The second may be called inside callbacks.
 */
bool lend_seek_callback(struct handle *handle);
void lend_give_back_seek_callback(struct handle *handle);

/*
 * Sets the options that the planned attempt needs: its time limits, and after a failure a fresh connection or look-up.
 * *lent_limit_ms, here and below: what TIMEOUT_MS is lent as, from the attempt's start.
 */
void lend_attempt(struct handle *handle, const struct course *course, const struct lend_wishes *wishes,
                  int64_t *lent_limit_ms);

/* Gives back everything but the callbacks. */
void lend_give_back_numbers(struct handle *handle);

/*
 * Lifts what bounds the attempt besides its plan: the limit on the arrival of its final header block
 * (retry_max_time_ms), or one that lend_limit_rest() set. libcurl looks at a lifted limit whenever it wakes up, at
 * least once a second.
 */
void lend_lift_limits(struct handle *handle, struct course *course, int64_t *lent_limit_ms);

/* Lets the transfer end about limit_ms from now; libcurl may notice up to a second late if nothing arrives. */
void lend_limit_rest(struct handle *handle, const struct course *course, int64_t limit_ms, int64_t *lent_limit_ms);

/* The plan changed: what it asks for now counts. */
void lend_refresh_timeout(struct handle *handle, const struct course *course, int64_t *lent_limit_ms);

#endif
