/* SPDX-License-Identifier: MIT */
#include "cli/stats/last_words.h"

#include <stddef.h>

static const char *const failures[] = {
    [ENGINE_CLASS_NONE] = "nothing went wrong",
    [ENGINE_CLASS_STATUS] = "the server answered with an error",
    [ENGINE_CLASS_PROXY] = "the proxy refused",
    [ENGINE_CLASS_RESOLVE] = "the host's name couldn't be looked up",
    [ENGINE_CLASS_CONNECT] = "no connection could be made",
    [ENGINE_CLASS_TLS] = "TLS couldn't be set up",
    [ENGINE_CLASS_SEND] = "the connection broke while the request was sent",
    [ENGINE_CLASS_RECEIVE] = "the connection broke before the answer was complete",
    [ENGINE_CLASS_EMPTY] = "the server closed the connection without an answer",
    [ENGINE_CLASS_PARTIAL] = "the answer was shorter than announced",
    [ENGINE_CLASS_HTTP2] = "HTTP/2 reported an error",
    [ENGINE_CLASS_TIMEOUT] = "it took too long",
    [ENGINE_CLASS_CALLER] = "the program ended it",
    [ENGINE_CLASS_LOCAL] = "libcurl failed for another reason",
};

static const char *const reasons[] = {
    [ENGINE_CANCELLED] = "The program ended it, so it was not tried again.",
    [ENGINE_DELIVERED] = "Part of the answer had reached the program, so it could not be tried again.",
    [ENGINE_DEADLINE] = "Its time was up.",
    [ENGINE_SUCCESS] = "It succeeded.",
    [ENGINE_TERMINAL_ERROR] = "That doesn't pass by itself, as the policy sees it, so it was not tried again.",
    [ENGINE_UNSAFE_REPLAY] = "The server may have carried it out, and the policy doesn't call it safe to repeat.",
    [ENGINE_REQUEST_CHANGED] = "The request was changed meanwhile: made again it would have been another one.",
    [ENGINE_BODY_NOT_REPLAYABLE] = "The body of the request could not be sent again.",
    [ENGINE_NESTED] = "Its caller repeats it too, and only one of the two may retry.",
    [ENGINE_ATTEMPT_CAP] = "max_attempts allows no further attempt.",
    [ENGINE_RETRY_AFTER_LIMIT] = "The server asked for a longer wait than retry_after_max_ms, or for no retry.",
    [ENGINE_RETRY_MAX_TIME] = "The next retry would have started later than retry_max_time_ms allows.",
    [ENGINE_WAIT_EXCEEDS_DEADLINE] = "The wait before the next retry didn't fit into the time that was left.",
    [ENGINE_WATCHDOG_LIMIT] =
        "The next retry could have kept the service from telling its watchdog in time that it lives.",
    [ENGINE_REQUEST_EXPIRED] = "The request is signed, and it would have expired before the next retry.",
    [ENGINE_BREAKER_OPEN] = "The circuit breaker was open: this origin has been failing for some time.",
    [ENGINE_RETRY_CONCURRENCY] = "max_retrying operations were between attempts already.",
    [ENGINE_BUDGET_EMPTY] = "The retry budget of this origin was used up.",
    [ENGINE_TRANSIENT_FAILURE] = "It was to be tried again.",
    [ENGINE_DEADLINE_BUDGET] = "Less than min_try_ms was left of its deadline, so no request was made.",
    [ENGINE_PASSED_THROUGH] = "tenacurl stayed out of it.",
};

static const char *const evidence_texts[] = {
    [STATE_EVIDENCE_HEADER] = "a header of the request says that the caller retries",
    [STATE_EVIDENCE_PROGRAM] = "the policy's nested_programs has it",
    [STATE_EVIDENCE_CURL] = "curl was told to --retry",
    [STATE_EVIDENCE_LEARNED] = "the caller has retried such requests before",
    [STATE_EVIDENCE_OBSERVED] = "the caller was just retrying it",
};

static const char *const evidence_names[] = {
    [STATE_EVIDENCE_NONE] = "none", [STATE_EVIDENCE_HEADER] = "header",   [STATE_EVIDENCE_PROGRAM] = "program",
    [STATE_EVIDENCE_CURL] = "curl", [STATE_EVIDENCE_LEARNED] = "learned", [STATE_EVIDENCE_OBSERVED] = "observed",
};

static const char *text_at(const char *const *texts, size_t count, size_t index)
{
	return index < count && texts[index] ? texts[index] : "There are no words for it.";
}

const char *last_failure_text(enum engine_class failure)
{
	return text_at(failures, sizeof(failures) / sizeof(failures[0]), (size_t)failure);
}

const char *last_reason_text(enum engine_reason reason)
{
	return text_at(reasons, sizeof(reasons) / sizeof(reasons[0]), (size_t)reason);
}

const char *last_evidence_text(enum state_evidence evidence)
{
	return text_at(evidence_texts, sizeof(evidence_texts) / sizeof(evidence_texts[0]), (size_t)evidence);
}

const char *last_evidence_name(enum state_evidence evidence)
{
	return (size_t)evidence < sizeof(evidence_names) / sizeof(evidence_names[0]) ? evidence_names[evidence]
	                                                                             : "unknown";
}
