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
#include "interpose/handle/body_key.h"
#include "interpose/nesting/caller.h"
#include "interpose/nesting/declared.h"
#include "state/flight.h"
#include "state/intent.h"

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
	struct caller caller;
	struct declared declared;
};

/* Of one operation. Small, and cleared when it begins. */
struct nesting {
	struct handle *handle;
	const struct policy_rules *rules;
	struct nesting_facts *facts;
	int64_t entry_ms;   /* instant at which the operation began */
	bool observes;      /* audit */
	bool known;         /* the facts are filled in: something failed, or this is a repeat */
	bool returns;       /* an outer layer came back with it */
	bool refused;       /* `nested = own`: nothing is left of the intent */
	bool left_to_outer; /* a failure was left to the outer layer */
	bool promised;      /* … on the strength of what was learned alone */
	bool lost_body;     /* its body was read, and can't be rewound: it can't be sent */
	bool cancelled;     /* the program ended it, while its body was read */
	bool wants_preview; /* `nested = own`: it may be what failed lately, once its body is known */
	bool has_id;
	bool declared_is_known;
	enum state_evidence evidence;
};

/* What an operation came to. */
struct nesting_result {
	const struct engine_verdict *verdict;
	const struct engine_outcome *outcome;
	int64_t verdict_ms; /* instant */
	int attempts;       /* made; in audit, those that would have been made */
	int64_t sends;
};

/*
 * At the operation's begin, before the engine's: whether it is one of an intent that failed lately. `fresh` has handle,
 * rules, facts, entry_ms and observes, and is zero else. Fills in what the request shares with the intent;
 * nesting.refused says whether the operation is to be refused.
 */
void nesting_begin(struct nesting *fresh, struct engine_request *request);

/*
 * Before the first attempt of an operation that wants_preview, whose body was read: looks again whether it is one of an
 * intent that failed lately. `is_lost`: the body can't be sent any more. Returns whether *shared is filled in with what
 * the request shares with the intent.
 */
bool nesting_look_again(struct nesting *nesting, bool is_lost, struct engine_request *shared);

/*
 * Makes the operation's intent known: something failed in it. A body that a callback gives can be told only by now, so
 * this may find that the operation is a repeat, too.
 */
void nesting_know(struct nesting *nesting, enum body_sent sent);

/* What the request shares with its intent, which is known. */
void nesting_share(const struct nesting *nesting, struct engine_request *shared);

/*
 * With `nested = yield`: whether a failure is left to an outer layer, after so many attempts, libcurl's resends counted
 * in. The intent is known.
 */
bool nesting_yields(struct nesting *nesting, int attempts, enum engine_class failure, int status);

/* The intent's id before anything failed, for what must be the same in all its operations. */
uint64_t nesting_id(struct nesting *nesting);

/*
 * The instant at which a refused operation may return: backoff_base_ms after the last one that was refused, so that a
 * loop without a pause doesn't spin. Not later than end_ms.
 */
int64_t nesting_pace_ms(const struct nesting *nesting, int64_t now_ms, int64_t end_ms);

/* It is refused now. */
void nesting_note_refused(struct nesting *nesting, int64_t now_ms);

/* An operation whose intent is known is over: keeps the intent for those that may come back. */
void nesting_end(struct nesting *nesting, const struct nesting_result *result);

/* By what the outer layer that got the operation's retries was known; STATE_EVIDENCE_NONE: they were ours. */
enum state_evidence nesting_left_by(const struct nesting *nesting);

/* For the log: "us", "outer". Never NULL. */
const char *nesting_owner(const struct nesting *nesting);

/* For the log: how the outer layer showed itself; NULL: there is none. */
const char *nesting_evidence(const struct nesting *nesting);

#endif
