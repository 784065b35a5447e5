/* SPDX-License-Identifier: MIT */

#include "interpose/parts/facts.h"
#include "interpose/handle/info.h"

#include <string.h>

#include "base/ascii.h"
#include "base/url.h"

#define UNKNOWN_CONNECTIONS (INT64_C(1) << 32)

static int64_t early_data_bytes(const struct handle *handle)
{
	curl_off_t value = 0;
	/* A libcurl that doesn't know the info can't have sent any. */
	if (handle->libcurl->getinfo(handle->curl, (CURLINFO)INFO_EARLYDATA_SENT_T, &value) != CURLE_OK)
		return 0;
	return value;
}

/* FRESH_CONNECT holds for the first request of a perform; those that follow it are told by other facts. */
static int64_t kept_connections(const struct handle *handle)
{
	if (handle->program.fresh_connect || handle->lent.fresh_connect)
		return 0;
	return handle->shares ? UNKNOWN_CONNECTIONS : handle->kept_connections;
}

void facts_ask(const struct handle *handle, const struct sends *sends, struct engine_facts *facts)
{
	*facts = (struct engine_facts){
	    .sends = handle->lent.prereq ? sends->attempt : ENGINE_UNCOUNTED,
	    .redirects = info_long(handle, CURLINFO_REDIRECT_COUNT),
	    .kept_connections = kept_connections(handle),
	    .new_connections = info_long(handle, CURLINFO_NUM_CONNECTS),
	    .request_bytes = info_long(handle, CURLINFO_REQUEST_SIZE),
	    .early_data_bytes = handle->program.early_data ? early_data_bytes(handle) : 0,
	    .fast_open = handle->program.fast_open,
	    .connect_status = (int)info_long(handle, CURLINFO_HTTP_CONNECTCODE),
	    .status = info_response_code(handle),
	};
}

static bool is_http_url(const char *text, const char *default_protocol)
{
	struct url url;
	return url_read(text, default_protocol, &url) && url_is_http(&url);
}

static bool is_http_name(const char *name)
{
	size_t name_bytes = strlen(name);
	return ascii_equals(name, name_bytes, "http") || ascii_equals(name, name_bytes, "https");
}

bool facts_spoke_http(const struct handle *handle)
{
	const char *url = info_text(handle, CURLINFO_EFFECTIVE_URL);
	const char *scheme = info_text(handle, (CURLINFO)INFO_SCHEME);
	if (url[0] && !is_http_url(url, handle->program.default_protocol))
		return false;
	return !scheme[0] || is_http_name(scheme);
}

void facts_note_kept(struct handle *handle, struct sends *sends)
{
	struct engine_facts facts;
	/* Counted sends say more, and are had for nothing. */
	if (handle->lent.prereq) {
		facts_note_unknown(handle);
		return;
	}
	facts_ask(handle, sends, &facts);
	sends->attempt = engine_proved_sends(&facts);
	if (!engine_proves_unsent(&facts))
		handle->kept_connections += facts.new_connections;
}

void facts_note_unknown(struct handle *handle)
{
	handle->kept_connections = UNKNOWN_CONNECTIONS;
}
