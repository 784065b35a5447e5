/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_INTENT_H
#define TENACURL_STATE_INTENT_H

/*
 * Intents: what programs want done and failed to get lately, so that a repeat is known as one, in the same process or
 * in the next one of a shell loop. Kept for a minute or so; nothing is lost but a recognition if one is overwritten.
 *
 * Lock-free, no system call (the first use may map memory), any thread; errno is kept. A struct that two writers mixed
 * is found by its checksum and is as good as none.
 */

#include <stdbool.h>
#include <stdint.h>

#include "state/state.h"

/* All of it words; what they mean is engine/intent.h's, copied here so that the file has a layout of its own. */
struct state_intent {
	uint64_t key;     /* what is wanted, and by whom: a hash. Never 0 */
	uint64_t id;      /* random: what the log calls it */
	uint64_t process; /* whose operation was the last: a random number of that process */
	int64_t expires_ms;
	int64_t began_ms, ended_ms, sent_ms, asked_until_ms, success_gap_ms;
	int64_t refused_ms; /* when an operation of it was last refused; 0: never */
	int32_t operations, attempts, extra_attempts;
	uint32_t failures, last_failure;
	uint32_t stopped;
	uint64_t sends; /* requests on the wire, of all its operations */
};

/*
 * Finds the intent of this key that has not expired at now_ms; what another process wrote can be counted with. Looks at
 * the shared file, or at the process's own memory where nothing is shared (a state that was never opened, too).
 */
bool state_intent_find(struct state *state, uint64_t key, int64_t now_ms, struct state_intent *intent);

/* Keeps an intent, in place of the one with its key, an expired one, or the one of a few that expires first. */
void state_intent_keep(struct state *state, const struct state_intent *intent, int64_t now_ms);

/*
 * Instant until which any intent of this entry may live; 0: there never was one. The one word that successes look at.
 * Raise it (state_intents_extend) whenever one is kept.
 */
int64_t state_intents_until(const struct state_entry *entry);
void state_intents_extend(struct state_entry *entry, int64_t until_ms);

#endif
