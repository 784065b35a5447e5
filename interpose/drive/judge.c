/* SPDX-License-Identifier: MIT */

#include "interpose/drive/judge.h"

#include "base/clock.h"
#include "interpose/drive/wait.h"
#include "interpose/handle/info.h"
#include "interpose/host/dice.h"
#include "interpose/parts/body.h"
#include "interpose/parts/bounds.h"
#include "interpose/parts/outcome.h"
#include "interpose/record/journal.h"

#define STATUS_NOT_MODIFIED  304
#define KEEPS_METHOD_VERSION 0x074700 /* 7.71.0 */

enum body_sent judge_sent(const struct operation *operation)
{
	return operation->outcome.single ? BODY_SENT_ONCE : BODY_SENT;
}

void judge_tell_return(struct operation *operation)
{
	if (!operation->nesting.returns || operation->return_is_told)
		return;
	operation->return_is_told = true;
	journal_return(operation);
}

static void know_intent(struct operation *operation)
{
	nesting_know(&operation->nesting, judge_sent(operation));
	judge_tell_return(operation);
}

/* What the engine asks. */

static double draw(void *context)
{
	(void)context;
	return dice_draw();
}

static bool is_probe(void *context)
{
	const struct operation *operation = context;
	return bounds_is_probe(operation->handle, &operation->section->rules);
}

static int64_t expires_ms(void *context)
{
	const struct operation *operation = context;
	return bounds_expires_ms(operation->handle);
}

static bool breaker_allows(void *context)
{
	const struct operation *operation = context;
	return restraint_allows_retry(operation->handle, &operation->section->rules);
}

/* Of a body that a callback gives nobody knew at the begin that it is one which comes back. */
static void share_late(struct operation *operation)
{
	struct engine_request shared;
	if (operation->nesting.known)
		return;
	know_intent(operation);
	nesting_share(&operation->nesting, &shared);
	engine_share(&operation->course.engine, &shared);
}

static bool yields(void *context, enum engine_class failure, int status)
{
	struct operation *operation = context;
	enum policy_nested nested = operation->section->rules.nested;
	if (nested == POLICY_NESTED_OWN)
		share_late(operation);
	if (nested != POLICY_NESTED_YIELD)
		return false;
	know_intent(operation);
	int attempts = operation->course.engine.attempts + operation->outcome.resends;
	return nesting_yields(&operation->nesting, attempts, failure, status);
}

/* Before 7.71 a redirect that makes a GET of the request does so for good: the next perform would leave the body out.
 */
static bool has_lost_body(const struct operation *operation)
{
	return operation->gate.became_get && operation->handle->libcurl->version_number < KEEPS_METHOD_VERSION;
}

static bool can_rewind(void *context)
{
	const struct operation *operation = context;
	const struct engine_outcome *outcome = &operation->outcome;
	/* libcurl itself failed to rewind, and remembers: the next perform would fail likewise (curl issue 18206). */
	if (has_lost_body(operation) || outcome->curl_code == CURLE_SEND_FAIL_REWIND)
		return false;
	if (operation->gate.observes)
		return body_could_rewind(operation->handle, &operation->section->rules, outcome);
	return body_can_rewind(operation->handle, outcome);
}

static bool take_retrying(void *context, int64_t wait_ms)
{
	struct operation *operation = context;
	return restraint_take_retrying(operation->handle, &operation->section->rules, &operation->place, wait_ms);
}

static void give_retrying(void *context)
{
	struct operation *operation = context;
	restraint_give_retrying(&operation->place);
}

static bool take_token(void *context)
{
	const struct operation *operation = context;
	return restraint_take_token(operation->handle, &operation->section->rules);
}

/* The last look before a retry: tenacurl may have been switched off since the operation began. */
static bool has_to_stay_out(const struct operation *operation)
{
	return handle_is_forked(operation->handle) || wait_is_switched_off(operation) || !wait_is_possible(operation);
}

static void tell_breaker(struct operation *operation, int64_t now_ms)
{
	if (!operation->is_noted)
		restraint_note(operation->handle, &operation->section->rules, &operation->outcome,
		               operation->course.start_ms, now_ms);
	operation->is_noted = true;
}

static void judge_witnessed(struct operation *operation, int64_t now_ms, const struct engine_ports *ports)
{
	struct witness *witness = &operation->witness;
	witness->at_ms = now_ms;
	restraint_look(operation->handle, &operation->section->rules, &witness->millitokens, &witness->breaker);
	witness_judge(witness, &operation->course, &operation->outcome, ports);
}

static void judge(struct operation *operation)
{
	const struct engine_ports ports = {
	    .draw = draw,
	    .is_probe = is_probe,
	    .expires_ms = expires_ms,
	    .breaker_allows = breaker_allows,
	    .yields = yields,
	    .can_rewind = can_rewind,
	    .take_retrying = take_retrying,
	    .give_retrying = give_retrying,
	    .take_token = take_token,
	    .context = operation,
	};
	int64_t now_ms = clock_ms();
	tell_breaker(operation, now_ms);
	/* What an earlier verdict on this attempt took. */
	restraint_give_retrying(&operation->place);
	operation->is_witnessed = operation->section->rules.log != POLICY_LOG_NONE;
	if (operation->is_witnessed)
		judge_witnessed(operation, now_ms, &ports);
	else
		course_judge(&operation->course, &operation->outcome, now_ms, &ports);
	if (operation->course.verdict.passing)
		know_intent(operation);
	if (operation->course.verdict.action == ENGINE_RETRY && has_to_stay_out(operation)) {
		course_break_off(&operation->course, ENGINE_PASSED_THROUGH, 0);
		restraint_give_retrying(&operation->place);
	}
}

