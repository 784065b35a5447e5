/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_INTENT_H
#define TENACURL_ENGINE_INTENT_H

/*
 * An intent is what a program wants done; an outer retry layer runs several operations for it. Here is what one
 * operation leaves for the next: whether the next belongs to an outer layer at all, and with `nested = own` what is
 * left of the intent's limits. Pure, as all of the engine: who drives it keeps the struct (state/intent.h) and has the
 * clock.
 *
 * All times are milliseconds of one monotonic clock; 0 is "never was".
 */

#include <stdbool.h>
#include <stdint.h>

#include "config/policy.h"
#include "engine/types.h"

struct engine_intent {
	int64_t began_ms;       /* entry of its first operation */
	int64_t ended_ms;       /* return of its last operation that made an attempt */
	int64_t sent_ms;        /* end of its last attempt */
	int64_t asked_until_ms; /* end of the last Retry-After */
	int64_t success_gap_ms; /* shortest time after which it came back although it had succeeded; 0: it never did */
	int32_t operations;     /* that made an attempt */
	int32_t attempts;       /* libcurl's own resends included */
	int32_t extra_attempts; /* of those, the ones that the program didn't ask for: not the first of an operation */
	uint32_t failures;      /* set of 1 << enum engine_class after which it came back */
	uint32_t last_failure; /* enum engine_class that its last operation returned; ENGINE_CLASS_NONE: it succeeded */
	bool stopped; /* we gave its last operation up for lack of attempts, time, budget or a working origin */
};

/* What the next operation of an intent is. */
enum engine_return {
	ENGINE_RETURN_FRESH, /* it succeeded, and comes back: a new beginning; the caller polls */
	ENGINE_RETURN_POLL,  /* after a failure, but not sooner than this caller comes back after a success */
	ENGINE_RETURN_RETRY  /* an outer layer retries */
};

/*
 * What an operation that begins at now_ms is to the intent, whose last operation is over. A caller that comes back
 * after a failure as late as it does after a success is a poller: its rhythm is its own, not a backoff.
 */
enum engine_return engine_intent_return(const struct engine_intent *intent, int64_t now_ms);

/*
 * Notes that the intent came back at now_ms, as engine_intent_return() said: FRESH starts it afresh (attempts, begin,
 * what it came back after), POLL gives it its retries back, RETRY adds its last failure to `failures`.
 */
void engine_intent_resume(struct engine_intent *intent, enum engine_return how, int64_t now_ms);

/*
 * `nested = own`: whether an operation that begins at now_ms may make an attempt. Not so if the intent's attempts or
 * time are used up, until max(last Retry-After, nested_quiet_ms) after the last send; then one attempt goes out again.
 * If it may, request gets what the intent had before (prior_attempts, prior_ms).
 */
bool engine_intent_admit(const struct engine_intent *intent, const struct policy_rules *rules, int64_t now_ms,
                         struct engine_request *request);

/*
 * `nested = yield`: whether one attempt is all that an operation of the intent gets after such a failure. `returned`:
 * the operation is a further one (ENGINE_RETURN_RETRY). made: attempts of the operation so far. An intent that came
 * back after this kind of failure is the outer layer's; one that came back after others only has what is left of
 * max_attempts - 1 retries for all its operations together.
 */
bool engine_intent_yields(const struct engine_intent *intent, const struct policy_rules *rules, bool returned,
                          enum engine_class failure, int made);

/* What an operation that is over came to. */
struct engine_intent_result {
	int64_t ended_ms;
	int64_t sent_ms;        /* end of its last attempt */
	int64_t asked_until_ms; /* end of the last response's Retry-After; 0: none */
	int attempts;           /* 0: it made none, and changes nothing */
	int resends;
	enum engine_class failure;
	enum engine_reason reason;
};

/* Adds an operation that is over to its intent. */
void engine_intent_add(struct engine_intent *intent, const struct engine_intent_result *result);

#endif
