/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_OUTCOME_H
#define TENACURL_INTERPOSE_OUTCOME_H

/*
 * From a handle to what the engine wants to know: the request before the first attempt, the outcome of an attempt.
 */

#include "engine/engine.h"
#include "interpose/operation.h"

/* Describes the request that the handle would make now. */
void outcome_of_request(const struct handle *handle, const struct policy_rules *rules, struct engine_request *request);

/* The outcome as far as the header block at hand tells it by now. */
void outcome_of_headers(struct operation *operation, struct engine_outcome *outcome);

/* The outcome of an attempt whose perform returned `result`. */
void outcome_of_attempt(struct operation *operation, CURLcode result, struct engine_outcome *outcome);

/* CURLINFO_RESPONSE_CODE; allowed inside callbacks. */
int outcome_response_code(const struct handle *handle);

/* An info value of type long; 0 if libcurl doesn't know it. */
int64_t outcome_info_long(const struct handle *handle, CURLINFO info);

#endif
