/* SPDX-License-Identifier: MIT */

#include "interpose/drive/admit.h"

#include "base/clock.h"
#include "interpose/drive/attempt.h"
#include "interpose/drive/judge.h"
#include "interpose/drive/wait.h"
#include "interpose/parts/body.h"
#include "interpose/parts/bounds.h"
#include "interpose/record/journal.h"

/* What an operation that fails without a request is told. */
static const struct refusal {
	enum engine_reason reason;
	enum engine_class failure;
	CURLcode result;
	const char *text;
} refusals[] = {
    {ENGINE_NESTED, ENGINE_CLASS_CONNECT, CURLE_COULDNT_CONNECT,
     "tenacurl: this request failed a moment ago and its attempts are used up, so it was not made again"},
    {ENGINE_BREAKER_OPEN, ENGINE_CLASS_CONNECT, CURLE_COULDNT_CONNECT,
     "tenacurl: the circuit breaker is open, so no request was made"},
    {ENGINE_DEADLINE_BUDGET, ENGINE_CLASS_TIMEOUT, CURLE_OPERATION_TIMEDOUT,
     "tenacurl: the deadline was over before the request was made"},
};

static const struct refusal *refusal_for(enum engine_reason reason)
{
	const struct refusal *refusal = refusals;
	while (refusal->reason != reason)
		refusal++;
	return refusal;
}

/*
 * Before attempt 1. A perform that may use no protocol sends nothing, but leaves no info value of an older transfer
 * behind.
 */
static CURLcode refuse(struct operation *operation)
{
	const struct refusal *refusal = refusal_for(operation->course.verdict.reason);
	struct handle *handle = operation->handle;
	const struct libcurl *libcurl = handle->libcurl;
	operation->course.verdict.failure = refusal->failure;
	if (operation->gate.observes) {
		/* Only noted: without an operation the callbacks are the program's own. */
		CURL *curl = handle->curl;
		handle->active = NULL;
		CURLcode result = libcurl->perform(curl);
		/* Unless they cleaned the handle up. */
		if (handle_find(curl) == handle)
			handle->active = operation;
		return result;
	}
	/* Protocols that were set by name can't be read back as a number: better stale values than a changed option. */
	if (!handle->program.protocols_by_name && libcurl->setopt(handle->curl, CURLOPT_PROTOCOLS, 0L) == CURLE_OK) {
		gate_begin_attempt(&operation->gate, journal_wants_success(operation));
		libcurl->perform(handle->curl);
		libcurl->setopt(handle->curl, CURLOPT_PROTOCOLS, (long)handle->program.protocols);
	}
	attempt_say(operation, refusal->text);
	return refusal->result;
}

CURLcode admit_cancel(struct operation *operation, int64_t waited_ms)
{
	course_break_off(&operation->course, ENGINE_CANCELLED, waited_ms);
	operation->course.verdict.failure = ENGINE_CLASS_CALLER;
	held_clear(&operation->handle->held);
	attempt_say(operation, "Callback aborted");
	return CURLE_ABORTED_BY_CALLBACK;
}

static enum wait_end pause_until(struct operation *operation, int64_t now_ms, int64_t due_ms)
{
	int64_t most_ms = operation->course.engine.request.added_limit_ms;
	if (most_ms > 0 && due_ms - now_ms > most_ms)
		return WAIT_BROKEN_OFF;
	enum wait_end end = wait_until(operation, due_ms);
	int64_t ended_ms = clock_ms();
	bounds_note_added(ended_ms - now_ms, ended_ms);
	return end;
}

/* Paces an operation that is refused. Returns false if it ended meanwhile; then *result is what the program gets. */
static bool pace(struct operation *operation, CURLcode *result)
{
	struct handle *handle = operation->handle;
	int64_t now_ms = clock_ms();
	int64_t due_ms = nesting_pace_ms(&operation->nesting, now_ms, course_end_ms(&operation->course));
	enum wait_end end = due_ms > now_ms ? pause_until(operation, now_ms, due_ms) : WAIT_OVER;
	if (!handle_runs(handle, operation))
		return false;
	nesting_note_refused(&operation->nesting, clock_ms());
	if (end == WAIT_CANCELLED) {
		*result = admit_cancel(operation, 0);
		return false;
	}
	/* Who can't be paced isn't refused: a loop without a pause would spin. */
	operation->nesting.refused = end == WAIT_OVER || operation->nesting.lost_body;
	return true;
}

/* Reads the body ahead, and looks again whether the operation is one of an intent that failed lately. */
static void preview(struct operation *operation)
{
	struct handle *handle = operation->handle;
	struct engine_request shared;
	enum body_preview end = body_preview(handle, &operation->progress, course_end_ms(&operation->course));
	if (!handle_runs(handle, operation))
		return;
	operation->nesting.cancelled = end == BODY_CANCELLED;
	if (operation->nesting.cancelled)
		return;
	if (nesting_look_again(&operation->nesting, end == BODY_LOST, &shared))
		engine_share(&operation->course.engine, &shared);
	judge_tell_return(operation);
}

/*
 * Before the first attempt of what may be a repeat that we own. Returns false as pace() does. Not inlined: what every
 * success runs through would save its registers for it.
 */
static __attribute__((noinline)) bool settle_repeat(struct operation *operation, CURLcode *result)
{
	struct handle *handle = operation->handle;
	if (operation->nesting.wants_preview)
		preview(operation);
	if (!handle_runs(handle, operation))
		return false;
	if (operation->nesting.cancelled) {
		*result = admit_cancel(operation, 0);
		return false;
	}
	return !operation->nesting.refused || operation->gate.observes || pace(operation, result);
}

static bool breaker_admits(void *context)
{
	const struct operation *operation = context;
	return restraint_admits(operation->handle, &operation->section->rules);
}

bool admit_operation(struct operation *operation, CURLcode *result)
{
	bool is_doubtful = operation->nesting.refused || operation->nesting.wants_preview;
	if (is_doubtful && !settle_repeat(operation, result))
		return false;
	const struct course_admission admission = {
	    .is_used_up = operation->nesting.refused,
	    .breaker_admits = breaker_admits,
	    .context = operation,
	};
	if (course_start(&operation->course, &admission) == COURSE_SEND)
		return true;
	*result = refuse(operation);
	return false;
}
