/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_OPERATION_H
#define TENACURL_INTERPOSE_OPERATION_H

/*
 * One call of curl_easy_perform by the program: attempts, verdicts and waits until there is one result.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "interpose/gate.h"
#include "interpose/handle.h"
#include "interpose/nesting.h"
#include "interpose/progress.h"
#include "interpose/repeat.h"
#include "interpose/sends.h"
#include "interpose/thread_notes.h"
#include "interpose/witness.h"
#include "state/lease.h"

#define KEY_HEADER_BYTES 192 /* "<idempotency_header>: <uuid>" */

/* Lives in its handle's room: a kilobyte is much where libcurl leaves the stack of a small thread 800 bytes. */
struct operation {
	struct handle *handle;
	const struct policy *policy;
	const struct policy_section *section;
	struct engine_verdict verdict; /* of the attempt at hand */
	struct engine_outcome outcome; /* what it was judged by */
	bool has_verdict;
	bool is_witnessed;  /* `witness` is of the attempt at hand */
	bool is_noted;      /* the circuit breaker knows what the attempt at hand came to */
	int64_t verdict_ms; /* instant: waits count from here */

	struct state_lease lease;  /* its place among the operations between attempts */
	uint32_t lease_generation; /* of the process that took it */

	int64_t lent_limit_ms;    /* what TIMEOUT_MS is lent as, from the attempt's start */
	int64_t attempt_start_ms; /* instant */
	struct sends sends;
	bool resend_refused; /* `resend = forbid` ended the attempt */
	bool wants_fresh_connection, wants_fresh_lookup;
	bool waits;    /* between attempts, or for an unpause: no transfer is running */
	bool unpaused; /* the program's curl_easy_pause() meanwhile */

	struct progress shown;
	bool hides_progress; /* the program was told less than libcurl's numbers */
	struct nesting nesting;
	struct repeat repeat;
	bool encloses; /* operations begun in its callbacks share its deadline */

	uint64_t number;              /* in the log; 0 until the first record */
	struct curl_slist key_header; /* add_idempotency_key: goes before the program's own headers */

	/* From the end of this on, everything is written before it is read, and not cleared when an operation begins.
	 */
	struct gate gate;
	struct progress real;         /* of this attempt: libcurl's numbers */
	struct progress shown_before; /* of those before it, which this one hasn't reached yet */
	struct engine_operation engine;
	struct engine_plan plan;
	struct witness witness;
	struct nesting_facts nesting_facts;
	struct enclosing outer; /* what enclosed this one */
	char key_text[KEY_HEADER_BYTES];
	char entry_error_text[CURL_ERROR_SIZE]; /* libcurl before 7.60 doesn't clear the error buffer */
};

/*
 * Performs an operation that begins at now_ms on a handle whose callbacks are lent, as the section's rules say, and
 * returns what curl_easy_perform returns.
 */
CURLcode operation_run(struct handle *handle, const struct policy *policy, const struct policy_section *section,
                       int64_t now_ms);

/*
 * Whether the operation is still the handle's: asked after each call of the program that we make, since it may clean
 * the handle up. If not, nothing of the operation may be touched; the handle's record never goes.
 */
static inline bool operation_is_alive(const struct handle *handle, const struct operation *operation)
{
	return handle->active == operation;
}

/*
 * Whether this process was forked, in whatever way, while the operation ran: the request is its parent's to repeat. No
 * system call.
 */
bool operation_is_forked(const struct operation *operation);

/* For the gate. */

/* The final response has begun (or enough of its body was seen): asks the engine for the verdict on it. */
void operation_judge_response(struct operation *operation);

/* The body shows that the response is final: takes the verdict to retry back. */
void operation_retract_retry(struct operation *operation);

/* Whether a response of the status at hand could be tried again, whatever its header fields and its body will say. */
bool operation_may_retry_answer(struct operation *operation);

/* Whether the response at hand is a success that the policy wants held until it is complete. */
bool operation_holds_success(const struct operation *operation);

/* Whether the block at hand is a proxy's answer to CONNECT. */
bool operation_is_proxy_block(const struct operation *operation);

#endif
