/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_CLASSIFY_H
#define TENACURL_ENGINE_CLASSIFY_H

#include <stdbool.h>

#include "config/policy.h"
#include "engine/types.h"

/* What an outcome is, before anybody asks whether repeating it would be allowed. */
struct engine_finding {
	enum engine_class failure;
	bool passing; /* a failure of a kind that the policy says may pass */
};

/*
 * Classifies an outcome by the policy's retry_status, retry_status_get_only and retry_errors.
 *
 * What isn't HTTP is a success or a failure for good, by its CURLcode. Else the CURLcode decides, with three
 * exceptions: CURLE_HTTP_RETURNED_ERROR is read as CURLE_OK with its status; a proxy that refused CONNECT shows as any
 * of several codes, so its answer decides (403 and 407 are final whatever retry_status says, since they are about the
 * credentials); and CURLE_OK with a header block that broke off is a partial response. A response that was answered
 * with a retryable status and then broke off stays retryable whatever retry_errors says. Pure.
 */
struct engine_finding engine_classify(const struct policy_rules *rules, enum engine_method method,
                                      const struct engine_outcome *outcome);

/* The class alone, which no policy has a say in. Pure. */
enum engine_class engine_class_of(const struct engine_outcome *outcome);

/* Whether the proxy answered CONNECT with something other than 2xx, so that the origin was never reached. Pure. */
bool engine_connect_refused(int connect_status, int status);

/* Whether the failure is one of the connection rather than an answer: what a fresh connection may cure. Pure. */
bool engine_is_transport_failure(enum engine_class failure);

#endif
