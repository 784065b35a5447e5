/* SPDX-License-Identifier: MIT */

/*
 * One response reaches the program: that of the attempt whose result is returned. So of a response that may be tried
 * again nothing may get through before the verdict on it, and everything must get through unchanged afterwards: the
 * same callbacks, in the same order, with the same bytes. What can't be tried again isn't held: a program acts in its
 * callbacks (it unpauses an upload, forbids the hop of a redirect, takes another callback), and libcurl heeds that from
 * the next line on.
 *
 * The status line tells which it is. Held to the blank line, where the verdict falls: an answer whose status the policy
 * would retry for this request (no libcurl goes on after a 429 or 5xx). Held on until more is known: what libcurl may
 * go on after, which is a 102, 103 or other interim answer, an auth round (401, 407), a refused expectation (417) and a
 * proxy's answer to CONNECT. There the next callback tells: a body byte means that the block was final, a status line
 * that it wasn't; perform's return settles the rest. Everything else is shown from its status line on: each success
 * (unless hold_success_bytes holds it), each other status that isn't worth a retry, and two kinds of blocks behind
 * which others follow:
 *
 * - a redirect step (unless hold_redirects holds it). The program may refuse the hop, or turn FOLLOWLOCATION off at its
 *   status line: libcurl reads that option when it reads Location, just before it shows that line. A later attempt that
 *   takes the same step again doesn't show it again. Which step it is shows at its Location, so there the block is held
 *   to its blank line.
 * - a 100 while an upload waits for it; in a later attempt again.
 *
 * Who has seen a part of a block has seen a part of a response: an attempt that ends there isn't repeated. Behind the
 * blank line of a step or a 100 the operation is free again. Where nobody receives header lines none commits anything:
 * a success that breaks off in its headers is still tried again.
 *
 * With CURLOPT_HEADER libcurl gives each header line to the write callback first and to the header callback afterwards.
 * A write while a block is open is therefore a header line; one that begins with "HTTP/" while no block is open waits
 * for the header callback to confirm it.
 *
 * After the verdict "retry" the rest of the response is read, so that the connection can be used again, but no more
 * than 4 KiB or 100 ms of it: a long or dripping error page costs nothing. (Where nothing arrives at all, libcurl looks
 * at the limit only when it wakes up: within a second.) It is kept through the wait, since a retry can be taken back.
 * With final_body the rest is held and searched first, for as much as hold_body_bytes and a second allow; if the text
 * is found, the verdict is taken back.
 *
 * Audit is the same gate, but what would be kept is shown at once.
 */

#include <string.h>

#include "base/clock.h"
#include "interpose/gate/deliver.h"
#include "interpose/gate/gate.h"

#define DRAIN_BYTES_MAX 4096
#define DRAIN_MS_MAX    100
#define SEARCH_MS_MAX   1000

/* What a callback returns to end the transfer: any count but its own. */
static size_t refuse(size_t bytes)
{
	return bytes ? 0 : 1;
}

static size_t deliver_now(struct gate *gate, enum held_kind kind, char *data, size_t bytes)
{
	struct handle *handle = gate->handle;
	const struct operation *operation = handle->active;
	size_t taken = deliver_event(handle, kind, data, bytes);
	if (taken != bytes && taken != CURL_WRITEFUNC_PAUSE && handle_runs(handle, operation))
		gate->refused = true;
	return taken;
}

/* Goes on with what libcurl shows from now on, whatever it is. */
static void go_live(struct gate *gate)
{
	gate->state = GATE_LIVE;
	gate->ports->lift_limits(gate->context);
}

static size_t take_live(struct gate *gate, enum held_kind kind, char *data, size_t bytes)
{
	gate->answered = true;
	gate->committed = gate->committed || kind == HELD_WRITE || gate->has_header_listener;
	if (kind == HELD_HEADER && gate->block.skips_fields)
		block_skip(&gate->block, data, bytes);
	else if (kind == HELD_HEADER)
		block_add(&gate->block, gate->rules, data, bytes);
	return deliver_now(gate, kind, data, bytes);
}

