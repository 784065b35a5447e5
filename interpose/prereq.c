/* SPDX-License-Identifier: MIT */

#include "interpose/prereq.h"
#include "interpose/operation.h"

/* Returns whether the request may go out. */
static bool count_send(struct operation *operation)
{
	if (sends_is_resend(&operation->sends) && !sends_charge_resend(operation))
		return false;
	sends_add(&operation->sends);
	return true;
}

int prereq_callback(void *data, char *remote_address, char *local_address, int remote_port, int local_port)
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
