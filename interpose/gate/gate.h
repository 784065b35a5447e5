/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_GATE_H
#define TENACURL_INTERPOSE_GATE_H

/*
 * The gate stands between libcurl's header and write callbacks and the program's: it holds a response back until the
 * engine's verdict, then lets it through whole or drops it whole. See the essay in gate.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/gate/block.h"
#include "interpose/gate/deliver.h"
#include "interpose/handle/handle.h"

enum gate_state {
	GATE_LIVE,         /* everything goes to the program as it comes */
	GATE_HOLD,         /* kept until it is known what becomes of it */
	GATE_SHOW,         /* in a header block that is shown as it comes, behind which others may follow */
	GATE_HOLD_SUCCESS, /* a success that is held until it is complete */
	GATE_SEARCH,       /* the verdict is to retry, unless the body contains final_body */
	GATE_FLUSH,        /* the verdict is to deliver; the program paused in the middle of what was held */
	GATE_DROP,         /* the verdict is to retry: keep the rest for the wait, cut it if it is long or slow */
};

#define GATE_STEPS_MAX 16 /* redirect steps that are told apart; after more the operation is committed */

/*
 * What the gate asks for and has done, as the verdict's ports (engine/engine.h) are. Each gets the `context`, and may
 * be called inside libcurl's callbacks.
 */
struct gate_ports {
	/* The final response has begun (or enough of its body was seen). Returns whether the verdict is to retry. */
	bool (*judge)(void *context);
	/* The body shows that the response is final: takes the verdict to retry back. */
	void (*retract)(void *context);
	/* Whether a response of the status at hand could be tried again, whatever its fields and its body will say. */
	bool (*may_retry_answer)(void *context);
	/* Whether the block at hand is a proxy's answer to CONNECT. */
	bool (*is_proxys)(void *context);
	/* Whether an upload waits for a 100. */
	bool (*awaits_continue)(void *context);
	/* Whether the program may refuse to rewind its body, so that the response has to be delivered after all. */
	bool (*may_be_taken_back)(void *context);
	/* An answer to the request has begun, and the seek callback is lent. */
	void (*answer)(void *context);
	/* Nothing of the rest is shown. */
	void (*hide)(void *context);
	/* The rest may take so long, in milliseconds from now. */
	void (*limit_rest)(void *context, int64_t limit_ms);
	/* It may take as long as the attempt may. */
	void (*lift_limits)(void *context);
};

/*
 * The first group is of the whole operation and cleared when that begins, but for the first four, which its owner sets;
 * the second is of one attempt.
 */
struct gate {
	struct handle *handle;
	const struct policy_rules *rules;
	const struct gate_ports *ports;
	void *context;
	bool observes;       /* audit: what would be kept is shown at once; verdicts are only noted */
	bool shows_late;     /* the step that is shown was held to its end, and the program paused in it */
	bool became_get;     /* a redirect step made a GET of a request with a body */
	bool committed;      /* a byte of a final response, or of a block that isn't complete, went (in audit: would
	                        have gone) to the program */
	bool refused;        /* a callback of the program refused what it was given */
	int delivered_steps; /* redirect steps that the program has seen, by their hashes */

	uint64_t delivered_step_hashes[GATE_STEPS_MAX];
	enum gate_state state;
	struct header_block block;
	bool has_header_listener;
	bool answered;         /* an answer began, since the last request went out */
	bool saw_event;        /* libcurl called one of our callbacks */
	int events;            /* of the last header call, by enum block_events */
	size_t followed_bytes; /* how much of the next header call was in the last one, at which the program paused */
	bool awaits_header;  /* a write that looks like a status line (CURLOPT_HEADER); its header call shows whether it
	                        is */
	size_t bound_bytes;  /* how much may be held */
	size_t kept_bytes;   /* how much is (in audit: would be) */
	size_t search_begin; /* GATE_SEARCH: where in what is held the search goes on */
	int64_t search_end_ms;             /* GATE_SEARCH: instant until which */
	size_t dropped_bytes, drain_bytes; /* GATE_DROP: so far, and how much at most */
	int64_t dropped_since_ms, drain_ms;
	int steps; /* redirect steps of this attempt that were shown, or were shown before */
	int hops;  /* all of its redirect steps */
};

/* What libcurl gives to the header and to the write callback. Returns what that is to return. */
size_t gate_take_header(struct gate *gate, char *bytes, size_t count_bytes);
size_t gate_take_write(struct gate *gate, char *bytes, size_t count_bytes);

/* Prepares the gate for the next attempt; reads_success: somebody wants the fields of a success, too. */
void gate_begin_attempt(struct gate *gate, bool reads_success);

/*
 * After perform returned and the verdict is to deliver: gives the program what is still held. Paused: to be called
 * again once the program has unpaused.
 */
enum deliver_result gate_finish(struct gate *gate);

#endif
