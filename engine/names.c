/* SPDX-License-Identifier: MIT */

#include <stddef.h>

#include "engine/types.h"

static const char *const reason_names[] = {
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

static const char *const class_names[] = {
    [ENGINE_CLASS_NONE] = "none",       [ENGINE_CLASS_STATUS] = "status",   [ENGINE_CLASS_PROXY] = "proxy",
    [ENGINE_CLASS_RESOLVE] = "resolve", [ENGINE_CLASS_CONNECT] = "connect", [ENGINE_CLASS_TLS] = "tls",
    [ENGINE_CLASS_SEND] = "send",       [ENGINE_CLASS_RECEIVE] = "receive", [ENGINE_CLASS_EMPTY] = "empty",
    [ENGINE_CLASS_PARTIAL] = "partial", [ENGINE_CLASS_HTTP2] = "http2",     [ENGINE_CLASS_TIMEOUT] = "timeout",
    [ENGINE_CLASS_CALLER] = "caller",   [ENGINE_CLASS_LOCAL] = "local",
};

static const char *name_at(const char *const *names, size_t count, size_t index)
{
	return index < count ? names[index] : "unknown";
}

const char *engine_reason_name(enum engine_reason reason)
{
	return name_at(reason_names, sizeof reason_names / sizeof reason_names[0], (size_t)reason);
}

const char *engine_class_name(enum engine_class failure)
{
	return name_at(class_names, sizeof class_names / sizeof class_names[0], (size_t)failure);
}
