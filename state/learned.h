/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_LEARNED_H
#define TENACURL_STATE_LEARNED_H

/*
 * What was learned of callers: which call site retries which failures at which origin by itself. Lock-free, no system
 * call (the first use may map memory), any thread; errno is kept. A struct that two writers mixed is found by its
 * checksum and is as good as none: at worst something is learned again.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/state.h"
#include "state/text.h"

#define STATE_LEARNED_CLASSES 16 /* room for enum engine_class */

struct state_learned {
	uint64_t key;       /* hash of call site and origin. Never 0 */
	int64_t learned_ms; /* when the first repeat was seen */
	int64_t expires_ms; /* a while after it last proved true */
	int64_t
	    promised_ms; /* when we last yielded on the strength of it, and nobody came back since; 0: somebody did */
	uint64_t kept;   /* how often somebody came back after that */
	uint8_t repeats[STATE_LEARNED_CLASSES]; /* per failure class: how often it came back after one; stops at 255 */
	char program[64];                       /* as the log calls it */
	char caller[64]; /* what loops: the library that makes the call, or the parent of a chain of processes */
	char origin[200];
};

/* Fills one of the texts above: ends it with NUL, and with "~" what doesn't fit. text NULL: empty. */
#define state_learned_text(field, text) state_copy_text((field), sizeof(field), (text))

/* Makes one that another process wrote harmless: its texts, and instants to count with. What is found or read has been
 * cleaned. */
void state_learned_clean(struct state_learned *learned, int64_t now_ms);

/* Finds what was learned under this key and has not expired at now_ms. */
bool state_learned_find(struct state *state, uint64_t key, int64_t now_ms, struct state_learned *learned);

/* Keeps it, in place of the one with its key, an expired one, or the one of a few that expires first. */
void state_learned_keep(struct state *state, const struct state_learned *learned, int64_t now_ms);

/* Forgets what is under this key. */
void state_learned_drop(struct state *state, uint64_t key);

#endif
