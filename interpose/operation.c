/* SPDX-License-Identifier: MIT */

/*
 * The loop: plan → attempt → outcome → verdict, until a verdict says deliver.
 *
 * A verdict falls in the middle of an attempt (the gate saw the end of the final header block) or at its end. One that
 * says retry is final for the attempt, whatever becomes of the rest of it; one that says deliver lets the response
 * through, and how the transfer ends is then the program's to see.
 */

#include <stdio.h>
#include <string.h>

#include "interpose/bounds.h"
#include "interpose/clock.h"
#include "interpose/dice.h"
#include "interpose/facts.h"
#include "interpose/idempotency_key.h"
#include "interpose/journal.h"
#include "interpose/lend.h"
#include "interpose/operation.h"
#include "interpose/os_errno.h"
#include "interpose/outcome.h"
#include "interpose/policy_source.h"
#include "interpose/process.h"
#include "interpose/restraint.h"
#include "interpose/room.h"
#include "interpose/run_tally.h"
#include "interpose/shared_state.h"
#include "interpose/tally.h"
#include "interpose/under_way.h"
#include "interpose/wait.h"

#define STATUS_NOT_MODIFIED         304
#define RESTORES_URL_VERSION        0x073700 /* 7.55.0 */
#define CLEARS_ERROR_BUFFER_VERSION 0x073C00 /* 7.60.0 */
#define KEEPS_METHOD_VERSION        0x074700 /* 7.71.0 */

static double draw(void *context)
{
	(void)context;
	return dice_draw();
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
	/* libcurl itself failed to rewind, and remembers: the next perform would fail likewise (curl issue 18206). */
	return !has_lost_body(operation) && operation->outcome.curl_code != CURLE_SEND_FAIL_REWIND &&
	       body_can_rewind(operation);
}

bool operation_is_forked(const struct operation *operation)
{
	return operation->handle->performed_generation != process_generation();
}

/* The last look before a retry: tenacurl may have been switched off since the operation began. */
static bool has_to_stay_out(const struct operation *operation)
{
	return operation_is_forked(operation) ||
	       policy_source_is_switched_off(operation->handle, operation->policy, operation->section) ||
	       !wait_is_possible(operation);
}

static struct engine_verdict judge_alone(struct operation *operation, const struct engine_ports *ports)
{
	return engine_judge(&operation->engine, &operation->outcome, operation->verdict_ms, ports);
}

static struct engine_verdict judge_witnessed(struct operation *operation, const struct engine_ports *ports)
{
	struct witness *witness = &operation->witness;
	witness->at_ms = operation->verdict_ms;
	restraint_look(operation, &witness->millitokens, &witness->breaker);
	return witness_judge(witness, &operation->engine, &operation->outcome, ports);
}

static void judge(struct operation *operation)
{
	const struct engine_ports ports = {
	    .draw = draw,
	    .is_probe = bounds_is_probe,
	    .expires_ms = bounds_expires_ms,
	    .breaker_allows = restraint_allows_retry,
	    .yields = nesting_yields,
	    .can_rewind = can_rewind,
	    .take_retrying = restraint_take_retrying,
	    .give_retrying = restraint_give_retrying,
	    .take_token = restraint_take_token,
	    .context = operation,
	};
	operation->verdict_ms = clock_ms();
	if (!operation->is_noted)
		restraint_note(operation, &operation->outcome, operation->verdict_ms);
	operation->is_noted = true;
	/* What an earlier verdict on this attempt took. */
	restraint_give_retrying(operation);
	operation->is_witnessed = operation->section->rules.log != POLICY_LOG_NONE;
	operation->verdict = (operation->is_witnessed ? judge_witnessed : judge_alone)(operation, &ports);
	operation->has_verdict = true;
	if (operation->verdict.passing)
		nesting_know(operation);
	if (operation->verdict.action == ENGINE_RETRY && has_to_stay_out(operation)) {
		engine_break_off(&operation->engine, &operation->verdict, ENGINE_PASSED_THROUGH, 0);
		restraint_give_retrying(operation);
	}
}

/* A success, with no deadline that could have passed: the engine could say nothing else, and most operations are so. */
static bool is_plain_success(const struct operation *operation)
{
	return operation->gate.block.skips_fields && operation->engine.deadline_ms == ENGINE_NEVER &&
	       operation->engine.program_deadline_ms == ENGINE_NEVER;
}

/* Not inlined: a plain success would save its registers for it. */
static __attribute__((noinline)) void judge_headers(struct operation *operation)
{
	outcome_of_headers(operation, &operation->outcome);
	judge(operation);
}

