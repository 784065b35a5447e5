/* SPDX-License-Identifier: MIT */

/*
 * What libcurl keeps over performs, and what becomes of it here:
 *
 *   the referrer     With AUTOREFERER each hop makes the URL before it the Referer, and to 8.19 the next perform begins
 *                    with that one: its first host would be told the URL, and the signature in it, of another. It is
 *                    set again as the program set it; what an earlier operation left can't be, since it isn't known.
 *   a mechanism      Of several that HTTPAUTH allows, a server's challenge picks one for good, and a Digest its nonce.
 *                    Where that may have been another hop's server, the next perform would show the first one a
 *                    password or its digest before it has asked for it. Only a new handle forgets that.
 *   the method       before 7.71 (interpose/drive/judge.c).
 *   no UPLOAD        up to 8.0 a 303 takes it back for good, though the method stays PUT. It is set again.
 *   the URL          before 7.55 (interpose/drive/attempt.c).
 *   cookies, HSTS, alternative services, a refused Expect, HTTP/1.1 where a server wanted that
 *                    are what the servers wanted a client to remember: they stay.
 */

#include <string.h>

#include "base/hash.h"
#include "interpose/handle/content_key.h"
#include "interpose/handle/info.h"
#include "interpose/libcurl/list_hash.h"
#include "interpose/parts/repeat.h"

#define FORGETS_REFERER_VERSION 0x081400  /* 8.20.0 */
#define AUTH_BEARER             (1L << 6) /* CURLAUTH_BEARER */

/* They say how a response is taken, how long it may take and what is told of it: a repeat asks for the same. */
static const CURLoption harmless[] = {
    CURLOPT_WRITEFUNCTION,
    CURLOPT_WRITEDATA,
    CURLOPT_HEADERFUNCTION,
    CURLOPT_HEADERDATA,
    CURLOPT_ERRORBUFFER,
    CURLOPT_PRIVATE,
    CURLOPT_TIMEOUT,
    CURLOPT_TIMEOUT_MS,
    CURLOPT_CONNECTTIMEOUT,
    CURLOPT_CONNECTTIMEOUT_MS,
    CURLOPT_LOW_SPEED_LIMIT,
    CURLOPT_LOW_SPEED_TIME,
    CURLOPT_MAX_RECV_SPEED_LARGE,
    CURLOPT_MAX_SEND_SPEED_LARGE,
    CURLOPT_BUFFERSIZE,
    CURLOPT_NOSIGNAL,
    CURLOPT_NOPROGRESS,
    CURLOPT_PROGRESSFUNCTION,
    CURLOPT_PROGRESSDATA,
    (CURLoption)OPTION_XFERINFOFUNCTION,
    CURLOPT_VERBOSE,
    CURLOPT_STDERR,
    CURLOPT_DEBUGFUNCTION,
    CURLOPT_DEBUGDATA,
    CURLOPT_MAXCONNECTS,
    CURLOPT_FORBID_REUSE,
    CURLOPT_FRESH_CONNECT,
    CURLOPT_DNS_CACHE_TIMEOUT,
};

void repeat_note_option(struct repeat *repeat, CURLoption option)
{
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (harmless[i] == option)
			return;
	repeat->set_meanwhile = true;
}

static void remember_memory(struct repeat *repeat, const struct handle *handle, uint64_t *hash)
{
	const struct program_options *program = &handle->program;
	*hash = hash_list(hash_list(HASH_BASIS, program->http_headers), program->proxy_headers);
	if (handle_body_source(handle) == BODY_POSTFIELDS && program->post_fields)
		*hash = hash_number(*hash, content_key_of_memory(program->post_fields, program->post_bytes));
	repeat->has_memory = true;
}

/* Without a progress callback nobody gets to change it before the verdict, but for those that shouldn't. */
void repeat_begin(struct repeat *repeat, const struct handle *handle)
{
	const struct program_options *program = &handle->program;
	if (!program->no_progress && (program->xferinfo_function || program->progress_function))
		remember_memory(repeat, handle, &repeat->memory_hash);
}

static bool has_other_memory(struct repeat *repeat, const struct handle *handle)
{
	bool had_memory = repeat->has_memory;
	uint64_t before = repeat->memory_hash;
	remember_memory(repeat, handle, &repeat->memory_hash);
	return had_memory && repeat->memory_hash != before;
}

/* libcurl reads a URL handle anew at each perform. */
static bool has_other_url(const struct handle *handle)
{
	char *url = NULL;
	if (!handle->program.url_handle || !handle->libcurl->url_get || !handle->libcurl->free)
		return false;
	if (handle->libcurl->url_get(handle->program.url_handle, CURLUPART_URL, &url, 0) != CURLUE_OK)
		return true;
	bool is_other = !handle->url || strcmp(url, handle->url) != 0;
	handle->libcurl->free(url);
	return is_other;
}

bool repeat_is_changed(struct repeat *repeat, const struct handle *handle)
{
	repeat->set_meanwhile = repeat->set_meanwhile || has_other_url(handle) || has_other_memory(repeat, handle);
	return repeat->set_meanwhile;
}

static bool leaves_referer(const struct handle *handle)
{
	return handle->program.auto_referer && handle->libcurl->version_number < FORGETS_REFERER_VERSION &&
	       info_long(handle, CURLINFO_REDIRECT_COUNT) > 0;
}

/* Basic and Bearer are shown to a host without its asking, if it is the only one. */
static bool needs_challenge(const struct program_options *program)
{
	long mechanisms = (long)program->http_auth;
	return mechanisms != (long)CURLAUTH_NONE && mechanisms != (long)CURLAUTH_BASIC && mechanisms != AUTH_BEARER;
}

/* A challenge was answered that may have been another hop's. */
static bool leaves_mechanism(const struct handle *handle, int hops)
{
	return hops > 0 && needs_challenge(&handle->program) && info_long(handle, CURLINFO_REDIRECT_COUNT) > hops;
}

bool repeat_is_tainted(const struct handle *handle, int hops)
{
	return leaves_mechanism(handle, hops) || (leaves_referer(handle) && handle->referer_is_left);
}

void repeat_note_attempt(struct handle *handle)
{
	if (leaves_referer(handle))
		handle->referer_is_left = true;
}

/* What it no longer takes for an upload it would send without saying where the body ends. */
static void restore_upload(const struct handle *handle, bool made_get)
{
	const struct program_options *program = &handle->program;
	if (made_get && program->method == BASE_PUT && program->upload && !program->no_body)
		handle->libcurl->setopt(handle->curl, CURLOPT_UPLOAD, 1L);
}

void repeat_prepare(struct handle *handle, bool made_get)
{
	restore_upload(handle, made_get);
	if (leaves_referer(handle) &&
	    handle->libcurl->setopt(handle->curl, CURLOPT_REFERER, handle->referer) == CURLE_OK)
		handle->referer_is_left = false;
}
