/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_PRECONDITION_H
#define TENACURL_ENGINE_PRECONDITION_H

/*
 * What makes a request conditional on the state of what it changes (RFC 9110 §13). A repeated PUT or DELETE would be
 * judged against what the first one left behind, and fail with 412 although all went well. Vendors have names of their
 * own for it, but they build them alike: known are RFC 9110 and 6638 (If-…), WebDAV (If, Overwrite: F), Google
 * (x-goog-if-…, ifGenerationMatch=), Azure (x-ms-if-…, x-ms-source-if-…, x-ms-blob-condition-…), AWS
 * (x-amz-copy-source-if-…, x-amz-if-match-…, x-amz-write-offset-bytes), OSS, COS, OBS, TOS (…-forbid-overwrite), etcd
 * (prevExist=), Consul (cas=), Elasticsearch (if_seq_no=, op_type=create). Pure, any thread.
 */

#include <stdbool.h>

#include "config/policy.h"
#include "engine/request_field.h"

/* more: the policy's precondition_headers. */
bool precondition_is_field(const struct request_field *field, const struct policy_list *more);

/* The same for a parameter of the URL's query, undecoded. */
bool precondition_is_parameter(struct span name, struct span value);

#endif