void operation_judge_response(struct operation *operation)
{
	if (is_plain_success(operation)) {
		operation->verdict = (struct engine_verdict){.action = ENGINE_DELIVER, .reason = ENGINE_SUCCESS};
		operation->has_verdict = true;
		operation->is_noted = true;
		restraint_note_success(operation);
		return;
	}
	judge_headers(operation);
}

bool operation_may_retry_answer(struct operation *operation)
{
	struct engine_outcome outcome;
	outcome_of_headers(operation, &outcome);
	return engine_may_retry(&operation->engine, &outcome);
}

bool operation_holds_success(const struct operation *operation)
{
	const struct header_block *block = &operation->gate.block;
	int64_t bound_bytes = operation->section->rules.hold_success_bytes;
	bool is_success = block->status >= 200 && block->status < 300;
	return bound_bytes > 0 && is_success && !block->is_event_stream && block->content_length_bytes <= bound_bytes;
}

void operation_retract_retry(struct operation *operation)
{
	engine_retract(&operation->engine, &operation->verdict);
	progress_show_meter(operation->handle);
	operation->witness.retracted = true;
	restraint_give_retrying(operation);
}

bool operation_is_proxy_block(const struct operation *operation)
{
	/* libcurl knows the status of every block of the origin before it shows the block, but not a proxy's. */
	int code = outcome_response_code(operation->handle);
	/* An answer that doesn't meet the program's time condition: since 8.7 it is made a 304 before its blank line.
	 */
	if (code == STATUS_NOT_MODIFIED && operation->handle->program.time_condition)
		return false;
	return code != operation->gate.block.status;
}

/* Judges an attempt whose perform returned. */
static void judge_end(struct operation *operation, CURLcode result)
{
	bool is_aborted = result == CURLE_ABORTED_BY_CALLBACK && !operation->resend_refused;
	if (operation->has_verdict && operation->verdict.action == ENGINE_RETRY && !is_aborted)
		return;
	/* A response that was let through and arrived whole: its verdict stands. */
	bool is_whole = !operation->gate.block.open && !operation->gate.refused;
	if (operation->has_verdict && !is_aborted && is_whole &&
	    (result == CURLE_OK || result == CURLE_HTTP_RETURNED_ERROR))
		return;
	outcome_of_attempt(operation, result, &operation->outcome);
	judge(operation);
	/* Let through without a verdict (a header block too large to hold), and nothing was wrong with it. */
	if (operation->verdict.reason == ENGINE_DELIVERED && operation->verdict.failure == ENGINE_CLASS_NONE)
		operation->verdict.reason = ENGINE_SUCCESS;
}

/* Before 7.60 libcurl leaves the text of a failed attempt in the buffer of one that succeeds. */
static void restore_error_buffer(struct operation *operation)
{
	struct handle *handle = operation->handle;
	if (handle->program.error_buffer && handle->libcurl->version_number < CLEARS_ERROR_BUFFER_VERSION)
		memcpy(handle->program.error_buffer, operation->entry_error_text, CURL_ERROR_SIZE);
}

static void say(struct operation *operation, const char *text)
{
	if (operation->handle->program.error_buffer)
		snprintf(operation->handle->program.error_buffer, CURL_ERROR_SIZE, "%s", text);
}

static CURLcode perform_attempt(struct operation *operation)
{
	struct handle *handle = operation->handle;
	operation->has_verdict = false;
	operation->is_noted = false;
	operation->is_witnessed = false;
	operation->resend_refused = false;
	handle->body.differs = false;
	sends_begin_attempt(&operation->sends);
	progress_begin_attempt(operation);
	gate_begin_attempt(operation);
	lend_attempt(operation);

	handle->performs = true;
	CURLcode result = handle->libcurl->perform(handle->curl);
	if (!operation_is_alive(handle, operation))
		return CURLE_ABORTED_BY_CALLBACK;
	handle->performs = false;
	os_errno_settle(handle, result);
	if (result == CURLE_ABORTED_BY_CALLBACK && operation->resend_refused) {
		result = CURLE_GOT_NOTHING; /* what the resend would have hidden */
		say(operation, "Empty reply from server");
	}
	if (result == CURLE_ABORTED_BY_CALLBACK && handle->body.differs) {
		result = CURLE_SEND_FAIL_REWIND;
		say(operation, "tenacurl: the body isn't the one that was sent before, so this attempt was ended");
	}
	judge_end(operation, result);
	facts_note_kept(operation);
	repeat_note_attempt(operation);
	journal_attempt(operation, result);
	return result;
}

