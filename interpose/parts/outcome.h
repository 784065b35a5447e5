/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_OUTCOME_H
#define TENACURL_INTERPOSE_OUTCOME_H

/*
 * From a handle to what the engine wants to know: the request before the first attempt, the outcome of an attempt.
 */

#include "engine/engine.h"
#include "interpose/gate/gate.h"
#include "interpose/handle/handle.h"
#include "interpose/parts/sends.h"

/* What an attempt is known by, besides what libcurl tells of it. */
struct outcome_view {
	const struct handle *handle;
	const struct gate *gate;
	const struct sends *sends;
	bool is_changed; /* a repeat would be another request */
};

/* Describes the request that the handle would make now. */
void outcome_of_request(const struct handle *handle, const struct policy_rules *rules, struct engine_request *request);

/* The outcome as far as the header block at hand tells it by now. */
void outcome_of_headers(const struct outcome_view *view, struct engine_outcome *outcome);

/* The outcome of an attempt whose perform returned `result`. */
void outcome_of_attempt(const struct outcome_view *view, CURLcode result, struct engine_outcome *outcome);

#endif
