/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <time.h>

#include "interpose/clock.h"
#include "interpose/operation.h"
#include "interpose/outcome.h"
#include "interpose/wait.h"

/* libcurl calls progress at least once a second; a little more often makes an abort feel prompt. */
#define PROGRESS_EVERY_MS 250

static bool has_progress_callback(const struct program_options *program)
{
	return !program->no_progress && (program->xferinfo_function || program->progress_function);
}

static double transferred(const struct handle *handle, CURLINFO info)
{
	double bytes = 0;
	if (handle->libcurl->getinfo(handle->curl, info, &bytes) != CURLE_OK || bytes < 0)
		return 0;
	return bytes;
}

/* Calls the program's progress callback with the totals of the last attempt. Returns whether it lets us go on. */
static bool report_progress(const struct handle *handle)
{
	const struct program_options *program = &handle->program;
	double download_total = transferred(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD);
	double download_now = transferred(handle, CURLINFO_SIZE_DOWNLOAD);
	double upload_total = transferred(handle, CURLINFO_CONTENT_LENGTH_UPLOAD);
	double upload_now = transferred(handle, CURLINFO_SIZE_UPLOAD);
	int answer;

	if (program->xferinfo_function)
		answer = program->xferinfo_function(program->progress_data, (curl_off_t)download_total,
		                                    (curl_off_t)download_now, (curl_off_t)upload_total,
		                                    (curl_off_t)upload_now);
	else
		answer = program->progress_function(program->progress_data, download_total, download_now, upload_total,
		                                    upload_now);
	return answer == 0 || answer == PROGRESS_CONTINUE;
}

static void sleep_until(int64_t instant_ms)
{
	const struct timespec instant = {.tv_sec = instant_ms / 1000, .tv_nsec = (instant_ms % 1000) * 1000000};
	/* An absolute time: a signal can't shorten the wait, nor make it longer. */
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &instant, NULL) == EINTR)
		;
}

static bool wait_with_progress(struct operation *operation, int64_t due_ms)
{
	const struct handle *handle = operation->handle;
	/* The clock is read rounded down: one more, so that the wait is never a fraction too short. */
	due_ms++;
	while (has_progress_callback(&handle->program)) {
		int64_t now_ms = clock_ms();
		if (now_ms >= due_ms)
			return true;
		if (!report_progress(handle))
			return false;
		sleep_until(now_ms + PROGRESS_EVERY_MS < due_ms ? now_ms + PROGRESS_EVERY_MS : due_ms);
	}
	sleep_until(due_ms);
	return true;
}

bool wait_until(struct operation *operation, int64_t due_ms)
{
	operation->waits = true;
	bool completed = wait_with_progress(operation, due_ms);
	operation->waits = false;
	return completed;
}

static int pass_time_until_unpaused(struct operation *operation)
{
	int64_t end_ms = engine_end_ms(&operation->engine);

	operation->unpaused = false;
	while (!operation->unpaused) {
		int64_t now_ms = clock_ms();
		if (now_ms >= end_ms)
			return CURLE_OPERATION_TIMEDOUT;
		if (has_progress_callback(&operation->handle->program) && !report_progress(operation->handle))
			return CURLE_ABORTED_BY_CALLBACK;
		if (!operation->unpaused)
			sleep_until(now_ms + PROGRESS_EVERY_MS < end_ms ? now_ms + PROGRESS_EVERY_MS : end_ms);
	}
	return CURLE_OK;
}

int wait_while_paused(struct operation *operation)
{
	operation->waits = true;
	int result = pass_time_until_unpaused(operation);
	operation->waits = false;
	return result;
}
