/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "interpose/handle/info.h"
#include "interpose/host/process.h"
#include "interpose/parts/body.h"
#include "interpose/parts/facts.h"
#include "interpose/parts/outcome.h"
#include "interpose/parts/wire.h"

/* The method as far as repeating goes. A body on a method that has none by definition could mean anything to the
 * server. */
static enum engine_method method_of(const struct handle *handle, const struct wire *wire)
{
	enum engine_method method = engine_method_from_verb(handle_verb(handle));
	bool has_body = handle_body_source(handle) != BODY_NONE;
	bool is_bodyless = method == ENGINE_METHOD_GET || method == ENGINE_METHOD_HEAD ||
	                   method == ENGINE_METHOD_OPTIONS || method == ENGINE_METHOD_TRACE;
	if (handle->program.mixed_history || (has_body && is_bodyless))
		return ENGINE_METHOD_OTHER;
	return method > wire->method ? method : wire->method;
}

void outcome_of_request(const struct handle *handle, const struct policy_rules *rules, struct engine_request *request)
{
	struct wire wire;
	wire_read(handle, rules, &wire);
	*request = (struct engine_request){
	    .method = method_of(handle, &wire),
	    .conditional = handle->program.time_condition || wire.conditional,
	    .has_idempotency_key = wire.has_idempotency_key,
	    .body_replayable = body_is_replayable(handle),
	    .program_timeout_ms = handle->program.timeout_ms > 0 ? handle->program.timeout_ms : 0,
	    .inherited_deadline_ms = process_deadline_ms(),
	};
}

static struct engine_retry_after demanded_wait(const struct engine_demand *demand)
{
	int64_t now_s = engine_demand_needs_clock(demand) ? clock_calendar_us() / 1000000 : 0;
	return engine_demand_resolve(demand, now_s);
}

void outcome_of_headers(const struct outcome_view *view, struct engine_outcome *outcome)
{
	const struct header_block *block = &view->gate->block;
	struct engine_facts facts;
	facts_ask(view->handle, view->sends, &facts);
	*outcome = (struct engine_outcome){
	    .status = block->status,
	    .single = engine_proves_single(&facts),
	    .not_http = !facts_spoke_http(view->handle),
	    .request_changed = view->is_changed,
	    .header_block_complete = true,
	    .resends = view->sends->resends,
	    .stop_hint = block->demand.stop_hint,
	    .retry_after = demanded_wait(&block->demand),
	};
}

/*
 * Whether the header block that counts was complete, as far as anybody could see it. With FAILONERROR libcurl
 * before 7.75 shows no header of a failed response, and HTTP/0.9 has none.
 */
static bool is_block_complete(const struct outcome_view *view, CURLcode result)
{
	const struct gate *gate = view->gate;
	return (gate->block.complete && !gate->block.is_proxys) || result == CURLE_HTTP_RETURNED_ERROR ||
	       (gate->saw_event && gate->block.status == 0 && !gate->block.open) ||
	       info_long(view->handle, CURLINFO_HEADER_SIZE) == 0;
}

/*
 * libcurl has headers of an origin that it didn't give to us: our callbacks were replaced behind our back, and the
 * program got them itself.
 */
static bool is_bypassed(const struct outcome_view *view, CURLcode result)
{
	return !view->gate->saw_event && result != CURLE_HTTP_RETURNED_ERROR && info_response_code(view->handle) != 0 &&
	       info_long(view->handle, CURLINFO_HEADER_SIZE) > 0;
}

void outcome_of_attempt(const struct outcome_view *view, CURLcode result, struct engine_outcome *outcome)
{
	const struct gate *gate = view->gate;
	const struct handle *handle = view->handle;
	struct engine_facts facts;

	facts_ask(view->handle, view->sends, &facts);
	*outcome = (struct engine_outcome){
	    .curl_code = (int)result,
	    .status = facts.status,
	    .connect_status = facts.connect_status,
	    .unsent = engine_proves_unsent(&facts),
	    .single = engine_proves_single(&facts),
	    .not_http = !facts_spoke_http(handle),
	    .request_changed = view->is_changed,
	    .os_errno = (int)info_long(handle, CURLINFO_OS_ERRNO),
	    .header_block_complete = is_block_complete(view, result),
	    .cancelled = gate->refused || result == CURLE_ABORTED_BY_CALLBACK,
	    .delivered = gate->committed || is_bypassed(view, result),
	    .resends = view->sends->resends,
	    .stop_hint = gate->block.demand.stop_hint,
	    .retry_after = demanded_wait(&gate->block.demand),
	};
	/* An address that the program's own OPENSOCKETFUNCTION refused: no system call failed. */
	outcome->cancelled = outcome->cancelled || (handle->program.open_socket && result == CURLE_COULDNT_CONNECT &&
	                                            outcome->os_errno == 0 && outcome->connect_status == 0);
	/* A refusal by the program's own RESOLVER_START_FUNCTION looks like a failed look-up: what may be one is final.
	 */
	outcome->cancelled =
	    outcome->cancelled || (handle->program.resolver_start && result == CURLE_COULDNT_RESOLVE_HOST);
}