/* Why an operation fails without a request. */
struct refusal {
	enum engine_reason reason;
	enum engine_class failure;
	CURLcode result;
	const char *text;
};

static const struct refusal deadline_spent = {
    .reason = ENGINE_DEADLINE_BUDGET,
    .failure = ENGINE_CLASS_TIMEOUT,
    .result = CURLE_OPERATION_TIMEDOUT,
    .text = "tenacurl: the deadline was over before the request was made",
};

static const struct refusal breaker_open = {
    .reason = ENGINE_BREAKER_OPEN,
    .failure = ENGINE_CLASS_CONNECT,
    .result = CURLE_COULDNT_CONNECT,
    .text = "tenacurl: the circuit breaker is open, so no request was made",
};

static const struct refusal intent_used_up = {
    .reason = ENGINE_NESTED,
    .failure = ENGINE_CLASS_CONNECT,
    .result = CURLE_COULDNT_CONNECT,
    .text = "tenacurl: this request failed a moment ago and its attempts are used up, so it was not made again",
};

/*
 * Before attempt 1. A perform that may use no protocol sends nothing, but leaves no info value of an older transfer
 * behind.
 */
static CURLcode refuse(struct operation *operation, const struct refusal *refusal)
{
	struct handle *handle = operation->handle;
	const struct libcurl *libcurl = handle->libcurl;
	operation->verdict = (struct engine_verdict){.reason = refusal->reason, .failure = refusal->failure};
	operation->plan = (struct engine_plan){
	    .limit_ms = ENGINE_NEVER, .connect_limit_ms = ENGINE_NEVER, .header_limit_ms = ENGINE_NEVER};
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
		gate_begin_attempt(operation);
		libcurl->perform(handle->curl);
		libcurl->setopt(handle->curl, CURLOPT_PROTOCOLS, (long)handle->program.protocols);
	}
	say(operation, refusal->text);
	return refusal->result;
}

/* Before 7.55 a perform goes on from where an earlier one was redirected to. */
static void restore_url(struct operation *operation)
{
	struct handle *handle = operation->handle;
	if (handle->libcurl->version_number < RESTORES_URL_VERSION && operation->gate.hops > 0)
		handle->libcurl->setopt(handle->curl, CURLOPT_URL, handle->url);
}

/*
 * Why the retry isn't made after all, from what happened since the verdict, in the program's callbacks too;
 * ENGINE_TRANSIENT_FAILURE: it is.
 */
static enum engine_reason forbidden_meanwhile(struct operation *operation)
{
	/* A child has the failure, its parent goes on. */
	if (operation_is_forked(operation))
		return ENGINE_PASSED_THROUGH;
	if (repeat_is_changed(operation))
		return ENGINE_REQUEST_CHANGED;
	/* A host that was suspended meanwhile lost time that its clock doesn't know. */
	return bounds_expires_ms(operation) <= clock_ms() ? ENGINE_REQUEST_EXPIRED : ENGINE_TRANSIENT_FAILURE;
}

/* The program's own body is touched last, when nothing else can forbid the retry any more. */
static enum engine_reason rewind_body(struct operation *operation)
{
	struct handle *handle = operation->handle;
	if (!body_rewind(operation))
		return ENGINE_BODY_NOT_REPLAYABLE;
	return operation_is_alive(handle, operation) ? forbidden_meanwhile(operation) : ENGINE_CANCELLED;
}

/*
 * Readies the handle for the next attempt. Returns ENGINE_TRANSIENT_FAILURE, or why there will be none; then the
 * outcome is still that of the attempt before.
 */
static enum engine_reason prepare_retry(struct operation *operation)
{
	struct handle *handle = operation->handle;
	enum engine_reason reason = forbidden_meanwhile(operation);
	if (reason != ENGINE_TRANSIENT_FAILURE)
		return reason;
	progress_show_meter(handle);
	restore_url(operation);
	repeat_prepare(operation);
	reason = rewind_body(operation);
	if (reason != ENGINE_TRANSIENT_FAILURE)
		return reason;
	memset(&operation->outcome, 0, sizeof(operation->outcome));
	operation->wants_fresh_connection = operation->verdict.fresh_connection;
	operation->wants_fresh_lookup = operation->verdict.fresh_lookup;
	restore_error_buffer(operation);
	os_errno_disown(handle);
	held_clear(&handle->held);
	return reason;
}

