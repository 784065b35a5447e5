/* SPDX-License-Identifier: MIT */

/*
 * One response reaches the program: that of the attempt whose result is returned. So nothing of a response may get
 * through before the verdict on it, and everything must get through unchanged afterwards: the same callbacks, in the
 * same order, with the same bytes.
 *
 * When can the verdict fall? libcurl goes on after a header block if it is a 1xx, a redirect step that it follows, an
 * auth round (401, 407), a refused expectation (417) or a proxy's answer to CONNECT. Every other block is final, 429
 * and 5xx in every version, so the verdict falls at its blank line. For the undecided ones the next callback tells: a
 * body byte means that the block was final, a status line that it wasn't; perform's return settles the rest.
 *
 * A redirect step is delivered at its blank line, before libcurl asks for the next hop: a program may refuse the hop by
 * refusing the header. A later attempt that takes the same step again doesn't show it again.
 *
 * With CURLOPT_HEADER libcurl gives each header line to the write callback first and to the header callback afterwards.
 * A write while a block is open is therefore a header line; one that begins with "HTTP/" while no block is open waits
 * for the header callback to confirm it.
 *
 * After the verdict "retry" the rest of the response is read, so that the connection can be used again, but no more
 * than 4 KiB or 100 ms of it: a long or dripping error page costs nothing. (Where nothing arrives at all, libcurl looks
 * at the limit only when it wakes up: within a second.) It is kept through the wait, since a wait can be broken off.
 * With final_body the rest is held and searched first, for as much as hold_body_bytes and a second allow; if the text
 * is found, the verdict is taken back.
 */

#include <string.h>

#include "interpose/clock.h"
#include "interpose/deliver.h"
#include "interpose/gate.h"
#include "interpose/journal.h"
#include "interpose/lend.h"
#include "interpose/operation.h"
#include "interpose/wait.h"

#define DRAIN_BYTES_MAX 4096
#define DRAIN_MS_MAX    100
#define SEARCH_MS_MAX   1000

/* What a callback returns to end the transfer: any count but its own. */
static size_t refuse(size_t bytes)
{
	return bytes ? 0 : 1;
}

static size_t deliver_now(struct operation *operation, enum held_kind kind, char *data, size_t bytes)
{
	size_t taken = deliver_event(operation->handle, kind, data, bytes);
	if (taken != bytes && taken != CURL_WRITEFUNC_PAUSE)
		operation->gate.refused = true;
	return taken;
}

/* Delivers what is held, then the callback at hand, and lets everything after it through. */
static size_t flush_and_go_live(struct operation *operation, enum held_kind kind, char *data, size_t bytes)
{
	struct gate *gate = &operation->gate;
	/* Header lines that nobody receives commit nothing. */
	if (kind == HELD_WRITE || gate->has_header_listener || operation->handle->held.event_count > 0)
		gate->committed = true;
	gate->state = GATE_FLUSH;
	switch (deliver_held(operation->handle)) {
	case DELIVER_PAUSED:
		/* libcurl keeps the bytes at hand and brings them again. */
		return CURL_WRITEFUNC_PAUSE;
	case DELIVER_REFUSED:
		gate->refused = true;
		return refuse(bytes);
	case DELIVER_DONE:
		break;
	}
	gate->state = GATE_LIVE;
	lend_lift_limits(operation);
	return deliver_now(operation, kind, data, bytes);
}

static size_t hold(struct operation *operation, enum held_kind kind, char *data, size_t bytes)
{
	struct held *held = &operation->handle->held;
	size_t bound_bytes = operation->gate.bound_bytes;
	if (kind == HELD_HEADER && !operation->gate.has_header_listener)
		return bytes;
	/* Out of memory or past the bound without a verdict: let it through and don't retry. */
	if (held->data_bytes + bytes > bound_bytes || !held_append(held, kind, data, bytes))
		return flush_and_go_live(operation, kind, data, bytes);
	return bytes;
}

/* Keeps what is read behind the verdict to retry. */
static size_t keep(struct operation *operation, enum held_kind kind, const char *data, size_t bytes)
{
	if (kind == HELD_HEADER && !operation->gate.has_header_listener)
		return bytes;
	return held_append(&operation->handle->held, kind, data, bytes) ? bytes : refuse(bytes);
}