/* What libcurl is told where the program didn't take all that was held. */
static size_t answer_of(struct gate *gate, enum deliver_result result, size_t bytes)
{
	/* libcurl keeps the bytes at hand and brings them again. */
	if (result == DELIVER_PAUSED)
		return CURL_WRITEFUNC_PAUSE;
	if (result == DELIVER_REFUSED)
		gate->refused = true;
	return refuse(bytes);
}

/* Delivers what is held, then the callback at hand, and lets everything after it through. */
static size_t flush_and_go_live(struct gate *gate, enum held_kind kind, char *data, size_t bytes)
{
	/* Header lines that nobody receives commit nothing. */
	if (kind == HELD_WRITE || gate->has_header_listener || gate->kept_bytes > 0)
		gate->committed = true;
	gate->state = GATE_FLUSH;
	enum deliver_result result = deliver_held(gate->handle);
	if (result != DELIVER_DONE)
		return answer_of(gate, result, bytes);
	go_live(gate);
	return take_live(gate, kind, data, bytes);
}

/* Keeps a callback; in audit makes it. Past the bound, or out of memory, lets it through: then there is no retry. */
static size_t keep(struct gate *gate, enum held_kind kind, char *data, size_t bytes)
{
	bool fits = gate->kept_bytes + bytes <= gate->bound_bytes;
	if (!fits || (!gate->observes && !held_append(&gate->handle->held, kind, data, bytes)))
		return flush_and_go_live(gate, kind, data, bytes);
	gate->kept_bytes += bytes;
	return gate->observes ? deliver_now(gate, kind, data, bytes) : bytes;
}

static size_t hold(struct gate *gate, enum held_kind kind, char *data, size_t bytes)
{
	if (kind == HELD_HEADER && !gate->has_header_listener)
		return bytes;
	return keep(gate, kind, data, bytes);
}

static void forget_kept(struct gate *gate)
{
	held_clear(&gate->handle->held);
	gate->kept_bytes = 0;
}

/* Keeps what is read behind the verdict to retry. */
static size_t keep_rest(struct gate *gate, enum held_kind kind, char *data, size_t bytes)
{
	if (gate->observes)
		return deliver_now(gate, kind, data, bytes);
	if (kind == HELD_HEADER && !gate->has_header_listener)
		return bytes;
	return held_append(&gate->handle->held, kind, data, bytes) ? bytes : refuse(bytes);
}

static size_t drop(struct gate *gate, enum held_kind kind, char *data, size_t bytes)
{
	gate->dropped_bytes += bytes;
	bool is_long = gate->dropped_bytes > gate->drain_bytes || clock_ms() - gate->dropped_since_ms > gate->drain_ms;
	return is_long && !gate->observes ? refuse(bytes) : keep_rest(gate, kind, data, bytes);
}

static size_t begin_drop(struct gate *gate, enum held_kind kind, char *data, size_t bytes)
{
	const struct program_options *program = &gate->handle->program;
	bool is_bodyless = program->no_body || program->method == BASE_HEAD;
	/* A response that may well have to be delivered after all is worth more. */
	bool may_be_taken_back = gate->ports->may_be_taken_back(gate->context);
	gate->drain_bytes = may_be_taken_back ? gate->bound_bytes : DRAIN_BYTES_MAX;
	gate->drain_ms = may_be_taken_back ? SEARCH_MS_MAX : DRAIN_MS_MAX;
	bool is_short = is_bodyless || gate->block.content_length_bytes <= (int64_t)gate->drain_bytes;
	gate->state = GATE_DROP;
	gate->dropped_since_ms = clock_ms();
	if (gate->observes)
		return keep_rest(gate, kind, data, bytes);
	gate->ports->hide(gate->context);
	size_t kept = keep_rest(gate, kind, data, bytes);
	if (is_short)
		gate->ports->limit_rest(gate->context, gate->drain_ms);
	return is_short ? kept : refuse(bytes);
}

static size_t begin_hold_success(struct gate *gate, enum held_kind kind, char *data, size_t bytes)
{
	gate->state = GATE_HOLD_SUCCESS;
	gate->bound_bytes += (size_t)gate->rules->hold_success_bytes;
	gate->ports->lift_limits(gate->context);
	return keep(gate, kind, data, bytes);
}

