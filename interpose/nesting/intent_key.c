/* SPDX-License-Identifier: MIT */

#include <stddef.h>
#include <string.h>

#include "base/ascii.h"
#include "base/hash.h"
#include "interpose/handle/body_key.h"
#include "interpose/handle/program_body.h"
#include "interpose/nesting/intent_key.h"

#define CANDIDATE 0x63616E6469646174 /* instead of a body */

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

/* Which part, whose request, which way: to ask as another user, or another server or proxy, is no repeat. */
static uint64_t hash_options(uint64_t hash, const struct program_options *program)
{
	hash = hash_number(hash, program->range_hash);
	hash = hash_number(hash, (uint64_t)program->resume_bytes);
	hash = hash_number(hash, program->proxy_hash);
	hash = hash_number(hash, program->unix_socket_hash);
	hash = hash_number(hash, program->user_password_hash);
	hash = hash_number(hash, program->bearer_hash);
	hash = hash_number(hash, program->interface_hash);
	hash = hash_number(hash, program->abstract_socket_hash);
	hash = hash_number(hash, program->resolve_hash);
	hash = hash_number(hash, program->connect_to_hash);
	return hash_number(hash, program->user_hash);
}

static uint64_t key_with_body(const struct handle *handle, uint64_t body_key)
{
	if (body_key == 0 || !handle->url)
		return 0;
	uint64_t hash = hash_text(HASH_BASIS, handle_verb(handle));
	hash = hash_url(hash, handle->url);
	hash = hash_text(hash, handle->request_target ? handle->request_target : "");
	hash = hash_text(hash, handle->program.default_protocol);
	hash = hash_number(hash, (uint64_t)handle->program.port);
	hash = hash_options(hash, &handle->program);
	hash = hash_headers(hash, handle->program.http_headers);
	hash = hash_number(hash, body_key);
	return hash ? hash : 1;
}

uint64_t intent_key_of(const struct handle *handle, enum body_sent sent)
{
	return key_with_body(handle, body_key(handle, sent));
}

uint64_t intent_key_of_candidate(const struct handle *handle)
{
	return key_with_body(handle, hash_number(CANDIDATE, (uint64_t)program_body_announced_bytes(&handle->program)));
}
