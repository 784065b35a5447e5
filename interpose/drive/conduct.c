/* SPDX-License-Identifier: MIT */

/*
 * The loop: plan → attempt → outcome → verdict, until a verdict says deliver.
 *
 * A verdict falls in the middle of an attempt (the gate saw the end of the final header block) or at its end. One that
 * says retry is final for the attempt, whatever becomes of the rest of it; one that says deliver lets the response
 * through, and how the transfer ends is then the program's to see.
 */

#include "interpose/drive/conduct.h"

#include "base/clock.h"
#include "interpose/drive/admit.h"
#include "interpose/drive/attempt.h"
#include "interpose/drive/judge.h"
#include "interpose/drive/room.h"
#include "interpose/drive/wait.h"
#include "interpose/handle/shared_state.h"
#include "interpose/host/process.h"
#include "interpose/parts/body.h"
#include "interpose/parts/bounds.h"
#include "interpose/parts/outcome.h"
#include "interpose/record/journal.h"
#include "interpose/record/run_tally.h"
#include "interpose/record/tally.h"
#include "interpose/record/under_way.h"

/* Gives the program what is still held. Returns CURLE_OK, or what perform must return. */
static CURLcode deliver(struct operation *operation)
{
	struct handle *handle = operation->handle;
	for (;;) {
		enum deliver_result result = gate_finish(&operation->gate);
		if (result == DELIVER_DONE)
			return CURLE_OK;
		if (result != DELIVER_PAUSED)
			return result == DELIVER_REFUSED ? CURLE_WRITE_ERROR : CURLE_ABORTED_BY_CALLBACK;
		CURLcode waited = wait_while_paused(operation);
		if (waited != CURLE_OK || !handle_runs(handle, operation))
			return waited != CURLE_OK ? waited : CURLE_ABORTED_BY_CALLBACK;
	}
}

/* The verdict is to deliver: what is still held goes out now, and may yet be refused. */
static CURLcode finish(struct operation *operation, CURLcode result)
{
	struct handle *handle = operation->handle;
	CURLcode delivered = deliver(operation);
	bool is_taken = delivered == CURLE_OK;
	/* A callback that ended the transfer isn't called again. */
	bool goes_on =
	    !is_taken || result == CURLE_ABORTED_BY_CALLBACK || progress_catch_up(handle, &operation->progress);
	if (!handle_runs(handle, operation))
		return CURLE_ABORTED_BY_CALLBACK;
	if (is_taken)
		return goes_on ? result : admit_cancel(operation, operation->course.verdict.wait_ms);
	operation->course.verdict.reason = ENGINE_CANCELLED;
	operation->course.verdict.failure = ENGINE_CLASS_CALLER;
	attempt_say(operation, "Failed writing the response to the program");
	return delivered;
}

/*
 * The wait ended early, or the program prepared another request in it: there will be no retry, and what failed is what
 * the program gets.
 */
static CURLcode break_off(struct operation *operation, CURLcode result, enum engine_reason reason)
{
	course_break_off(&operation->course, reason, clock_ms() - operation->course.verdict_ms);
	/* We had no use for the rest of a long or slow response. */
	if (operation->gate.state == GATE_DROP && (result == CURLE_WRITE_ERROR || result == CURLE_OPERATION_TIMEDOUT)) {
		result = CURLE_PARTIAL_FILE;
		attempt_say(operation,
		            "tenacurl: the wait for a retry was broken off, the rest of this response was not read");
	}
	return finish(operation, result);
}

/*
 * Waits for the retry that the verdict asks for. Returns whether it is to be made; if not, *result is the program's.
 * Not inlined, as begin() isn't.
 */
static __attribute__((noinline)) bool wait_for_retry(struct operation *operation, CURLcode *result)
{
	struct handle *handle = operation->handle;
	under_way_waits(operation);
	enum wait_end end = wait_until(operation, course_due_ms(&operation->course));
	if (end != WAIT_GONE)
		restraint_give_retrying(&operation->place);
	if (end == WAIT_CANCELLED)
		*result = admit_cancel(operation, clock_ms() - operation->course.verdict_ms);
	if (end == WAIT_BROKEN_OFF)
		*result = break_off(operation, *result, ENGINE_PASSED_THROUGH);
	if (end != WAIT_OVER)
		return false;
	enum engine_reason reason = attempt_prepare(operation);
	if (handle_runs(handle, operation) && reason != ENGINE_TRANSIENT_FAILURE)
		*result = break_off(operation, *result, reason);
	if (reason == ENGINE_TRANSIENT_FAILURE)
		under_way_performs(operation);
	return reason == ENGINE_TRANSIENT_FAILURE;
}

/* Once the operation isn't alive any more, its handle is gone, and what is returned is nobody's. */
static CURLcode loop(struct operation *operation)
{
	struct handle *handle = operation->handle;
	CURLcode result = CURLE_ABORTED_BY_CALLBACK;
	if (!admit_operation(operation, &result))
		return result;
	for (;;) {
		result = attempt_perform(operation);
		if (!handle_runs(handle, operation))
			return result;
		if (course_ended(&operation->course) == COURSE_DELIVER)
			return finish(operation, result);
		if (!wait_for_retry(operation, &result))
			return handle_runs(handle, operation) ? result : CURLE_ABORTED_BY_CALLBACK;
		tally_retry(operation);
		course_due(&operation->course, clock_ms());
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
	    .deadline_ms = operation->course.engine.deadline_ms,
	};
	if (inner.deadline_ms != ENGINE_NEVER && !operation->gate.observes)
		operation->encloses = thread_notes_enter(&inner, &operation->outer);
}