/* Whether the text is in what was kept last and before it. */
static bool finds_final_body(struct gate *gate, enum held_kind kind)
{
	const struct held *held = &gate->handle->held;
	const char *wanted = gate->rules->final_body;
	size_t wanted_bytes = strlen(wanted), begin = gate->search_begin;

	if (kind == HELD_HEADER) {
		gate->search_begin = held->data_bytes;
		return false;
	}
	/* What has been searched can only hold the beginning of the text. */
	if (held->data_bytes - begin >= wanted_bytes)
		gate->search_begin = held->data_bytes - wanted_bytes + 1;
	return memmem(held->data + begin, held->data_bytes - begin, wanted, wanted_bytes) != NULL;
}

/* The body shows that the response is final. */
static size_t take_back(struct gate *gate, enum held_kind kind, char *data, size_t bytes)
{
	struct held *held = &gate->handle->held;
	gate->ports->retract(gate->context);
	/* In audit it is a copy of what the program has already. */
	if (gate->observes)
		held_clear(held);
	else
		held_drop_last(held);
	return flush_and_go_live(gate, kind, data, bytes);
}

static size_t search_body(struct gate *gate, enum held_kind kind, char *data, size_t bytes)
{
	bool is_over = gate->kept_bytes + bytes > gate->bound_bytes || clock_ms() > gate->search_end_ms;
	if (is_over || !held_append(&gate->handle->held, kind, data, bytes))
		return begin_drop(gate, kind, data, bytes);
	gate->kept_bytes += bytes;
	if (finds_final_body(gate, kind))
		return take_back(gate, kind, data, bytes);
	return gate->observes ? deliver_now(gate, kind, data, bytes) : bytes;
}

static size_t begin_search(struct gate *gate, enum held_kind kind, char *data, size_t bytes)
{
	gate->state = GATE_SEARCH;
	if (!gate->observes)
		gate->ports->hide(gate->context);
	gate->search_begin = gate->handle->held.data_bytes;
	gate->search_end_ms = clock_ms() + SEARCH_MS_MAX;
	if (!gate->observes)
		gate->ports->limit_rest(gate->context, SEARCH_MS_MAX);
	return search_body(gate, kind, data, bytes);
}

/* Whether the response at hand is a success that the policy wants held until it is complete. */
static bool holds_success(const struct gate *gate)
{
	const struct header_block *block = &gate->block;
	int64_t bound_bytes = gate->rules->hold_success_bytes;
	bool is_success = block->status >= 200 && block->status < 300;
	return bound_bytes > 0 && is_success && !block->is_event_stream && block->content_length_bytes <= bound_bytes;
}

/* The final response has begun: judge it. */
static size_t take_final(struct gate *gate, enum held_kind kind, char *data, size_t bytes)
{
	if (holds_success(gate))
		return begin_hold_success(gate, kind, data, bytes);
	if (!gate->ports->judge(gate->context))
		return flush_and_go_live(gate, kind, data, bytes);
	if (gate->rules->final_body)
		return begin_search(gate, kind, data, bytes);
	return begin_drop(gate, kind, data, bytes);
}

/* The verdict on a final response that the program has seen the beginning of. */
static void judge_shown(struct gate *gate)
{
	if (gate->ports->judge(gate->context))
		gate->ports->retract(gate->context);
}

static bool is_interim(const struct header_block *block)
{
	/* A 101 to another protocol is the last block, but for HTTP/2, which answers again. */
	return block->status >= 100 && block->status < 200 && (block->open || block->status != 101 || block->is_h2c);
}

/* libcurl may go on after the block at hand. */
static bool is_undecided(const struct header_block *block)
{
	return is_interim(block) || block->status == 401 || block->status == 407 || block->status == 417 ||
	       block->is_proxys;
}

static bool may_be_step(const struct header_block *block)
{
	return block->status >= 300 && block->status < 400;
}

