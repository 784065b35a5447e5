/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_TYPES_H
#define TENACURL_ENGINE_TYPES_H

/*
 * What all of the engine talks of: a request and the outcome of an attempt, which it is told, and the words in which it
 * answers.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/method.h"
#include "engine/retry_after.h"

#define ENGINE_NEVER INT64_MAX /* an instant that never comes; a limit that isn't set */

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

/* Names as the log and the simulator print them ("attempt_cap", "resolve"). Never NULL. */
const char *engine_reason_name(enum engine_reason reason);
const char *engine_class_name(enum engine_class failure);

#endif
