/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_DECLARED_H
#define TENACURL_INTERPOSE_DECLARED_H

/*
 * Outer retry layers that show themselves (engine/outer_layer.h) in this process: by the request's headers, by the
 * names of the program or of the library that makes the call, by curl's --retry. Asked only after a failure, or while
 * an intent lives; what doesn't change in a process is found once.
 */

#include <stdbool.h>
#include <stdint.h>

#include "config/policy.h"
#include "engine/outer_layer.h"
#include "interpose/handle/handle.h"
#include "state/flight.h"

#define DECLARED_EVIDENCE_BYTES 96

struct declared {
	const struct outer_layer *layer; /* NULL: none shows itself */
	enum state_evidence kind;        /* HEADER, PROGRAM, CURL */
	/* What showed it, for the log: "header:amz-sdk-request", "program:s3fs", "library:libproj.so.25",
	 * "argv:--retry", "curlrc:--retry". No header's value. */
	char evidence[DECLARED_EVIDENCE_BYTES];
};

/*
 * Finds the layer. Headers come first, for they are the most telling, then curl's --retry, then names. `library` is the
 * base name of the object that made the call; "": the main program, or not known. Any thread; takes no lock that a fork
 * could leave held, opens files once a process; errno is kept; frames are small.
 */
void declared_find(const struct handle *handle, const struct policy_rules *rules, const char *library,
                   struct declared *declared);

/* Whether a call from `library` (as above) is the curl tool's own: whether it retries stands in its arguments. */
bool declared_is_curl(const char *library);

/* The hash of the invocation's id that a header of the request carries, by which all its attempts are known; 0: none.
 */
uint64_t declared_invocation(const struct handle *handle, const struct policy_rules *rules);

#endif
