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

#include "interpose/block.h"

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

/* Lives in struct operation. The first group is of the whole operation and cleared when that begins, the second of one
 * attempt. */
struct gate {
	bool observes;       /* audit: what would be kept is shown at once; verdicts are only noted */
	bool became_get;     /* a redirect step made a GET of a request with a body */
	bool committed;      /* a byte of a final response, or of a block that isn't complete, went (in audit: would
	                        have gone) to the program */
	bool refused;        /* a callback of the program refused what it was given */
	int delivered_steps; /* redirect steps that the program has seen, by their hashes */

	uint64_t delivered_step_hashes[GATE_STEPS_MAX];
	enum gate_state state;
	struct header_block block;
	bool has_header_listener;
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

struct handle;
struct operation;

/* The callbacks that are lent to libcurl; `data` is the struct handle. Without an operation they are the program's own.
 */
size_t gate_header_callback(char *bytes, size_t size, size_t count, void *data);
size_t gate_write_callback(char *bytes, size_t size, size_t count, void *data);

/* Prepares the gate for the operation's next attempt. */
void gate_begin_attempt(struct operation *operation);

/*
 * After perform returned and the verdict is to deliver: gives the program what is still held. Returns false if its
 * callback refused, or paused and stays so until the operation's time is over; then *result is what perform must
 * return.
 */
bool gate_finish(struct operation *operation, int *result);

#endif
