/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_NESTING_H
#define TENACURL_INTERPOSE_NESTING_H

/*
 * One owner of retries: finds out whether a layer above us (the program, its SDK, a shell loop) retries what an
 * operation wants done, so that attempts don't multiply. See the essay in nesting.c. Nothing but a load happens while
 * everything succeeds; all the rest is for operations in which something failed, and for what comes back after that.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "engine/intent.h"
#include "interpose/call_site.h"
#include "interpose/declared.h"
#include "interpose/family.h"
#include "interpose/wait.h"
#include "state/flight.h"
#include "state/intent.h"

struct operation;

/* Small, and cleared when an operation begins. */
struct nesting {
	bool known;         /* struct nesting_facts is filled in: something failed, or this is a repeat */
	bool returns;       /* an outer layer came back with it */
	bool refused;       /* `nested = own`: nothing is left of the intent */
	bool left_to_outer; /* a failure was left to the outer layer */
	bool promised;      /* … on the strength of what was learned alone */
	bool lost_body;     /* its body was read, and can't be rewound: it can't be sent */
	bool cancelled;     /* the program ended it, while its body was read */
	bool wants_preview; /* `nested = own`: it may be what failed lately, once its body is known */
	bool has_id;
	bool site_is_known;
	bool declared_is_known;
	enum state_evidence evidence;
};

/* Written before it is read. */
struct nesting_facts {
	struct engine_intent intent;
	uint64_t id;           /* random; set once `known`, or by nesting_id() */
	uint64_t want;         /* what is wanted; 0: it can't be told, so that a repeat won't be recognised */
	uint64_t invocation;   /* an outer layer's own id of it; 0: none */
	uint64_t thread_key;   /* under which this thread, or with such an id any, finds it again; 0: it won't */
	uint64_t promised_key; /* what was learned under it is what was believed */
	uint64_t sends;        /* of the operations before this one */
	int64_t refused_ms;
	int64_t expires_ms;
	int64_t gap_ms; /* since its last operation returned */
	struct family family;
	struct call_site site;
	struct declared declared;
};

/*
 * At the operation's begin, before the engine's: whether it is one of an intent that failed lately. Fills in what the
 * request shares with it; nesting.refused says whether the operation is to be refused.
 */
void nesting_begin(struct operation *operation, int64_t now_ms, struct engine_request *request);

/*
 * Before the first attempt of an operation that wants_preview: reads its body, and looks again whether it is one of an
 * intent that failed lately. Calls the program, which may end the operation.
 */
void nesting_preview(struct operation *operation);

/* The engine's port: whether a failure is left to an outer layer. The context is the struct operation. */
bool nesting_yields(void *context, enum engine_class failure, int status);

/*
 * Makes the operation's intent known: something failed in it. A body that a callback gives can be told only by now, so
 * this may find that the operation is a repeat, too.
 */
void nesting_know(struct operation *operation);

/* Makes the operation's call site known. */
void nesting_know_site(struct operation *operation);

/* The intent's id before anything failed, for what must be the same in all its operations. */
uint64_t nesting_id(struct operation *operation);

/*
 * A refused operation waits until it is backoff_base_ms after the last one that was refused, so that a loop without a
 * pause doesn't spin. Returns how the wait ended.
 */
enum wait_end nesting_pace(struct operation *operation);

/* An operation whose intent is known is over: keeps the intent for those that may come back. */
void nesting_end(struct operation *operation);

/* By what the outer layer that got the operation's retries was known; STATE_EVIDENCE_NONE: they were ours. */
enum state_evidence nesting_left_by(const struct operation *operation);

/* For the log: "us", "outer". Never NULL. */
const char *nesting_owner(const struct operation *operation);

/* For the log: how the outer layer showed itself; NULL: there is none. */
const char *nesting_evidence(const struct operation *operation);

#endif
