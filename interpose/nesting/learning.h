/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_LEARNING_H
#define TENACURL_INTERPOSE_LEARNING_H

/*
 * What was learned of callers (state/learned.h): this call site, or the processes that this parent starts one after the
 * other, retry such failures at such an origin by themselves. A class of failures counts as learned once the caller
 * came back twice after one. All of it happens after failures; it may read files the first time.
 */

#include <stdbool.h>

#include "engine/engine.h"
#include "interpose/nesting/caller.h"

/* Who comes back. */
enum learning_caller {
	LEARNING_CALL_SITE, /* the thread that makes the call */
	LEARNING_PARENT     /* who starts the processes of a run */
};

/*
 * Whether a failure of this class is known to be retried by the request's callers. What was believed once without
 * anybody's coming back within nested_window_ms is forgotten instead. *key: what was learned, for learning_promise().
 */
bool learning_covers(struct caller *who, enum engine_class failure, uint64_t *key);

/* The operation ends with a failure that was left to a caller on the strength of learning_covers() alone. */
void learning_promise(uint64_t key);

/* The caller came back after such a failure. */
void learning_teach(struct caller *who, enum learning_caller caller, enum engine_class failure);

/* The caller is none that retries: it comes back after successes too. */
void learning_drop(struct caller *who, enum learning_caller caller);

#endif
