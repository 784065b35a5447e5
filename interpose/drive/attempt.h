/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_ATTEMPT_H
#define TENACURL_INTERPOSE_ATTEMPT_H

/* One real perform of an operation, and what has to be done to the handle before the next one. */

#include "interpose/record/operation.h"

/* Keeps what libcurl would leave in the program's error buffer. Before the first attempt. */
void attempt_keep_error_text(struct operation *operation);

/*
 * Performs as planned (operation->limits), judges what came of it and records that. Returns perform's result; if the
 * operation isn't alive any more, that is nobody's.
 */
CURLcode attempt_perform(struct operation *operation);

/*
 * Readies the handle for the next attempt. Returns ENGINE_TRANSIENT_FAILURE, or why there will be none; then the
 * outcome is still that of the attempt before. Calls the program, which may end the operation.
 */
enum engine_reason attempt_prepare(struct operation *operation);

/* Says why in the program's error buffer, if it has one. */
void attempt_say(const struct operation *operation, const char *text);

#endif
