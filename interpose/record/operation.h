/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_OPERATION_H
#define TENACURL_INTERPOSE_OPERATION_H

/*
 * One call of curl_easy_perform by the program: attempts, verdicts and waits until there is one result. The whole of it
 * is for who drives it and for who keeps its records; all others are handed what they need.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/course.h"
#include "interpose/gate/gate.h"
#include "interpose/handle/handle.h"
#include "interpose/handle/thread_notes.h"
#include "interpose/nesting/nesting.h"
#include "interpose/parts/idempotency_key.h"
#include "interpose/parts/lend.h"
#include "interpose/parts/progress.h"
#include "interpose/parts/repeat.h"
#include "interpose/parts/restraint.h"
#include "interpose/parts/sends.h"
#include "interpose/record/witness.h"

/* Lives in its handle's room: a kilobyte is much where libcurl leaves the stack of a small thread 800 bytes. */
struct operation {
	struct handle *handle;
	const struct policy *policy;
	const struct policy_section *section;
	struct engine_outcome outcome; /* what the attempt at hand was judged by */
	bool is_witnessed;             /* `witness` is of it */
	bool is_noted;                 /* the circuit breaker knows what it came to */

	struct restraint_place place; /* among the operations between attempts */
	int64_t lent_limit_ms;        /* what TIMEOUT_MS is lent as, from the attempt's start */
	struct sends sends;
	bool resend_refused; /* `resend = forbid` ended the attempt */
	bool wants_fresh_connection, wants_fresh_lookup;
	bool waits;    /* between attempts, or for an unpause: no transfer is running */
	bool unpaused; /* the program's curl_easy_pause() meanwhile */

	struct progress progress;
	struct nesting nesting;
	struct repeat repeat;
	bool return_is_told; /* that an outer layer came back with it */
	bool encloses;       /* operations begun in its callbacks share its deadline */

	uint64_t number; /* in the log; 0 until the first record */

	/* From the end of this on, everything is written before it is read, and not cleared when an operation begins.
	 */
	struct gate gate;
	struct course course;
	struct witness witness;
	struct nesting_facts nesting_facts;
	struct enclosing outer;                 /* what enclosed this one */
	struct idempotency_key key;             /* add_idempotency_key */
	char entry_error_text[CURL_ERROR_SIZE]; /* libcurl before 7.60 doesn't clear the error buffer */
};

#endif
