/* SPDX-License-Identifier: MIT */

#include <stddef.h>
#include <string.h>

#include "base/ascii.h"
#include "interpose/hash.h"
#include "interpose/intent_key.h"

#define BODY_BYTES_MAX (1024 * 1024) /* half a millisecond */

/* libsnowflakeclient (lib/http_perform.c): the same request counts its retries in its query. */
static const char *const volatile_parameters[] = {"retryCount", "retryReason", "clientStartTime", "request_guid"};

static bool is_volatile(const char *parameter, size_t parameter_bytes)
{
	size_t name_bytes = strcspn(parameter, "=&#");
	name_bytes = name_bytes < parameter_bytes ? name_bytes : parameter_bytes;
	for (size_t i = 0; i < sizeof(volatile_parameters) / sizeof(volatile_parameters[0]); i++)
		if (strlen(volatile_parameters[i]) == name_bytes &&
		    memcmp(volatile_parameters[i], parameter, name_bytes) == 0)
			return true;
	return false;
}

static uint64_t hash_url(uint64_t hash, const char *url)
{
	size_t path_bytes = strcspn(url, "?#");
	const char *at = url + path_bytes;
	hash = hash_bytes(hash, url, path_bytes);
	if (*at != '?')
		return hash;
	do {
		at++;
		size_t parameter_bytes = strcspn(at, "&#");
		if (!is_volatile(at, parameter_bytes))
			hash = hash_bytes(hash, at, parameter_bytes);
		at += parameter_bytes;
	} while (*at == '&');
	return hash;
}

/* Headers that say what is asked for, not how or when. */
static const char *const telling_headers[] = {"Host", "Range", "SOAPAction", "X-Amz-Target", "X-HTTP-Method-Override"};

static bool is_telling(const char *line)
{
	size_t name_bytes = strcspn(line, ":;");
	for (size_t i = 0; i < sizeof(telling_headers) / sizeof(telling_headers[0]); i++)
		if (ascii_equals(line, name_bytes, telling_headers[i]))
			return true;
	return false;
}

static uint64_t hash_headers(uint64_t hash, const struct curl_slist *header)
{
	for (; header; header = header->next)
		if (header->data && is_telling(header->data))
			hash = hash_text(hash, header->data);
	return hash;
}

uint64_t intent_key_of_body(const void *body, int64_t bytes)
{
	size_t body_bytes = bytes < 0 ? strnlen(body, BODY_BYTES_MAX + 1) : (size_t)bytes;
	if (body_bytes > BODY_BYTES_MAX)
		return 0;
	uint64_t hash = hash_bytes(HASH_BASIS, body, body_bytes);
	return hash ? hash : 1;
}

/* libcurl doesn't ask for more than the size that the program gave, so that the callback has no chance to say it ended.
 */
static bool is_copied_whole(const struct handle *handle)
{
	const struct program_options *program = &handle->program;
	const struct body *body = &handle->body;
	int64_t size_bytes = program->method == BASE_PUT ? program->upload_bytes : program->post_bytes;
	return !body->copy_lost && (body->ended || (int64_t)body->copy_bytes == size_bytes);
}

/* 0: it can't be told. */
static uint64_t hash_of_body(const struct handle *handle, bool sent)
{
	const struct program_options *program = &handle->program;
	const struct body *body = &handle->body;
	switch (handle_body_source(handle)) {
	case BODY_NONE:
		return 1;
	case BODY_POSTFIELDS:
		return program->post_fields ? intent_key_of_body(program->post_fields, program->post_bytes)
		                            : program->post_fields_hash;
	case BODY_READ:
		if (!sent || !handle->lent.read || !is_copied_whole(handle))
			return 0;
		return intent_key_of_body(body->copy, (int64_t)body->copy_bytes);
	case BODY_FORM:
	case BODY_MIME:
	case BODY_UNKNOWN:
		break;
	}
	return 0;
}

/* Which part, whose request, which way: to ask as another user or through another proxy is no repeat. */
static uint64_t hash_options(uint64_t hash, const struct program_options *program)
{
	hash = hash_number(hash, program->range_hash);
	hash = hash_number(hash, program->proxy_hash);
	hash = hash_number(hash, program->unix_socket_hash);
	hash = hash_number(hash, program->user_password_hash);
	return hash_number(hash, program->user_hash);
}

uint64_t intent_key_of(const struct handle *handle, bool sent)
{
	uint64_t body_hash = hash_of_body(handle, sent);
	if (body_hash == 0 || !handle->url)
		return 0;
	uint64_t hash = hash_text(HASH_BASIS, handle_verb(handle));
	hash = hash_url(hash, handle->url);
	hash = hash_text(hash, handle->program.default_protocol);
	hash = hash_number(hash, (uint64_t)handle->program.port);
	hash = hash_options(hash, &handle->program);
	hash = hash_headers(hash, handle->program.http_headers);
	hash = hash_number(hash, body_hash);
	return hash ? hash : 1;
}
