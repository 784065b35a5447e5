/* SPDX-License-Identifier: MIT */

#include <stdio.h>
#include <string.h>

#include "interpose/drive/attempt.h"
#include "interpose/drive/judge.h"
#include "interpose/parts/body.h"
#include "interpose/parts/facts.h"
#include "interpose/parts/os_errno.h"
#include "interpose/record/journal.h"

#define RESTORES_URL_VERSION        0x073700 /* 7.55.0 */
#define CLEARS_ERROR_BUFFER_VERSION 0x073C00 /* 7.60.0 */

/* Before 7.60 libcurl leaves the text of a failed attempt in the buffer of one that succeeds. */
static void restore_error_buffer(struct operation *operation)
{
	struct handle *handle = operation->handle;
	if (handle->program.error_buffer && handle->libcurl->version_number < CLEARS_ERROR_BUFFER_VERSION)
		memcpy(handle->program.error_buffer, operation->entry_error_text, CURL_ERROR_SIZE);
}

void attempt_say(const struct operation *operation, const char *text)
{
	if (operation->handle->program.error_buffer)
		snprintf(operation->handle->program.error_buffer, CURL_ERROR_SIZE, "%s", text);
}

void attempt_keep_error_text(struct operation *operation)
{
	const struct handle *handle = operation->handle;
	if (handle->program.error_buffer && handle->libcurl->version_number < CLEARS_ERROR_BUFFER_VERSION)
		memcpy(operation->entry_error_text, handle->program.error_buffer, CURL_ERROR_SIZE);
}

static void lend(struct operation *operation)
{
	struct handle *handle = operation->handle;
	bool forbids_resend = operation->section->rules.resend == POLICY_RESEND_FORBID && !handle->lent.prereq;
	const struct lend_wishes wishes = {
	    .quick_exit = operation->course.engine.deadline_ms != ENGINE_NEVER,
	    .fresh_connection = operation->wants_fresh_connection || forbids_resend,
	    .fresh_lookup = operation->wants_fresh_lookup,
	};
	if (!operation->gate.observes)
		lend_attempt(handle, &operation->course, &wishes, &operation->lent_limit_ms);
}

CURLcode attempt_perform(struct operation *operation)
{
	struct handle *handle = operation->handle;
	operation->is_noted = false;
	operation->is_witnessed = false;
	operation->resend_refused = false;
	handle->body.differs = false;
	sends_begin_attempt(&operation->sends);
	progress_begin_attempt(&operation->progress);
	gate_begin_attempt(&operation->gate, journal_wants_success(operation));
	lend(operation);

	handle->performs = true;
	CURLcode result = handle->libcurl->perform(handle->curl);
	if (!handle_runs(handle, operation))
		return CURLE_ABORTED_BY_CALLBACK;
	handle->performs = false;
	os_errno_settle(handle, result);
	if (result == CURLE_ABORTED_BY_CALLBACK && operation->resend_refused) {
		result = CURLE_GOT_NOTHING; /* what the resend would have hidden */
		attempt_say(operation, "Empty reply from server");
	}
	if (result == CURLE_ABORTED_BY_CALLBACK && handle->body.differs) {
		result = CURLE_SEND_FAIL_REWIND;
		attempt_say(operation,
		            "tenacurl: the body isn't the one that was sent before, so this attempt was ended");
	}
	judge_end(operation, result);
	facts_note_kept(handle, &operation->sends);
	repeat_note_attempt(handle);
	journal_attempt(operation, result);
	return result;
}

/* Before 7.55 a perform goes on from where an earlier one was redirected to. */
static void restore_url(struct operation *operation)
{
	struct handle *handle = operation->handle;
	if (handle->libcurl->version_number < RESTORES_URL_VERSION && operation->gate.hops > 0)
		handle->libcurl->setopt(handle->curl, CURLOPT_URL, handle->url);
}

/* The program's own body is touched last, when nothing else can forbid the retry any more. */
static enum engine_reason rewind_body(struct operation *operation)
{
	struct handle *handle = operation->handle;
	if (!body_rewind(handle, &operation->outcome))
		return ENGINE_BODY_NOT_REPLAYABLE;
	return handle_runs(handle, operation) ? judge_meanwhile(operation) : ENGINE_CANCELLED;
}

enum engine_reason attempt_prepare(struct operation *operation)
{
	struct handle *handle = operation->handle;
	enum engine_reason reason = judge_meanwhile(operation);
	if (reason != ENGINE_TRANSIENT_FAILURE)
		return reason;
	progress_show_meter(handle);
	restore_url(operation);
	repeat_prepare(handle, operation->gate.became_get);
	reason = rewind_body(operation);
	if (reason != ENGINE_TRANSIENT_FAILURE)
		return reason;
	memset(&operation->outcome, 0, sizeof(operation->outcome));
	operation->wants_fresh_connection = operation->course.verdict.fresh_connection;
	operation->wants_fresh_lookup = operation->course.verdict.fresh_lookup;
	restore_error_buffer(operation);
	os_errno_disown(handle);
	held_clear(&handle->held);
	return reason;
}