static size_t begin_drop(struct operation *operation, enum held_kind kind, const char *data, size_t bytes)
{
	struct gate *gate = &operation->gate;
	size_t kept = keep(operation, kind, data, bytes);
	gate->state = GATE_DROP;
	gate->dropped_since_ms = clock_ms();
	const struct program_options *program = &operation->handle->program;
	bool is_bodyless = program->no_body || program->method == BASE_HEAD;
	if (is_bodyless || gate->block.content_length_bytes <= DRAIN_BYTES_MAX) {
		lend_limit_rest(operation, DRAIN_MS_MAX);
		return kept;
	}
	return refuse(bytes);
}

static size_t drop(struct operation *operation, enum held_kind kind, const char *data, size_t bytes)
{
	struct gate *gate = &operation->gate;
	gate->dropped_bytes += bytes;
	if (gate->dropped_bytes <= DRAIN_BYTES_MAX && clock_ms() - gate->dropped_since_ms <= DRAIN_MS_MAX)
		return keep(operation, kind, data, bytes);
	return refuse(bytes);
}

/* A success that is held until it is complete, or becomes too large for that. */
static size_t hold_success(struct operation *operation, enum held_kind kind, char *data, size_t bytes)
{
	struct held *held = &operation->handle->held;
	if (held->data_bytes + bytes <= operation->gate.bound_bytes && held_append(held, kind, data, bytes))
		return bytes;
	return flush_and_go_live(operation, kind, data, bytes);
}

static size_t begin_hold_success(struct operation *operation, enum held_kind kind, char *data, size_t bytes)
{
	struct gate *gate = &operation->gate;
	gate->state = GATE_HOLD_SUCCESS;
	gate->bound_bytes += (size_t)operation->section->rules.hold_success_bytes;
	lend_lift_limits(operation);
	return hold_success(operation, kind, data, bytes);
}

/* Keeps the body bytes at hand; returns whether the text is in what was kept. */
static bool finds_final_body(struct operation *operation, enum held_kind kind, const char *data, size_t bytes)
{
	struct gate *gate = &operation->gate;
	struct held *held = &operation->handle->held;
	const char *wanted = operation->section->rules.final_body;
	size_t wanted_bytes = strlen(wanted);

	if (!held_append(held, kind, data, bytes))
		return false;
	if (kind == HELD_HEADER) {
		gate->search_begin = held->data_bytes;
		return false;
	}
	size_t begin = gate->search_begin;
	/* What has been searched can only hold the beginning of the text. */
	if (held->data_bytes - begin >= wanted_bytes)
		gate->search_begin = held->data_bytes - wanted_bytes + 1;
	return memmem(held->data + begin, held->data_bytes - begin, wanted, wanted_bytes) != NULL;
}

static size_t search_body(struct operation *operation, enum held_kind kind, char *data, size_t bytes)
{
	struct gate *gate = &operation->gate;
	if (operation->handle->held.data_bytes + bytes > gate->bound_bytes || clock_ms() > gate->search_end_ms)
		return begin_drop(operation, kind, data, bytes);
	if (!finds_final_body(operation, kind, data, bytes))
		return bytes;
	operation_retract_retry(operation);
	held_drop_last(&operation->handle->held);
	return flush_and_go_live(operation, kind, data, bytes);
}

static size_t begin_search(struct operation *operation, enum held_kind kind, char *data, size_t bytes)
{
	struct gate *gate = &operation->gate;
	gate->state = GATE_SEARCH;
	gate->search_begin = operation->handle->held.data_bytes;
	gate->search_end_ms = clock_ms() + SEARCH_MS_MAX;
	lend_limit_rest(operation, SEARCH_MS_MAX);
	return search_body(operation, kind, data, bytes);
}

/* The final response has begun: judge it. */
static size_t take_final(struct operation *operation, enum held_kind kind, char *data, size_t bytes)
{
	if (operation_holds_success(operation))
		return begin_hold_success(operation, kind, data, bytes);
	operation_judge_response(operation);
	if (operation->verdict.action == ENGINE_DELIVER)
		return flush_and_go_live(operation, kind, data, bytes);
	if (operation->section->rules.final_body)
		return begin_search(operation, kind, data, bytes);
	return begin_drop(operation, kind, data, bytes);
}

static bool is_same_step(const struct gate *gate, int step)
{
	return step < gate->delivered_steps && gate->delivered_step_hashes[step] == gate->block.step_hash;
}

