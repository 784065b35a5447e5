/* SPDX-License-Identifier: MIT */

#include "interpose/drive/callbacks.h"

#include "interpose/drive/judge.h"
#include "interpose/parts/body.h"
#include "interpose/record/journal.h"
#include "interpose/record/operation.h"

static size_t take_header(char *bytes, size_t size, size_t count, void *data)
{
	struct handle *handle = data;
	if (!handle->active)
		return deliver_event(handle, HELD_HEADER, bytes, size * count);
	return gate_take_header(&handle->active->gate, bytes, size * count);
}

static size_t take_write(char *bytes, size_t size, size_t count, void *data)
{
	struct handle *handle = data;
	if (!handle->active)
		return deliver_event(handle, HELD_WRITE, bytes, size * count);
	return gate_take_write(&handle->active->gate, bytes, size * count);
}

static size_t give_body(char *out, size_t size, size_t count, void *data)
{
	struct handle *handle = data;
	const struct operation *operation = handle->active;
	if (!operation)
		return body_read_idle(handle, out, size, count);
	return body_read(handle, out, size, count, operation->sends.attempt,
	                 (size_t)operation->section->rules.replay_body_bytes);
}

static int pass_on(const struct handle *handle, struct progress_numbers numbers)
{
	struct operation *operation = handle->active;
	if (operation && !operation->gate.observes)
		progress_filter(&operation->progress, &numbers, judge_withholds(operation));
	return progress_tell(handle, &numbers);
}

static int pass_on_xferinfo(void *data, curl_off_t download_total, curl_off_t download_now, curl_off_t upload_total,
                            curl_off_t upload_now)
{
	return pass_on(data, (struct progress_numbers){download_total, download_now, upload_total, upload_now});
}

static int pass_on_progress(void *data, double download_total, double download_now, double upload_total,
                            double upload_now)
{
	return pass_on(data, (struct progress_numbers){(curl_off_t)download_total, (curl_off_t)download_now,
	                                               (curl_off_t)upload_total, (curl_off_t)upload_now});
}

/*
 * Charges a resend that is about to go out: breaker, budget, log. Returns whether it may: not with `resend = forbid`.
 */
static bool charge_resend(struct operation *operation)
{
	const struct policy_rules *rules = &operation->section->rules;
	if (rules->resend == POLICY_RESEND_FORBID && !operation->gate.observes) {
		operation->resend_refused = true;
		return false;
	}
	operation->sends.resends++;
	/* The log wants to know more of it than of what went well at once. */
	operation->gate.block.reads_success = journal_wants_success(operation);
	restraint_note_lost(operation->handle, rules, operation->course.start_ms);
	restraint_take_token(operation->handle, rules);
	return true;
}

/* Returns whether the request may go out. */
static bool count_send(struct operation *operation)
{
	struct sends *sends = &operation->sends;
	if (sends_is_resend(sends, operation->gate.answered) && !charge_resend(operation))
		return false;
	sends_add(sends);
	operation->gate.answered = false;
	return true;
}

static int begin_request(void *data, char *remote_address, char *local_address, int remote_port, int local_port)
{
	struct handle *handle = data;
	const struct program_options *program = &handle->program;
	if (program->prereq_function) {
		int answer = program->prereq_function(program->prereq_data, remote_address, local_address, remote_port,
		                                      local_port);
		if (answer != PREREQ_OK)
			return answer;
	}
	if (handle->active && !count_send(handle->active))
		return PREREQ_ABORT;
	return PREREQ_OK;
}

const struct lendings callbacks = {
    .write = take_write,
    .header = take_header,
    .read = give_body,
    .seek = body_seek_callback,
    .xferinfo = pass_on_xferinfo,
    .progress = pass_on_progress,
    .prereq = begin_request,
};