static CURLcode cancel_in_wait(struct operation *operation, int64_t waited_ms)
{
	engine_break_off(&operation->engine, &operation->verdict, ENGINE_CANCELLED, waited_ms);
	operation->verdict.failure = ENGINE_CLASS_CALLER;
	held_clear(&operation->handle->held);
	say(operation, "Callback aborted");
	return CURLE_ABORTED_BY_CALLBACK;
}

/* The verdict is to deliver: what is still held goes out now, and may yet be refused. */
static CURLcode finish(struct operation *operation, CURLcode result)
{
	struct handle *handle = operation->handle;
	int finished = (int)result;
	bool is_taken = gate_finish(operation, &finished);
	/* A callback that ended the transfer isn't called again. */
	bool goes_on = !is_taken || result == CURLE_ABORTED_BY_CALLBACK || progress_catch_up(operation);
	if (!operation_is_alive(handle, operation))
		return CURLE_ABORTED_BY_CALLBACK;
	if (is_taken)
		return goes_on ? result : cancel_in_wait(operation, operation->verdict.wait_ms);
	operation->verdict.reason = ENGINE_CANCELLED;
	operation->verdict.failure = ENGINE_CLASS_CALLER;
	say(operation, "Failed writing the response to the program");
	return (CURLcode)finished;
}

/*
 * The wait ended early, or the program prepared another request in it: there will be no retry, and what failed is what
 * the program gets.
 */
static CURLcode break_off(struct operation *operation, CURLcode result, enum engine_reason reason)
{
	engine_break_off(&operation->engine, &operation->verdict, reason, clock_ms() - operation->verdict_ms);
	/* We had no use for the rest of a long or slow response. */
	if (operation->gate.state == GATE_DROP && (result == CURLE_WRITE_ERROR || result == CURLE_OPERATION_TIMEDOUT)) {
		result = CURLE_PARTIAL_FILE;
		say(operation, "tenacurl: the wait for a retry was broken off, the rest of this response was not read");
	}
	return finish(operation, result);
}

/* Waits for the retry that the verdict asks for. Returns whether it is to be made; if not, *result is the program's. */
static bool wait_for_retry(struct operation *operation, CURLcode *result)
{
	struct handle *handle = operation->handle;
	under_way_waits(operation);
	enum wait_end end = wait_until(operation, operation->verdict_ms + operation->verdict.wait_ms);
	if (end != WAIT_GONE)
		restraint_give_retrying(operation);
	if (end == WAIT_CANCELLED)
		*result = cancel_in_wait(operation, clock_ms() - operation->verdict_ms);
	if (end == WAIT_BROKEN_OFF)
		*result = break_off(operation, *result, ENGINE_PASSED_THROUGH);
	if (end != WAIT_OVER)
		return false;
	enum engine_reason reason = prepare_retry(operation);
	if (operation_is_alive(handle, operation) && reason != ENGINE_TRANSIENT_FAILURE)
		*result = break_off(operation, *result, reason);
	if (reason == ENGINE_TRANSIENT_FAILURE)
		under_way_performs(operation);
	return reason == ENGINE_TRANSIENT_FAILURE;
}

/* Paces an operation that is refused. Returns false if it ended meanwhile; then *result is what the program gets. */
static bool pace(struct operation *operation, CURLcode *result)
{
	struct handle *handle = operation->handle;
	enum wait_end end = nesting_pace(operation);
	if (!operation_is_alive(handle, operation))
		return false;
	if (end == WAIT_CANCELLED) {
		*result = cancel_in_wait(operation, 0);
		return false;
	}
	/* Who can't be paced isn't refused: a loop without a pause would spin. */
	operation->nesting.refused = end == WAIT_OVER || operation->nesting.lost_body;
	return true;
}

/*
 * Before the first attempt of what may be a repeat that we own. Returns false as pace() does. Not inlined: what every
 * success runs through would save its registers for it.
 */
static __attribute__((noinline)) bool settle_repeat(struct operation *operation, CURLcode *result)
{
	struct handle *handle = operation->handle;
	if (operation->nesting.wants_preview)
		nesting_preview(operation);
	if (!operation_is_alive(handle, operation))
		return false;
	if (operation->nesting.cancelled) {
		*result = cancel_in_wait(operation, 0);
		return false;
	}
	return !operation->nesting.refused || operation->gate.observes || pace(operation, result);
}

/* Before the first attempt. Returns whether it may be made; if not, *result is what the program gets. */
static bool is_admitted(struct operation *operation, CURLcode *result)
{
	bool is_doubtful = operation->nesting.refused || operation->nesting.wants_preview;
	if (is_doubtful && !settle_repeat(operation, result))
		return false;
	bool admitted = !operation->nesting.refused && restraint_admits(operation);
	if (!admitted)
		*result = refuse(operation, operation->nesting.refused ? &intent_used_up : &breaker_open);
	return admitted;
}