/* A redirect step that libcurl will follow: shown once, before the next hop is asked for. */
static size_t pass_step(struct operation *operation, char *data, size_t bytes)
{
	struct gate *gate = &operation->gate;
	int step = gate->steps++;
	if (is_same_step(gate, step)) {
		held_clear(&operation->handle->held);
		return bytes;
	}
	if (step >= GATE_STEPS_MAX)
		return flush_and_go_live(operation, HELD_HEADER, data, bytes);

	gate->delivered_step_hashes[step] = gate->block.step_hash;
	gate->delivered_steps = step + 1;
	switch (deliver_held(operation->handle)) {
	case DELIVER_PAUSED:
		/* A pause in the middle of a step is too rare to keep the operation retryable over it. */
		gate->committed = true;
		gate->state = GATE_FLUSH;
		return CURL_WRITEFUNC_PAUSE;
	case DELIVER_REFUSED:
		gate->refused = true;
		return refuse(bytes);
	case DELIVER_DONE:
		break;
	}
	size_t taken = deliver_now(operation, HELD_HEADER, data, bytes);
	if (taken == CURL_WRITEFUNC_PAUSE) {
		gate->committed = true;
		gate->state = GATE_LIVE;
	}
	return taken;
}

/* The block that has just ended isn't the last one, or nobody can say yet. */
static bool is_undecided(const struct operation *operation)
{
	const struct header_block *block = &operation->gate.block;
	bool is_interim = block->status >= 100 && block->status < 200;
	bool may_go_on = block->status == 401 || block->status == 407 || block->status == 417;
	return is_interim || may_go_on || block->is_proxys;
}

static bool is_redirect_step(const struct operation *operation)
{
	const struct header_block *block = &operation->gate.block;
	return block->status >= 300 && block->status < 400 && block->has_location &&
	       operation->handle->program.follow_location;
}

/* As libcurl does it (lib/transfer.c, Curl_follow): 301 and 302 change a POST, 303 whatever has a body. */
static bool makes_get(const struct operation *operation)
{
	int status = operation->gate.block.status;
	bool is_post = operation->handle->program.method != BASE_PUT;
	return handle_body_source(operation->handle) != BODY_NONE &&
	       (status == 303 || (is_post && (status == 301 || status == 302)));
}

static size_t take_block_end(struct operation *operation, char *data, size_t bytes)
{
	bool is_step = is_redirect_step(operation);
	operation->gate.became_get = operation->gate.became_get || (is_step && makes_get(operation));
	if (is_undecided(operation) || (is_step && operation->section->rules.hold_redirects))
		return hold(operation, HELD_HEADER, data, bytes);
	if (is_step)
		return pass_step(operation, data, bytes);
	return take_final(operation, HELD_HEADER, data, bytes);
}

static void end_block(struct operation *operation)
{
	struct header_block *block = &operation->gate.block;
	block->is_proxys = operation_is_proxy_block(operation);
	/* A proxy's answer to CONNECT says nothing of the request. */
	if (!block->is_proxys)
		operation->header_since_send = true;
}

static size_t take_header(struct operation *operation, char *data, size_t bytes)
{
	struct gate *gate = &operation->gate;
	gate->awaits_header = false;
	if (block_add(&gate->block, &operation->section->rules, data, bytes)) {
		end_block(operation);
		return take_block_end(operation, data, bytes);
	}
	return hold(operation, HELD_HEADER, data, bytes);
}

/* Whether a write is a header line (CURLOPT_HEADER), or may turn out to be one. */
static bool is_header_write(struct operation *operation, const char *data, size_t bytes)
{
	struct gate *gate = &operation->gate;
	if (!operation->handle->program.header_in_body)
		return false;
	if (gate->block.open)
		return true;
	bool was_waiting = gate->awaits_header;
	gate->awaits_header = bytes >= 5 && memcmp(data, "HTTP/", 5) == 0;
	/* A second write without a header call in between: the first one was body that only looked like a status line.
	 */
	return gate->awaits_header && !was_waiting;
}

static size_t take_write(struct operation *operation, char *data, size_t bytes)
{
	if (is_header_write(operation, data, bytes))
		return hold(operation, HELD_WRITE, data, bytes);
	return take_final(operation, HELD_WRITE, data, bytes);
}

/* Audit: whether this callback shows that the final response has begun. */
static bool sees_final(struct operation *operation, enum held_kind kind, const char *data, size_t bytes)
{
	struct gate *gate = &operation->gate;
	if (kind == HELD_WRITE)
		return !is_header_write(operation, data, bytes);
	gate->awaits_header = false;
	if (!block_add(&gate->block, &operation->section->rules, data, bytes))
		return false;
	end_block(operation);
	return !is_undecided(operation) && !is_redirect_step(operation);
}

/* Audit: searches a copy of the body, as much as would have been held. */
static void observe_body(struct operation *operation, enum held_kind kind, const char *data, size_t bytes)
{
	struct gate *gate = &operation->gate;
	if (kind == HELD_HEADER || operation->handle->held.data_bytes + bytes > gate->bound_bytes)
		return;
	if (finds_final_body(operation, kind, data, bytes))
		operation_retract_retry(operation);
}