/* Shows a line of a block that is shown as it comes, and before it what is still held. */
static size_t show(struct gate *gate, enum held_kind kind, char *data, size_t bytes)
{
	struct handle *handle = gate->handle;
	const struct operation *operation = handle->active;
	enum deliver_result result = deliver_held(handle);
	size_t taken = result == DELIVER_DONE ? deliver_now(gate, kind, data, bytes) : answer_of(gate, result, bytes);
	/* libcurl will bring it again, before 8.7 with the lines behind it. */
	if (taken == CURL_WRITEFUNC_PAUSE && kind == HELD_HEADER && handle_runs(handle, operation))
		gate->followed_bytes = bytes;
	return taken;
}

/* Shows what is held, and the block at hand from here on. */
static size_t begin_show(struct gate *gate, char *data, size_t bytes)
{
	gate->committed = true;
	gate->kept_bytes = 0;
	if (gate->delivered_steps < gate->steps)
		gate->delivered_steps = gate->steps;
	gate->state = GATE_SHOW;
	if (!is_interim(&gate->block) && !may_be_step(&gate->block))
		gate->ports->lift_limits(gate->context);
	return show(gate, HELD_HEADER, data, bytes);
}

/* Shows the end of a block behind which others follow. */
static size_t end_show(struct gate *gate, char *data, size_t bytes)
{
	struct handle *handle = gate->handle;
	const struct operation *operation = handle->active;
	size_t taken = gate->state == GATE_SHOW ? show(gate, HELD_HEADER, data, bytes) : begin_show(gate, data, bytes);
	if (handle_runs(handle, operation) && gate->state == GATE_SHOW && taken == bytes) {
		gate->state = GATE_HOLD;
		gate->committed = false;
	}
	return taken;
}

static bool is_same_step(const struct gate *gate, int step)
{
	return step < gate->delivered_steps && gate->delivered_step_hashes[step] == gate->block.step_hash;
}

static void remember_step(struct gate *gate)
{
	gate->delivered_step_hashes[gate->steps++] = gate->block.step_hash;
	gate->delivered_steps = gate->steps;
}

/* Shown only if a 100 that an upload waits for comes behind it. Where it isn't the one that was shown, that path is
 * left. */
static void remember_held_step(struct gate *gate)
{
	if (gate->steps >= GATE_STEPS_MAX)
		return;
	if (gate->delivered_steps > gate->steps)
		gate->delivered_steps = gate->steps;
	gate->delivered_step_hashes[gate->steps++] = gate->block.step_hash;
}

static bool is_redirect_step(const struct header_block *block)
{
	return may_be_step(block) && block->has_location && block->is_followed;
}

/* As libcurl does it (lib/transfer.c, Curl_follow): 301 and 302 change a POST, 303 whatever has a body. */
static bool makes_get(const struct gate *gate)
{
	int status = gate->block.status;
	bool is_post = gate->handle->program.method != BASE_PUT;
	return handle_body_source(gate->handle) != BODY_NONE &&
	       (status == 303 || (is_post && (status == 301 || status == 302)));
}

/* A step that was held to its end, since it could have been one that the program has seen. */
static size_t show_late(struct gate *gate, char *data, size_t bytes)
{
	struct handle *handle = gate->handle;
	const struct operation *operation = handle->active;
	gate->shows_late = true;
	size_t taken = end_show(gate, data, bytes);
	if (!handle_runs(handle, operation) || taken != bytes)
		return taken;
	gate->shows_late = false;
	if (handle->program.follow_location)
		return taken;
	/* The program forbade the hop, too late for libcurl: better a failed transfer than that hop. */
	gate->committed = true;
	return refuse(bytes);
}

/* The end of a redirect step that libcurl will follow: shown once, before the next hop is asked for. */
static size_t take_step(struct gate *gate, char *data, size_t bytes)
{
	struct handle *handle = gate->handle;
	const struct operation *operation = handle->active;
	bool is_shown = gate->state == GATE_SHOW;
	gate->became_get = gate->became_get || makes_get(gate);
	if (!is_shown && is_same_step(gate, gate->steps)) {
		gate->steps++;
		forget_kept(gate);
		return bytes;
	}
	if (!is_shown && gate->rules->hold_redirects) {
		remember_held_step(gate);
		return hold(gate, HELD_HEADER, data, bytes);
	}
	if (gate->steps >= GATE_STEPS_MAX)
		return flush_and_go_live(gate, HELD_HEADER, data, bytes);
	bool is_live = is_shown && !gate->shows_late;
	size_t taken = is_live ? end_show(gate, data, bytes) : show_late(gate, data, bytes);
	if (handle_runs(handle, operation) && taken == bytes)
		remember_step(gate);
	return taken;
}

