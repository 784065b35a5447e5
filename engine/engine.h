/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_ENGINE_H
#define TENACURL_ENGINE_ENGINE_H

/*
 * The engine: what to do next.
 *
 * It is a state machine that is told outcomes and answers verdicts. The same code drives the live loop (interpose/),
 * the simulator (cli/simulate/simulate.c) and whatever else performs attempts; whoever drives it does the sleeping and
 * the sending. It has no clock, makes no system call, calls no libcurl, takes no lock and allocates nothing: all of it
 * is a function of its arguments, except for the ports, through which the caller supplies dice and what the operations
 * of one origin share: the circuit breaker, the limit of operations between attempts, the retry budget.
 *
 *     engine_begin → (engine_plan → the attempt → engine_judge → wait)* → done
 *
 * All times are milliseconds of one monotonic clock whose origin does not matter; durations are milliseconds.
 */

#include <stdbool.h>
#include <stdint.h>

#include "config/policy.h"
#include "engine/types.h"

enum engine_action { ENGINE_DELIVER, ENGINE_RETRY };

/* The operation so far. Filled by engine_begin(); callers read it, only the engine writes it. */
struct engine_operation {
	const struct policy_rules *rules;
	struct engine_request request;
	int64_t entry_ms;            /* instant */
	int64_t deadline_ms;         /* instant: the earlier of the policy's and the inherited one */
	int64_t program_deadline_ms; /* instant: the program's own timeout */
	int64_t failed_ms;           /* instant of the first verdict; ENGINE_NEVER: none fell yet */
	int64_t waited_ms;           /* sum of the waits: as asked for, but for one that was broken off */
	int attempts;                /* planned so far, the first one included */
	bool maybe_executed;         /* some attempt was neither proved unsent nor refused */
};

/* The bounds of the next attempt. Durations, at least 1; ENGINE_NEVER: no bound. */
struct engine_plan {
	int number;               /* 1 for the first attempt */
	int64_t limit_ms;         /* hard end of the attempt */
	int64_t connect_limit_ms; /* of its connect phase: what the policy adds; the program's own stays */
	int64_t header_limit_ms;  /* its final header block must be complete by then (retries only: retry_max_time_ms,
	                             added_limit_ms) */
};

/* Where dice come from, and what operations share. All but draw may be NULL: that port is not there. */
struct engine_ports {
	double (*draw)(void *context); /* uniform in 0..1; asked once per considered retry */
	/* Whether the request only asks if somebody is there, so that a failure is an answer. Asked of those that may
	 * pass. */
	bool (*is_probe)(void *context);
	/* The instant at which the request expires by what it says itself; ENGINE_NEVER: none is known. Asked before
	 * the wait is drawn. */
	int64_t (*expires_ms)(void *context);
	/* Whether an outer layer would retry a failure of this kind, so that we don't. Asked once nothing before it in
	 * enum engine_reason applies. */
	bool (*yields)(void *context, enum engine_class failure, int status);
	/* Whether the circuit breaker lets a retry be made: it is closed, the attempt that is judged taken into
	 * account. */
	bool (*breaker_allows)(void *context);
	/* Whether the request's body can be sent again after all, as far as can be told without touching it: a retry
	 * isn't certain before its wait is over. */
	bool (*can_rewind)(void *context);
	/* Takes a place among the operations that are between attempts, for a wait of wait_ms; false: all are taken.
	 * After a verdict to retry the caller gives it back, when the wait is over or if the retry isn't made. */
	bool (*take_retrying)(void *context, int64_t wait_ms);
	/* Gives that place back in the same judgement, since there was no token. */
	void (*give_retrying)(void *context);
	bool (*take_token)(void *context); /* false: the budget is empty; asked last */
	void *context;
};

struct engine_verdict {
	enum engine_action action;
	enum engine_reason reason;
	enum engine_class failure;
	int64_t wait_ms; /* ENGINE_RETRY: how long from now; otherwise the wait that was considered, 0 if none was */
	bool passing;    /* the failure is of a kind that the policy says may pass */
	bool ambiguous;  /* ENGINE_RETRY: the retry may repeat a request that was executed */
	bool fresh_connection; /* ENGINE_RETRY: use a new connection (transport failure) */
	bool fresh_lookup;     /* ENGINE_RETRY: look the name up again (failed look-up) */
};

/* Starts an operation at now_ms. rules must outlive it. */
void engine_begin(struct engine_operation *operation, const struct policy_rules *rules,
                  const struct engine_request *request, int64_t now_ms);

/*
 * Gives an operation that runs what its intent had before it (prior_attempts, prior_ms), where that wasn't known at its
 * begin. May be called by the port `yields`: the verdict that is being made takes it into account, but for the
 * deadline.
 */
void engine_share(struct engine_operation *operation, const struct engine_request *intent);

/*
 * Plans the next attempt. Returns false, and plans none, only before attempt 1: the policy's or inherited deadline has
 * less than min_try_ms left (reason ENGINE_DEADLINE_BUDGET). Later attempts are always planned, with at least 1 ms: the
 * verdict already made sure that they fit.
 */
bool engine_plan(struct engine_operation *operation, int64_t now_ms, struct engine_plan *plan);

/* The instant at which the operation has to be over: the policy's or inherited deadline, or the program's own. Pure. */
int64_t engine_end_ms(const struct engine_operation *operation);

/*
 * The program changed its timeout (0: none) while an attempt runs that began at attempt_start_ms: the rest of the
 * operation and the plan's limit go by the new one.
 */
void engine_replan(struct engine_operation *operation, int64_t program_timeout_ms, int64_t attempt_start_ms,
                   struct engine_plan *plan);

/*
 * Judges the attempt that was planned last, at now_ms: at the end of its final header block, or when it ended. Checks
 * in the order of enum engine_reason; draws only when everything before the wait passed, takes a token last.
 */
struct engine_verdict engine_judge(struct engine_operation *operation, const struct engine_outcome *outcome,
                                   int64_t now_ms, const struct engine_ports *ports);

/*
 * The retry of a verdict isn't made, since its wait ended after waited_ms: the verdict becomes to deliver, for
 * `reason`. What it took is the caller's to give back, but for the token.
 */
void engine_break_off(struct engine_operation *operation, struct engine_verdict *verdict, enum engine_reason reason,
                      int64_t waited_ms);

/*
 * Whether an answer could be tried again as far as its status tells: if not, no header field, body or port of
 * engine_judge() can make a retry of it. For who wants to let through at once what won't be retried. Pure.
 */
bool engine_may_retry(const struct engine_operation *operation, const struct engine_outcome *outcome);

/*
 * Takes a verdict to retry back: the body, which is read after the verdict, contains final_body. The verdict becomes to
 * deliver a terminal error; a token that it took stays taken, and a place among the retrying ones is the caller's to
 * give back.
 */
void engine_retract(struct engine_operation *operation, struct engine_verdict *verdict);

#endif