static struct outcome_view view_of(struct operation *operation)
{
	struct repeat *repeat = &operation->repeat;
	const struct handle *handle = operation->handle;
	return (struct outcome_view){
	    .handle = handle,
	    .gate = &operation->gate,
	    .sends = &operation->sends,
	    .is_changed = repeat_is_changed(repeat, handle) || repeat_is_tainted(handle, operation->gate.hops),
	};
}

/* A success, with no deadline that could have passed: the engine could say nothing else, and most operations are so. */
static bool is_plain_success(const struct operation *operation)
{
	return operation->gate.block.skips_fields && operation->course.engine.deadline_ms == ENGINE_NEVER &&
	       operation->course.engine.program_deadline_ms == ENGINE_NEVER;
}

/* Not inlined: a plain success would save its registers for it. */
static __attribute__((noinline)) bool judge_headers(struct operation *operation)
{
	const struct outcome_view view = view_of(operation);
	outcome_of_headers(&view, &operation->outcome);
	judge(operation);
	return operation->course.verdict.action == ENGINE_RETRY;
}

/* What the gate asks. */

static bool judge_response(void *context)
{
	struct operation *operation = context;
	if (!is_plain_success(operation))
		return judge_headers(operation);
	course_succeed(&operation->course);
	operation->is_noted = true;
	restraint_note_success(operation->handle, &operation->section->rules, operation->course.start_ms);
	return false;
}

static void retract(void *context)
{
	struct operation *operation = context;
	course_retract(&operation->course);
	progress_show_meter(operation->handle);
	operation->witness.retracted = true;
	restraint_give_retrying(&operation->place);
}

static bool may_retry_answer(void *context)
{
	struct operation *operation = context;
	const struct outcome_view view = view_of(operation);
	struct engine_outcome outcome;
	outcome_of_headers(&view, &outcome);
	return engine_may_retry(&operation->course.engine, &outcome);
}

static bool is_proxys(void *context)
{
	const struct operation *operation = context;
	/* libcurl knows the status of every block of the origin before it shows the block, but not a proxy's. */
	int code = info_response_code(operation->handle);
	/* An answer that doesn't meet the program's time condition: since 8.7 it is made a 304 before its blank line.
	 */
	if (code == STATUS_NOT_MODIFIED && operation->handle->program.time_condition)
		return false;
	return code != operation->gate.block.status;
}

static bool awaits_continue(void *context)
{
	const struct operation *operation = context;
	return body_is_awaited(operation->handle);
}

static bool may_be_taken_back(void *context)
{
	const struct operation *operation = context;
	return body_may_refuse(operation->handle);
}

static void answer(void *context)
{
	struct operation *operation = context;
	lend_give_back_seek_callback(operation->handle);
}

static void hide(void *context)
{
	struct operation *operation = context;
	progress_hide_meter(operation->handle);
}

static void limit_rest(void *context, int64_t limit_ms)
{
	struct operation *operation = context;
	lend_limit_rest(operation->handle, &operation->course, limit_ms, &operation->lent_limit_ms);
}

static void lift_limits(void *context)
{
	struct operation *operation = context;
	lend_lift_limits(operation->handle, &operation->course, &operation->lent_limit_ms);
}

const struct gate_ports judge_gate_ports = {
    .judge = judge_response,
    .retract = retract,
    .may_retry_answer = may_retry_answer,
    .is_proxys = is_proxys,
    .awaits_continue = awaits_continue,
    .may_be_taken_back = may_be_taken_back,
    .answer = answer,
    .hide = hide,
    .limit_rest = limit_rest,
    .lift_limits = lift_limits,
};

bool judge_withholds(const struct operation *operation)
{
	return operation->course.has_verdict ? operation->course.verdict.action == ENGINE_RETRY
	                                     : operation->gate.state == GATE_HOLD;
}

/* Whether the verdict on the attempt's response stands, now that its perform returned. */
static bool has_lasting_verdict(const struct operation *operation, CURLcode result)
{
	const struct gate *gate = &operation->gate;
	bool is_aborted = result == CURLE_ABORTED_BY_CALLBACK && !operation->resend_refused;
	if (!operation->course.has_verdict || is_aborted)
		return false;
	/* A response that was let through and arrived whole. */
	bool is_whole = !gate->block.open && !gate->refused;
	return operation->course.verdict.action == ENGINE_RETRY ||
	       (is_whole && (result == CURLE_OK || result == CURLE_HTTP_RETURNED_ERROR));
}

/* Not inlined, as begin() in conduct.c isn't. */
static __attribute__((noinline)) void judge_attempt(struct operation *operation, CURLcode result)
{
	const struct outcome_view view = view_of(operation);
	outcome_of_attempt(&view, result, &operation->outcome);
	judge(operation);
	/* Let through without a verdict (a header block too large to hold), and nothing was wrong with it. */
	if (operation->course.verdict.reason == ENGINE_DELIVERED &&
	    operation->course.verdict.failure == ENGINE_CLASS_NONE)
		operation->course.verdict.reason = ENGINE_SUCCESS;
}

void judge_end(struct operation *operation, CURLcode result)
{
	if (!has_lasting_verdict(operation, result))
		judge_attempt(operation, result);
}

enum engine_reason judge_meanwhile(struct operation *operation)
{
	/* A child has the failure, its parent goes on. */
	if (handle_is_forked(operation->handle))
		return ENGINE_PASSED_THROUGH;
	if (repeat_is_changed(&operation->repeat, operation->handle))
		return ENGINE_REQUEST_CHANGED;
	/* A host that was suspended meanwhile lost time that its clock doesn't know. */
	return bounds_expires_ms(operation->handle) <= clock_ms() ? ENGINE_REQUEST_EXPIRED : ENGINE_TRANSIENT_FAILURE;
}
