/* SPDX-License-Identifier: MIT */

/*
 * The table of handle records.
 *
 * It has to be found from every setopt and perform, on any thread, without a lock. A fixed array of buckets holds
 * chains of records; a record is never unlinked and never freed, only emptied (curl = NULL) and claimed again for
 * another handle of the same bucket. So a reader can follow a chain whatever others do, there is no ABA problem, and a
 * thread that dies in the middle loses one record at worst. Memory is bounded by the largest number of handles that
 * lived at once.
 */

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "interpose/handle/handle.h"
#include "interpose/host/process.h"

#define TOLD_VERB_LETTERS_MAX 17 /* UPDATEREDIRECTREF, the longest that IANA knows */

#define NOBODY_ENDS_UPLOAD_VERSION 0x074700 /* 7.71.0 */

#define BUCKET_BITS  12
#define BUCKET_COUNT (1u << BUCKET_BITS)

static _Atomic(struct handle *) buckets[BUCKET_COUNT];

/* Marks a record that is being filled; no handle has this address. */
static char claimed_mark;
#define CLAIMED ((CURL *)&claimed_mark)

static _Atomic(struct handle *) *bucket_of(const CURL *curl)
{
	/* Fibonacci hashing: malloc's addresses differ in their middle bits. */
	uint64_t mixed = (uint64_t)(uintptr_t)curl * UINT64_C(0x9E3779B97F4A7C15);
	return &buckets[mixed >> (64 - BUCKET_BITS)];
}

static struct handle *find_record(CURL *curl)
{
	if (!curl)
		return NULL;
	struct handle *handle = atomic_load_explicit(bucket_of(curl), memory_order_acquire);
	while (handle && atomic_load_explicit(&handle->curl, memory_order_acquire) != curl)
		handle = handle->next;
	return handle;
}

/* A record whose libcurl was unmapped is of a handle that was lost with it; this is another one at its address. */
struct handle *handle_find(CURL *curl)
{
	struct handle *handle = find_record(curl);
	if (!handle || libcurl_is_mapped(handle->libcurl))
		return handle;
	handle_forget(handle);
	return NULL;
}

/* Returns a record of this bucket that only the caller can touch, or NULL without memory. */
static struct handle *claim_record(_Atomic(struct handle *) *bucket)
{
	struct handle *handle = atomic_load_explicit(bucket, memory_order_acquire);
	for (; handle; handle = handle->next) {
		CURL *free_mark = NULL;
		if (atomic_compare_exchange_strong_explicit(&handle->curl, &free_mark, CLAIMED, memory_order_acq_rel,
		                                            memory_order_relaxed))
			return handle;
	}

	handle = calloc(1, sizeof(*handle));
	if (!handle)
		return NULL;
	atomic_init(&handle->curl, CLAIMED);
	handle->next = atomic_load_explicit(bucket, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(bucket, &handle->next, handle, memory_order_release,
	                                              memory_order_relaxed))
		;
	return handle;
}

struct handle *handle_adopt(CURL *curl, const struct libcurl *libcurl, const struct lendings *lendings)
{
	struct handle *handle = find_record(curl);
	if (!handle)
		handle = claim_record(bucket_of(curl));
	if (!handle)
		return NULL;

	handle->libcurl = libcurl;
	handle->lendings = lendings;
	handle->active = NULL;
	handle->performs = false;
	handle->body.rewind_is_due = false;
	handle->performed_generation = 0;
	handle->disowned_errno = 0;
	handle->kept_connections = 0;
	handle->shares = false;
	handle_reset(handle);
	atomic_store_explicit(&handle->curl, curl, memory_order_release);
	return handle;
}

void handle_hide(struct handle *handle)
{
	handle->active = NULL;
	atomic_store_explicit(&handle->curl, CLAIMED, memory_order_release);
}

void handle_forget(struct handle *handle)
{
	held_free(&handle->held);
	body_state_free(&handle->body);
	mime_detach(&handle->program.mime);
	free(handle->referer);
	handle->referer = NULL;
	handle_set_request_target(handle, NULL);
	free(handle->url);
	handle->url = NULL;
	handle->url_capacity_bytes = 0;
	handle->active = NULL;
	atomic_store_explicit(&handle->curl, NULL, memory_order_release);
}

void handle_reset(struct handle *handle)
{
	mime_detach(&handle->program.mime);
	memset(&handle->program, 0, sizeof(handle->program));
	memset(&handle->lent, 0, sizeof(handle->lent));
	handle->program.no_progress = true;
	handle->program.dns_cache_timeout_s = 60;
	handle->program.protocols = ALL_PROTOCOLS;
	handle->program.http_auth = CURLAUTH_BASIC;
	handle->program.upload_bytes = -1;
	handle->program.post_bytes = -1;
	handle_set_url(handle, NULL);
	handle_set_referer(handle, NULL);
	handle_set_request_target(handle, NULL);
}

