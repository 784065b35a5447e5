/* SPDX-License-Identifier: MIT */

#include <stdio.h>

#include "interpose/gate/deliver.h"

static size_t write_to(const struct handle *handle, char *data, size_t bytes, void *where)
{
	if (handle->program.write_function)
		return handle->program.write_function(data, 1, bytes, where);
	return fwrite(data, 1, bytes, where);
}

size_t deliver_event(const struct handle *handle, enum held_kind kind, char *data, size_t bytes)
{
	const struct program_options *program = &handle->program;
	if (kind == HELD_WRITE)
		return write_to(handle, data, bytes, program->write_data_set ? program->write_data : stdout);
	if (program->header_function)
		return program->header_function(data, 1, bytes, program->header_data);
	if (program->header_data)
		return write_to(handle, data, bytes, program->header_data);
	return bytes;
}

bool deliver_has_header_listener(const struct handle *handle)
{
	const struct program_options *program = &handle->program;
	return program->header_function || program->header_data || program->header_in_body;
}

enum deliver_result deliver_held_events(struct handle *handle)
{
	struct held *held = &handle->held;
	const struct operation *operation = handle->active;
	while (held->next_event < held->event_count) {
		struct held_event event = held->events[held->next_event];
		size_t taken = deliver_event(handle, event.kind, held->data + held->next_byte, event.bytes);
		if (!handle_runs(handle, operation))
			return DELIVER_GONE;
		if (taken == CURL_WRITEFUNC_PAUSE)
			return DELIVER_PAUSED;
		held->next_event++;
		held->next_byte += event.bytes;
		if (taken != event.bytes)
			return DELIVER_REFUSED;
	}
	held_clear(held);
	return DELIVER_DONE;
}
