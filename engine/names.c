/* SPDX-License-Identifier: MIT */

#include <stddef.h>

#include "engine/types.h"

static const char reason_names[][24] = {
    [ENGINE_CANCELLED] = "cancelled",
    [ENGINE_DELIVERED] = "delivered",
    [ENGINE_DEADLINE] = "deadline",
    [ENGINE_SUCCESS] = "success",
    [ENGINE_TERMINAL_ERROR] = "terminal_error",
    [ENGINE_UNSAFE_REPLAY] = "unsafe_replay",
    [ENGINE_REQUEST_CHANGED] = "request_changed",
    [ENGINE_BODY_NOT_REPLAYABLE] = "body_not_replayable",
    [ENGINE_NESTED] = "nested",
    [ENGINE_ATTEMPT_CAP] = "attempt_cap",
    [ENGINE_RETRY_AFTER_LIMIT] = "retry_after_limit",
    [ENGINE_RETRY_MAX_TIME] = "retry_max_time",
    [ENGINE_WAIT_EXCEEDS_DEADLINE] = "wait_exceeds_deadline",
    [ENGINE_WATCHDOG_LIMIT] = "watchdog_limit",
    [ENGINE_REQUEST_EXPIRED] = "request_expired",
    [ENGINE_BREAKER_OPEN] = "breaker_open",
    [ENGINE_RETRY_CONCURRENCY] = "retry_concurrency",
    [ENGINE_BUDGET_EMPTY] = "budget_empty",
    [ENGINE_TRANSIENT_FAILURE] = "transient_failure",
    [ENGINE_DEADLINE_BUDGET] = "deadline_budget",
    [ENGINE_PASSED_THROUGH] = "passed_through",
};

static const char class_names[][8] = {
    [ENGINE_CLASS_NONE] = "none",       [ENGINE_CLASS_STATUS] = "status",   [ENGINE_CLASS_PROXY] = "proxy",
    [ENGINE_CLASS_RESOLVE] = "resolve", [ENGINE_CLASS_CONNECT] = "connect", [ENGINE_CLASS_TLS] = "tls",
    [ENGINE_CLASS_SEND] = "send",       [ENGINE_CLASS_RECEIVE] = "receive", [ENGINE_CLASS_EMPTY] = "empty",
    [ENGINE_CLASS_PARTIAL] = "partial", [ENGINE_CLASS_HTTP2] = "http2",     [ENGINE_CLASS_TIMEOUT] = "timeout",
    [ENGINE_CLASS_CALLER] = "caller",   [ENGINE_CLASS_LOCAL] = "local",
};

#define NAME_AT(names, index) ((size_t)(index) < sizeof names / sizeof names[0] ? names[index] : "unknown")

const char *engine_reason_name(enum engine_reason reason)
{
	return NAME_AT(reason_names, reason);
}

const char *engine_class_name(enum engine_class failure)
{
	return NAME_AT(class_names, failure);
}