bool handle_copy_options(struct handle *copy, const struct handle *source)
{
	copy->program = source->program;
	copy->lent = source->lent;
	mime_copy(&copy->program.mime, source->program.mime);
	handle_set_referer(copy, source->referer);
	handle_set_request_target(copy, source->request_target);
	copy->referer_is_left = copy->referer_is_left || source->referer_is_left;
	return handle_set_url(copy, source->url) || !source->url;
}

bool handle_set_url(struct handle *handle, const char *url)
{
	handle->selected_version = 0;
	if (!url) {
		if (handle->url)
			handle->url[0] = '\0';
		return true;
	}
	size_t bytes = strlen(url) + 1;
	if (bytes > handle->url_capacity_bytes) {
		char *larger = realloc(handle->url, bytes);
		if (!larger) {
			handle_set_url(handle, NULL);
			return false;
		}
		handle->url = larger;
		handle->url_capacity_bytes = bytes;
	}
	memcpy(handle->url, url, bytes);
	return true;
}

bool handle_read_url(const struct handle *handle, struct url *url)
{
	if (!url_read(handle->url, handle->program.default_protocol, url))
		return false;
	if (handle->program.port > 0)
		url->port = (int)handle->program.port;
	return true;
}

void handle_set_referer(struct handle *handle, const char *referer)
{
	free(handle->referer);
	handle->referer = referer ? strdup(referer) : NULL;
	/* Without memory it can't be set again either. */
	handle->referer_is_left = referer && !handle->referer;
}

void handle_set_request_target(struct handle *handle, const char *target)
{
	free(handle->request_target);
	handle->request_target = target ? strdup(target) : NULL;
}

struct span handle_query(const struct handle *handle)
{
	const char *target = handle->request_target ? handle->request_target : handle->url;
	/* For every operation: strcspn with two characters would cost more than this together. */
	const char *query = target ? strchr(target, '?') : NULL;
	if (!query || memchr(target, '#', (size_t)(query - target)))
		return (struct span){"", 0};
	return (struct span){query + 1, strcspn(query + 1, "#")};
}

/* Mirrors how libcurl picks the verb: CUSTOMREQUEST, else HEAD without a body, else by method (lib/http.c,
 * Curl_http_method). */
const char *handle_verb(const struct handle *handle)
{
	const struct program_options *program = &handle->program;
	if (program->custom_verb[0])
		return program->custom_verb;
	if (program->no_body)
		return "HEAD";
	switch (program->method) {
	case BASE_GET:
		return "GET";
	case BASE_HEAD:
		return "HEAD";
	case BASE_PUT:
		return "PUT";
	case BASE_POST:
	case BASE_FORM:
	case BASE_MIME:
		break;
	}
	return "POST";
}

const char *handle_told_verb(const struct handle *handle)
{
	const char *verb = handle_verb(handle);
	size_t letters = 0, capitals = 0, others = 0;
	for (size_t i = 0; verb[i]; i++) {
		letters += ascii_is_letter(verb[i]);
		capitals += ascii_is_letter(verb[i]) && verb[i] != ascii_lower(verb[i]);
		others += !ascii_is_letter(verb[i]) && verb[i] != '-';
	}
	bool is_word = others == 0 && letters > 0 && (capitals == letters || capitals == 0);
	return is_word && letters <= TOLD_VERB_LETTERS_MAX ? verb : "?";
}

bool handle_is_forked(const struct handle *handle)
{
	return handle->performed_generation != process_generation();
}

enum body_source handle_body_source(const struct handle *handle)
{
	const struct program_options *program = &handle->program;
	/* Before 7.71 NOBODY leaves UPLOAD as it is: a HEAD with a body goes out. */
	if (program->mixed_history ||
	    (program->no_body && program->upload && handle->libcurl->version_number < NOBODY_ENDS_UPLOAD_VERSION))
		return BODY_UNKNOWN;
	/* Before 7.71 NOBODY isn't a method: a HEAD has the body of the other one, and a second perform may have
	 * another. */
	bool is_bodyless = program->method == BASE_GET || program->method == BASE_HEAD;
	if (program->no_body && !is_bodyless && handle->libcurl->version_number < NOBODY_IS_METHOD_VERSION)
		return BODY_UNKNOWN;
	if (program->no_body)
		return BODY_NONE;
	switch (program->method) {
	case BASE_GET:
	case BASE_HEAD:
		return BODY_NONE;
	case BASE_POST:
		return program->has_postfields ? BODY_POSTFIELDS : BODY_READ;
	case BASE_FORM:
		return BODY_FORM;
	case BASE_MIME:
		return BODY_MIME;
	case BASE_PUT:
		break;
	}
	return BODY_READ;
}
