/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_ENGINE_H
#define TENACURL_ENGINE_ENGINE_H

/*
 * The engine: what to do next.
 *
 * It is a state machine that is told outcomes and answers verdicts. The same code drives the live loop (interpose/),
 * the simulator (cli/simulate.c) and whatever else performs attempts; whoever drives it does the sleeping and the
 * sending. It has no clock, makes no system call, calls no libcurl, takes no lock and allocates nothing: all of it is a
 * function of its arguments, except for the ports, through which the caller supplies dice and what the operations of
 * one origin share: the circuit breaker, the limit of operations between attempts, the retry budget.
 *
 *     engine_begin → (engine_plan → the attempt → engine_judge → wait)* → done
 *
 * All times are milliseconds of one monotonic clock whose origin does not matter; durations are milliseconds.
 */

#include <stdbool.h>
#include <stdint.h>

#include "config/policy.h"
#include "engine/method.h"
#include "engine/retry_after.h"

#define ENGINE_NEVER INT64_MAX /* an instant that never comes; a limit that isn't set */

enum engine_action { ENGINE_DELIVER, ENGINE_RETRY };

/* Why a verdict is what it is, in the order in which they are checked; engine_reason_name() has the words the log uses.
 */
enum engine_reason {
	ENGINE_CANCELLED,
	ENGINE_DELIVERED,
	ENGINE_DEADLINE,
	ENGINE_SUCCESS,
	ENGINE_TERMINAL_ERROR,
	ENGINE_UNSAFE_REPLAY,
	ENGINE_REQUEST_CHANGED, /* a repeat would be another request */
	ENGINE_BODY_NOT_REPLAYABLE,
	ENGINE_NESTED, /* an outer layer retries; also before attempt 1, by whoever asks engine_intent_admit() */
	ENGINE_ATTEMPT_CAP,
	ENGINE_RETRY_AFTER_LIMIT,
	ENGINE_RETRY_MAX_TIME,
	ENGINE_WAIT_EXCEEDS_DEADLINE,
	ENGINE_WATCHDOG_LIMIT,
	ENGINE_REQUEST_EXPIRED,
	ENGINE_BREAKER_OPEN, /* also before attempt 1, by whoever asks breaker_admit() */
	ENGINE_RETRY_CONCURRENCY,
	ENGINE_BUDGET_EMPTY,
	ENGINE_TRANSIENT_FAILURE, /* the reason of every ENGINE_RETRY */
	ENGINE_DEADLINE_BUDGET,   /* before attempt 1: less than min_try_ms left */
	ENGINE_PASSED_THROUGH     /* tenacurl stayed out of it; never a verdict of engine_judge() */
};

/* What kind of failure an attempt was. The transport classes are those of retry_errors. */
enum engine_class {
	ENGINE_CLASS_NONE, /* no failure */
	ENGINE_CLASS_STATUS,
	ENGINE_CLASS_PROXY, /* the proxy answered CONNECT with something other than 2xx */
	ENGINE_CLASS_RESOLVE,
	ENGINE_CLASS_CONNECT,
	ENGINE_CLASS_TLS,
	ENGINE_CLASS_SEND,
	ENGINE_CLASS_RECEIVE,
	ENGINE_CLASS_EMPTY,
	ENGINE_CLASS_PARTIAL,
	ENGINE_CLASS_HTTP2,
	ENGINE_CLASS_TIMEOUT,
	ENGINE_CLASS_CALLER, /* a callback of the program ended it */
	ENGINE_CLASS_LOCAL,  /* every other CURLcode: permanent, local, a security decision, not HTTP */
};

/* What the request is, as far as repeating it goes. */
struct engine_request {
	enum engine_method method;
	bool conditional;              /* has a precondition (engine/precondition.h) */
	bool has_idempotency_key;      /* has the header that idempotency_header names */
	bool body_replayable;          /* there is no body, or it can be sent again from its start */
	int64_t program_timeout_ms;    /* CURLOPT_TIMEOUT(_MS) as the program set it; 0: none */
	int64_t inherited_deadline_ms; /* instant; ENGINE_NEVER: none */
	int64_t added_limit_ms;        /* what retries may add to the first attempt (a watchdog); 0: no limit */
	/* What the intent had before this operation, where it shares its limits (engine/intent.h). */
	int prior_attempts;
	int64_t prior_ms; /* how long before the operation the intent began */
};

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

/* What one attempt came to, in raw facts. Zero-initialise it. */
struct engine_outcome {
	int curl_code;              /* CURLcode; 0 while judged at the end of a final header block */
	int status;                 /* of the final response; 0: none */
	int connect_status;         /* the proxy's answer to CONNECT; 0: none */
	int os_errno;               /* CURLINFO_OS_ERRNO; trusted only for CURLE_COULDNT_CONNECT */
	bool unsent;                /* engine_proves_unsent() */
	bool single;                /* engine_proves_single() */
	bool request_changed;       /* by the program or by libcurl: a repeat would be another request */
	bool not_http;              /* libcurl spoke another protocol, wherever a redirect led */
	bool header_block_complete; /* the blank line of the final block was seen, or nobody could have seen it */
	bool cancelled;             /* a callback of the program ended it */
	bool delivered;             /* a byte of a final response went to the program */
	int resends; /* requests that libcurl itself sent again in this operation so far: they count as attempts do */
	bool stop_hint; /* struct engine_demand's: a header of the response told us not to retry */
	struct engine_retry_after
	    retry_after; /* of the final response or, if it failed, the proxy's answer to CONNECT */
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

/* Names as the log and the simulator print them ("attempt_cap", "resolve"). Never NULL. */
const char *engine_reason_name(enum engine_reason reason);
const char *engine_class_name(enum engine_class failure);

#endif
