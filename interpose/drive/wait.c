/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "interpose/drive/sleep.h"
#include "interpose/drive/wait.h"
#include "interpose/host/policy_source.h"
#include "interpose/host/process.h"
#include "interpose/host/tell.h"
#include "interpose/parts/progress.h"
#include "interpose/record/operation.h"

/* libcurl calls progress at least once a second; a little more often makes an abort feel prompt. */
#define PROGRESS_EVERY_MS 250
/* A wait ends within a second of tenacurl being switched off. */
#define LOOK_EVERY_MS 500

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Calls the program, which may do anything with its handle, or fork. WAIT_OVER: go on. */
static enum wait_end let_program_look(struct operation *operation)
{
	const struct handle *handle = operation->handle;
	bool goes_on = progress_report(handle, &operation->progress);
	if (!handle_runs(handle, operation))
		return WAIT_GONE;
	if (handle_is_forked(operation->handle))
		return WAIT_BROKEN_OFF;
	return goes_on ? WAIT_OVER : WAIT_CANCELLED;
}

bool wait_is_switched_off(const struct operation *operation)
{
	struct url url;
	bool is_read = handle_read_url(operation->handle, &url);
	return policy_source_is_switched_off(is_read ? &url : NULL, operation->policy, operation->section);
}

static enum wait_end wait_in_steps(struct operation *operation, int64_t due_ms)
{
	const struct handle *handle = operation->handle;
	int64_t now_ms, next_look_ms = clock_ms() + LOOK_EVERY_MS;
	/* The clock is read rounded down: one more, so that the wait is never a fraction too short. */
	due_ms++;
	while ((now_ms = clock_ms()) < due_ms) {
		if (now_ms >= next_look_ms) {
			if (wait_is_switched_off(operation))
				return WAIT_BROKEN_OFF;
			next_look_ms = now_ms + LOOK_EVERY_MS;
		}
		int64_t step_ms = LOOK_EVERY_MS;
		if (progress_is_wanted(handle)) {
			enum wait_end end = let_program_look(operation);
			if (end != WAIT_OVER)
				return end;
			step_ms = PROGRESS_EVERY_MS;
		}
		if (!sleep_until(earlier(now_ms + step_ms, due_ms)))
			return WAIT_BROKEN_OFF;
	}
	return WAIT_OVER;
}

enum wait_end wait_until(struct operation *operation, int64_t due_ms)
{
	struct handle *handle = operation->handle;
	operation->waits = true;
	handle->waiting_thread = process_thread_number();
	enum wait_end end = wait_in_steps(operation, due_ms);
	if (end != WAIT_GONE)
		operation->waits = false;
	return end;
}

bool wait_is_possible(const struct operation *operation)
{
	static _Atomic bool is_told;
	int saved_errno = errno;
	bool is_possible = !sleep_is_refused();

	if (!is_possible && !atomic_exchange(&is_told, true))
		tell_log(&operation->section->rules,
		         "this process isn't allowed to sleep (a sandbox refuses it), so nothing is tried again");
	errno = saved_errno;
	return is_possible;
}

static CURLcode pass_time_until_unpaused(struct operation *operation)
{
	const struct handle *handle = operation->handle;
	int64_t end_ms = course_end_ms(&operation->course);

	operation->unpaused = false;
	while (!operation->unpaused) {
		int64_t now_ms = clock_ms();
		if (now_ms >= end_ms)
			return CURLE_OPERATION_TIMEDOUT;
		if (progress_is_wanted(handle) && !progress_report(handle, &operation->progress))
			return CURLE_ABORTED_BY_CALLBACK;
		if (!handle_runs(handle, operation))
			return CURLE_ABORTED_BY_CALLBACK;
		if (!operation->unpaused && !sleep_until(earlier(now_ms + PROGRESS_EVERY_MS, end_ms)))
			return CURLE_OPERATION_TIMEDOUT;
	}
	return CURLE_OK;
}

CURLcode wait_while_paused(struct operation *operation)
{
	struct handle *handle = operation->handle;
	operation->waits = true;
	handle->waiting_thread = process_thread_number();
	CURLcode result = pass_time_until_unpaused(operation);
	if (handle_runs(handle, operation))
		operation->waits = false;
	return result;
}