/* Once the operation isn't alive any more, its handle is gone, and what is returned is nobody's. */
static CURLcode loop(struct operation *operation)
{
	struct handle *handle = operation->handle;
	CURLcode result = CURLE_ABORTED_BY_CALLBACK;
	operation->attempt_start_ms = operation->engine.entry_ms;
	if (!is_admitted(operation, &result))
		return result;
	for (;;) {
		if (!engine_plan(&operation->engine, operation->attempt_start_ms, &operation->plan))
			return refuse(operation, &deadline_spent);
		result = perform_attempt(operation);
		if (!operation_is_alive(handle, operation))
			return result;
		if (operation->verdict.action == ENGINE_DELIVER || operation->gate.observes)
			return finish(operation, result);
		if (!wait_for_retry(operation, &result))
			return operation_is_alive(handle, operation) ? result : CURLE_ABORTED_BY_CALLBACK;
		tally_retry(operation);
		operation->attempt_start_ms = clock_ms();
	}
}

static void inherit_deadline(const struct handle *handle, int64_t now_ms, struct engine_request *request)
{
	int64_t outer_ms = thread_notes_deadline(handle->active_frame, now_ms);
	if (outer_ms < request->inherited_deadline_ms)
		request->inherited_deadline_ms = outer_ms;
}

/* What begins in this operation's callbacks shares its deadline. */
static void enclose(struct operation *operation)
{
	const struct enclosing inner = {
	    .handle = operation->handle,
	    .frame = operation->handle->active_frame,
	    .deadline_ms = operation->engine.deadline_ms,
	};
	if (inner.deadline_ms != ENGINE_NEVER && !operation->gate.observes)
		operation->encloses = thread_notes_enter(&inner, &operation->outer);
}

static void begin(struct operation *operation, int64_t now_ms)
{
	struct handle *handle = operation->handle;
	const struct policy_rules *rules = &operation->section->rules;
	struct engine_request request;

	operation->gate.observes = rules->mode == POLICY_MODE_AUDIT;
	outcome_of_request(handle, rules, &request);
	inherit_deadline(handle, now_ms, &request);
	request.added_limit_ms = bounds_added_limit_ms(now_ms);
	nesting_begin(operation, now_ms, &request);
	engine_begin(&operation->engine, rules, &request, now_ms);
	enclose(operation);
	if (handle->program.error_buffer && handle->libcurl->version_number < CLEARS_ERROR_BUFFER_VERSION)
		memcpy(operation->entry_error_text, handle->program.error_buffer, CURL_ERROR_SIZE);
	if (operation->gate.observes) {
		body_note_file(handle);
		return;
	}
	repeat_begin(operation);
	idempotency_key_add(operation);
	body_begin(operation);
}

/* What came after the first failure. */
static void note_added(const struct operation *operation)
{
	int64_t now_ms = clock_ms();
	bounds_note_added(now_ms - operation->engine.failed_ms, now_ms);
}

CURLcode operation_run(struct handle *handle, const struct policy *policy, const struct policy_section *section,
                       int64_t now_ms)
{
	struct operation *operation = room_enter(handle);
	if (!operation)
		return handle->libcurl->perform(handle->curl);

	operation->handle = handle;
	operation->policy = policy;
	operation->section = section;
	shared_state_find(handle, policy, section);
	begin(operation, now_ms);
	handle->active_thread = process_thread_id();
	handle->waiting_thread = 0;
	handle->active = operation;
	CURLcode result = loop(operation);
	under_way_end(handle);
	if (operation_is_alive(handle, operation) && body_was_moved(&handle->body) && !operation_is_forked(operation))
		body_put_back(operation);
	/* The program cleaned the handle up in a callback. */
	if (!operation_is_alive(handle, operation))
		return result;
	handle->active = NULL;
	if (operation->encloses)
		thread_notes_leave(&operation->outer);
	lend_give_back_numbers(handle);
	if (operation->nesting.known)
		nesting_end(operation);
	body_end(operation, result);
	/* A success that came after the deadline has that as its reason, and earns nothing. */
	if (operation->verdict.reason == ENGINE_SUCCESS)
		restraint_earn(operation);
	if (operation->engine.attempts > 1 || operation->engine.waited_ms > 0)
		note_added(operation);
	tally_operation(operation, result);
	run_tally_operation(operation, result);
	journal_operation(operation, result);
	room_leave(handle);
	return result;
}