static size_t take_block_end(struct gate *gate, char *data, size_t bytes)
{
	if (is_redirect_step(&gate->block))
		return take_step(gate, data, bytes);
	if (gate->state != GATE_SHOW)
		return is_undecided(&gate->block) ? hold(gate, HELD_HEADER, data, bytes)
		                                  : take_final(gate, HELD_HEADER, data, bytes);
	if (is_undecided(&gate->block))
		return end_show(gate, data, bytes);
	judge_shown(gate);
	return flush_and_go_live(gate, HELD_HEADER, data, bytes);
}

/* Whether the block that has just begun is one to show as it comes. */
static bool is_shown_live(struct gate *gate)
{
	const struct header_block *block = &gate->block;
	const struct policy_rules *rules = gate->rules;
	bool follows = gate->handle->program.follow_location;
	/* A later attempt's step may be one that the program has seen. */
	bool is_new_step = gate->steps >= gate->delivered_steps;

	if (!gate->has_header_listener || block->is_proxys)
		return false;
	if (is_interim(block))
		return block->status == 100 && gate->ports->awaits_continue(gate->context);
	if (may_be_step(block))
		return !follows || (is_new_step && !rules->hold_redirects);
	if (block->status < 300)
		return rules->hold_success_bytes == 0;
	return !is_undecided(block) && !gate->ports->may_retry_answer(gate->context);
}

/* What only libcurl and the program know of a block that has just begun. */
static void note_begin(struct gate *gate)
{
	gate->has_header_listener = deliver_has_header_listener(gate->handle);
	gate->block.is_proxys = gate->ports->is_proxys(gate->context);
	/* A proxy's answer to CONNECT says nothing of the request. */
	if (gate->block.is_proxys)
		return;
	gate->answered = true;
	if (gate->handle->lent.seek)
		gate->ports->answer(gate->context);
}

/* Adds header lines to the block at hand. */
static int follow_block(struct gate *gate, const char *data, size_t bytes)
{
	struct header_block *block = &gate->block;
	size_t begin = gate->followed_bytes <= bytes ? gate->followed_bytes : 0;
	int before = begin > 0 ? gate->events & BLOCK_ENDED : 0;
	bool had_location = block->has_location;

	gate->awaits_header = false;
	gate->followed_bytes = 0;
	gate->events = block_add(block, gate->rules, data + begin, bytes - begin);
	if (gate->events & BLOCK_BEGAN)
		note_begin(gate);
	else
		gate->events |= before;
	/* libcurl decides on the hop when it reads Location, before it shows that line. */
	if (block->has_location && (!had_location || gate->events & BLOCK_BEGAN)) {
		block->is_followed = gate->handle->program.follow_location;
		gate->hops += is_redirect_step(block);
	}
	return gate->events;
}

static size_t take_header(struct gate *gate, char *data, size_t bytes)
{
	int events = follow_block(gate, data, bytes);
	if (events & BLOCK_ENDED)
		return take_block_end(gate, data, bytes);
	if (!(events & BLOCK_BEGAN) || !is_shown_live(gate))
		return hold(gate, HELD_HEADER, data, bytes);
	/* No field matters. */
	if (gate->block.skips_fields)
		return take_final(gate, HELD_HEADER, data, bytes);
	return begin_show(gate, data, bytes);
}

static size_t take_shown_header(struct gate *gate, char *data, size_t bytes)
{
	int events = follow_block(gate, data, bytes);
	/* The block that the program saw a part of broke off, and libcurl goes on all the same. */
	if (events & BLOCK_BEGAN)
		return flush_and_go_live(gate, HELD_HEADER, data, bytes);
	if (events & BLOCK_ENDED)
		return take_block_end(gate, data, bytes);
	return show(gate, HELD_HEADER, data, bytes);
}