/* Audit: notes what the verdict would have been; nothing is kept from the program. */
static void observe(struct operation *operation, enum held_kind kind, const char *data, size_t bytes)
{
	struct gate *gate = &operation->gate;
	bool would_retry = operation->has_verdict && operation->verdict.action == ENGINE_RETRY;
	if (!operation->has_verdict && sees_final(operation, kind, data, bytes) && !operation_holds_success(operation))
		operation_judge_response(operation);
	else if (would_retry && operation->section->rules.final_body)
		observe_body(operation, kind, data, bytes);
	/* As enforced, a response that is let through is committed by its first byte that somebody receives. */
	if (operation->has_verdict && operation->verdict.action == ENGINE_DELIVER &&
	    (kind == HELD_WRITE || gate->has_header_listener))
		gate->committed = true;
}

static size_t take_live(struct operation *operation, enum held_kind kind, char *data, size_t bytes)
{
	struct gate *gate = &operation->gate;
	if (gate->observes) {
		observe(operation, kind, data, bytes);
	} else {
		operation->header_since_send = true;
		gate->committed = gate->committed || kind == HELD_WRITE || gate->has_header_listener;
	}
	return deliver_now(operation, kind, data, bytes);
}

static size_t take(struct operation *operation, enum held_kind kind, char *data, size_t bytes)
{
	struct gate *gate = &operation->gate;
	gate->saw_event = true;
	switch (gate->state) {
	case GATE_LIVE:
		return take_live(operation, kind, data, bytes);
	case GATE_HOLD:
		return kind == HELD_HEADER ? take_header(operation, data, bytes) : take_write(operation, data, bytes);
	case GATE_HOLD_SUCCESS:
		return hold_success(operation, kind, data, bytes);
	case GATE_SEARCH:
		return search_body(operation, kind, data, bytes);
	case GATE_FLUSH:
		return flush_and_go_live(operation, kind, data, bytes);
	case GATE_DROP:
		break;
	}
	return drop(operation, kind, data, bytes);
}

/* A field of a plain success that nobody receives, as most fields are. In this state lines come one by one. */
static bool is_idle_field(const struct gate *gate, size_t bytes)
{
	return gate->state == GATE_HOLD && gate->block.skips_fields && gate->block.open && !gate->has_header_listener &&
	       bytes > 2;
}

size_t gate_header_callback(char *bytes, size_t size, size_t count, void *data)
{
	struct handle *handle = data;
	if (handle->active && is_idle_field(&handle->active->gate, size * count))
		return size * count;
	if (!handle->active)
		return deliver_event(handle, HELD_HEADER, bytes, size * count);
	return take(handle->active, HELD_HEADER, bytes, size * count);
}

size_t gate_write_callback(char *bytes, size_t size, size_t count, void *data)
{
	struct handle *handle = data;
	if (!handle->active)
		return deliver_event(handle, HELD_WRITE, bytes, size * count);
	return take(handle->active, HELD_WRITE, bytes, size * count);
}

void gate_begin_attempt(struct operation *operation)
{
	struct gate *gate = &operation->gate;
	held_clear(&operation->handle->held);
	memset(&gate->block, 0, sizeof(gate->block));
	gate->block.content_length_bytes = BLOCK_LENGTH_UNKNOWN;
	gate->block.reads_success = journal_wants_success(operation);
	gate->state = gate->observes ? GATE_LIVE : GATE_HOLD;
	gate->has_header_listener = deliver_has_header_listener(operation->handle);
	gate->saw_event = false;
	gate->awaits_header = false;
	gate->search_begin = 0;
	gate->bound_bytes = (size_t)operation->section->rules.hold_body_bytes;
	gate->dropped_bytes = 0;
	gate->steps = 0;
}

bool gate_finish(struct operation *operation, int *result)
{
	struct gate *gate = &operation->gate;
	/* Refused, or still paused when the transfer ended: the program doesn't want the rest. */
	if (gate->observes || gate->refused || gate->state == GATE_FLUSH)
		held_clear(&operation->handle->held);
	for (;;) {
		switch (deliver_held(operation->handle)) {
		case DELIVER_DONE:
			return true;
		case DELIVER_REFUSED:
			gate->refused = true;
			*result = CURLE_WRITE_ERROR;
			return false;
		case DELIVER_PAUSED:
			break;
		}
		*result = wait_while_paused(operation);
		if (*result != CURLE_OK)
			return false;
	}
}