/* What each part needs for the whole operation. */
static void equip(struct operation *operation, int64_t now_ms)
{
	struct handle *handle = operation->handle;
	const struct policy_rules *rules = &operation->section->rules;
	struct gate *gate = &operation->gate;
	struct nesting *nesting = &operation->nesting;
	gate->handle = nesting->handle = handle;
	gate->rules = nesting->rules = rules;
	gate->ports = &judge_gate_ports;
	gate->context = operation;
	gate->observes = nesting->observes = rules->mode == POLICY_MODE_AUDIT;
	nesting->facts = &operation->nesting_facts;
	nesting->entry_ms = now_ms;
}

static void add_idempotency_key(struct operation *operation)
{
	const struct policy_rules *rules = &operation->section->rules;
	struct engine_request *request = &operation->course.engine.request;
	if (idempotency_key_is_wanted(rules, request) &&
	    idempotency_key_add(&operation->key, operation->handle, rules->idempotency_header,
	                        nesting_id(&operation->nesting)))
		request->has_idempotency_key = true;
}

/* Not inlined: its variables would lie on the stack while libcurl transfers, and some threads have little. */
static __attribute__((noinline)) void begin(struct operation *operation, int64_t now_ms)
{
	struct handle *handle = operation->handle;
	const struct policy_rules *rules = &operation->section->rules;
	struct engine_request request;

	equip(operation, now_ms);
	outcome_of_request(handle, rules, &request);
	inherit_deadline(handle, now_ms, &request);
	request.added_limit_ms = bounds_added_limit_ms(now_ms);
	nesting_begin(&operation->nesting, &request);
	judge_tell_return(operation);
	course_begin(&operation->course, rules, &request, now_ms);
	enclose(operation);
	attempt_keep_error_text(operation);
	if (operation->gate.observes) {
		body_note_file(handle);
		return;
	}
	repeat_begin(&operation->repeat, handle);
	add_idempotency_key(operation);
	body_begin(handle, rules, operation->course.engine.request.body_replayable);
}

/* What came after the first failure. */
static void note_added(const struct operation *operation)
{
	int64_t now_ms = clock_ms();
	bounds_note_added(now_ms - operation->course.engine.failed_ms, now_ms);
}

static void end_nesting(struct operation *operation)
{
	const struct engine_verdict *verdict = &operation->course.verdict;
	/* Audit makes one attempt where all of the policy's would have been made. */
	bool would_retry = operation->gate.observes && verdict->action == ENGINE_RETRY;
	const struct nesting_result result = {
	    .verdict = verdict,
	    .outcome = &operation->outcome,
	    .verdict_ms = operation->course.verdict_ms,
	    .attempts = would_retry ? (int)operation->section->rules.max_attempts : operation->course.engine.attempts,
	    .sends = sends_total(&operation->sends),
	};
	nesting_end(&operation->nesting, &result);
}

static void end(struct operation *operation, CURLcode result)
{
	struct handle *handle = operation->handle;
	handle->active = NULL;
	if (operation->encloses)
		thread_notes_leave(&operation->outer);
	lend_give_back_numbers(handle);
	if (operation->nesting.known)
		end_nesting(operation);
	body_end(handle, result != CURLE_OK && !operation->outcome.unsent);
	/* A success that came after the deadline has that as its reason, and earns nothing. */
	if (operation->course.verdict.reason == ENGINE_SUCCESS)
		restraint_earn(handle, &operation->section->rules);
	if (operation->course.engine.attempts > 1 || operation->course.engine.waited_ms > 0)
		note_added(operation);
	tally_operation(operation, result);
	run_tally_operation(operation, result);
	journal_operation(operation, result);
	room_leave(handle);
}

CURLcode conduct_operation(struct handle *handle, const struct policy *policy, const struct policy_section *section,
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
	bool may_put_back = handle_runs(handle, operation) && !operation->gate.observes && !handle_is_forked(handle);
	if (may_put_back && body_was_moved(&handle->body))
		body_put_back(handle);
	/* Unless the program cleaned the handle up in a callback. */
	if (handle_runs(handle, operation))
		end(operation, result);
	return result;
}

void conduct_note_option(struct operation *operation, CURLoption option)
{
	struct handle *handle = operation->handle;
	struct course *course = &operation->course;
	repeat_note_option(&operation->repeat, option);
	if (option == CURLOPT_TIMEOUT || option == CURLOPT_TIMEOUT_MS) {
		course_replan(course, handle->program.timeout_ms);
		lend_refresh_timeout(handle, course, &operation->lent_limit_ms);
	}
	if (option == CURLOPT_HTTPHEADER && handle->lent.http_headers)
		operation->key.header.next = handle->program.http_headers;
}

void conduct_note_reset(struct operation *operation)
{
	operation->repeat.set_meanwhile = true;
	/* The callbacks that it was for are gone. */
	held_clear(&operation->handle->held);
}

void conduct_note_unpause(struct operation *operation, bool receives)
{
	operation->unpaused = receives;
}

void conduct_correct_info(const struct operation *operation, CURLINFO info, void *value)
{
	if (!operation->gate.observes && judge_withholds(operation))
		progress_correct_info(info, value);
}
