/* SPDX-License-Identifier: MIT */

#include "interpose/handle/program_body.h"

int64_t program_body_announced_bytes(const struct program_options *program)
{
	return program->method == BASE_PUT ? program->upload_bytes : program->post_bytes;
}

bool program_body_can_be_rewound(const struct program_options *program)
{
	return program->seek_function || program->ioctl_function;
}

bool program_body_is_rewound(const struct handle *handle)
{
	const struct program_options *program = &handle->program;
	return handle_body_source(handle) == BODY_READ && program->read_function &&
	       program_body_can_be_rewound(program);
}

bool program_body_has_ended(const struct handle *handle)
{
	return handle->body.ended || handle->body.given_bytes == program_body_announced_bytes(&handle->program);
}

uint64_t program_body_key(const struct handle *handle)
{
	return program_body_has_ended(handle) ? hash_stream_value(&handle->body.given) : 0;
}