/* Whether a write is a header line (CURLOPT_HEADER), or may turn out to be one. */
static bool is_header_write(struct gate *gate, const char *data, size_t bytes)
{
	if (!gate->handle->program.header_in_body)
		return false;
	if (gate->block.open)
		return true;
	bool was_waiting = gate->awaits_header;
	gate->awaits_header = bytes >= 5 && memcmp(data, "HTTP/", 5) == 0;
	/* A second write without a header call in between: the first one was body that only looked like a status line.
	 */
	return gate->awaits_header && !was_waiting;
}

static size_t take_write(struct gate *gate, char *data, size_t bytes)
{
	bool is_header = is_header_write(gate, data, bytes);
	if (gate->state == GATE_HOLD)
		return is_header ? hold(gate, HELD_WRITE, data, bytes) : take_final(gate, HELD_WRITE, data, bytes);
	if (is_header)
		return show(gate, HELD_WRITE, data, bytes);
	judge_shown(gate);
	return flush_and_go_live(gate, HELD_WRITE, data, bytes);
}

static size_t take(struct gate *gate, enum held_kind kind, char *data, size_t bytes)
{
	gate->saw_event = true;
	switch (gate->state) {
	case GATE_LIVE:
		return take_live(gate, kind, data, bytes);
	case GATE_HOLD:
		return kind == HELD_HEADER ? take_header(gate, data, bytes) : take_write(gate, data, bytes);
	case GATE_SHOW:
		return kind == HELD_HEADER ? take_shown_header(gate, data, bytes) : take_write(gate, data, bytes);
	case GATE_HOLD_SUCCESS:
		return keep(gate, kind, data, bytes);
	case GATE_SEARCH:
		return search_body(gate, kind, data, bytes);
	case GATE_FLUSH:
		return flush_and_go_live(gate, kind, data, bytes);
	case GATE_DROP:
		break;
	}
	return drop(gate, kind, data, bytes);
}

/* Whether it is in the block of a plain success that nobody receives, as most are. In this state lines come one by one.
 */
static bool is_idle(const struct gate *gate)
{
	return gate->state == GATE_HOLD && gate->block.skips_fields && gate->block.open && !gate->has_header_listener &&
	       !gate->block.is_proxys;
}

static bool is_blank_line(const char *bytes, size_t count_bytes)
{
	return count_bytes == 2 ? bytes[0] == '\r' && bytes[1] == '\n' : count_bytes == 1 && bytes[0] == '\n';
}

static size_t take_idle(struct gate *gate, char *data, size_t bytes)
{
	if (!is_blank_line(data, bytes))
		return bytes;
	block_end(&gate->block);
	return take_final(gate, HELD_HEADER, data, bytes);
}

size_t gate_take_header(struct gate *gate, char *bytes, size_t count_bytes)
{
	return is_idle(gate) ? take_idle(gate, bytes, count_bytes) : take(gate, HELD_HEADER, bytes, count_bytes);
}

size_t gate_take_write(struct gate *gate, char *bytes, size_t count_bytes)
{
	if (gate->state == GATE_LIVE)
		return take_live(gate, HELD_WRITE, bytes, count_bytes);
	return take(gate, HELD_WRITE, bytes, count_bytes);
}

void gate_begin_attempt(struct gate *gate, bool reads_success)
{
	held_clear(&gate->handle->held);
	block_clear(&gate->block, reads_success);
	gate->state = GATE_HOLD;
	gate->has_header_listener = deliver_has_header_listener(gate->handle);
	gate->answered = false;
	gate->saw_event = false;
	gate->followed_bytes = 0;
	gate->awaits_header = false;
	gate->bound_bytes = (size_t)gate->rules->hold_body_bytes;
	gate->kept_bytes = 0;
	gate->dropped_bytes = 0;
	gate->steps = 0;
	gate->hops = 0;
}

enum deliver_result gate_finish(struct gate *gate)
{
	struct handle *handle = gate->handle;
	/* Refused, or still paused when the transfer ended: the program doesn't want the rest. */
	if (gate->observes || gate->refused || gate->state == GATE_FLUSH || gate->state == GATE_SHOW)
		held_clear(&handle->held);
	enum deliver_result result = deliver_held(handle);
	if (result == DELIVER_REFUSED)
		gate->refused = true;
	return result;
}
