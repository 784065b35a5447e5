/* SPDX-License-Identifier: MIT */

#include "interpose/record/tally.h"
#include "base/clock.h"
#include "interpose/handle/info.h"
#include "interpose/handle/shared_state.h"
#include "interpose/host/host_state.h"
#include "interpose/host/process.h"
#include "log/record.h"
#include "state/count.h"

#include <string.h>

/* More than a host and what a flight holds of a path: what is cut is cut there. */
#define REDACTED_BYTES 512

void tally_retry(const struct operation *operation)
{
	host_state_refresh(operation->policy);
	struct state_entry *entry = shared_state_entry(operation->handle);
	if (!entry)
		return;
	state_touch_entry(entry, clock_ms());
	state_count_retry(entry, (int)operation->course.verdict.failure, operation->course.verdict.wait_ms);
}

static void count_events(struct state_entry *entry, const struct state_operation *counted)
{
	if (counted->attempts > 1 && !counted->succeeded && counted->reason != ENGINE_CANCELLED)
		state_count_event(entry, STATE_EVENT_EXHAUSTED);
	if (counted->reason == ENGINE_BUDGET_EMPTY)
		state_count_event(entry, STATE_EVENT_BUDGET_EMPTY);
	if (counted->attempts == 0)
		state_count_event(entry, STATE_EVENT_REFUSED);
	if (counted->attempts == 0 && counted->reason == ENGINE_NESTED)
		state_count_event(entry, STATE_EVENT_NESTED_REFUSED);
}

/* Not inlined, nor is what calls it: their texts together would be much for a small stack. */
__attribute__((noinline)) void tally_put_path(const struct operation *operation, char *out, size_t out_bytes)
{
	struct url url;
	char text[REDACTED_BYTES];
	bool is_read = handle_read_url(operation->handle, &url);
	record_redact_url(is_read ? &url : NULL, operation->section->rules.log_url, text, sizeof(text));
	const char *authority = strstr(text, "://");
	const char *path = authority ? strchr(authority + 3, '/') : NULL;
	state_copy_text(out, out_bytes, path);
}

static __attribute__((noinline)) void record_flight(const struct operation *operation,
                                                    const struct state_operation *counted, CURLcode result)
{
	const struct process_environment *environment = process_environment();
	char section[SHARED_STATE_SECTION_BYTES];
	shared_state_section(operation->section, section);
	struct state_flight flight = {
	    .time_us = clock_calendar_us(),
	    .pid = process_pid(),
	    .sends = counted->sends,
	    .waited_ms = operation->course.engine.waited_ms,
	    .elapsed_ms = counted->elapsed_ms,
	    .reason = (int32_t)counted->reason,
	    .failure = (int32_t)operation->course.verdict.failure,
	    .status = info_response_code(operation->handle),
	    .curl_code = (int32_t)result,
	    .attempts = counted->attempts,
	    .evidence = (int32_t)nesting_left_by(&operation->nesting),
	};
	state_flight_text(flight.job, environment->job);
	state_flight_text(flight.run, process_run());
	state_flight_text(flight.program, process_program());
	state_flight_text(flight.section, section);
	shared_state_origin(operation->handle, flight.origin, sizeof(flight.origin));
	state_flight_text(flight.method, handle_told_verb(operation->handle));
	tally_put_path(operation, flight.path, sizeof(flight.path));
	host_state_record(&flight);
}

/* What isn't a success at the first attempt. */
static __attribute__((noinline)) void count_other(const struct operation *operation, CURLcode result)
{
	host_state_refresh(operation->policy);
	struct state_entry *entry = shared_state_entry(operation->handle);
	const struct state_operation counted = {
	    .succeeded = operation->course.verdict.failure == ENGINE_CLASS_NONE && result == CURLE_OK,
	    .attempts = operation->course.engine.attempts,
	    .sends = sends_total(&operation->sends),
	    .elapsed_ms = clock_ms() - operation->course.engine.entry_ms,
	    .reason = (int)operation->course.verdict.reason,
	};
	state_count_operation(entry, &counted);
	count_events(entry, &counted);
	if (counted.attempts != 1 || counted.reason != ENGINE_SUCCESS)
		record_flight(operation, &counted, result);
}

void tally_operation(const struct operation *operation, CURLcode result)
{
	struct state_entry *entry = shared_state_entry(operation->handle);
	if (!entry)
		return;
	int64_t now_ms = clock_ms();
	state_touch_entry(entry, now_ms);
	if (operation->course.verdict.reason == ENGINE_SUCCESS && sends_total(&operation->sends) == 1 &&
	    operation->course.engine.attempts == 1)
		state_count_plain_success(entry, now_ms - operation->course.engine.entry_ms);
	else
		count_other(operation, result);
}
