/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_KEYED_H
#define TENACURL_STATE_KEYED_H

/*
 * What intents and learned things are kept in: a small table in which a thing is found by its key until it expires. A
 * thing is a struct of nothing but words, the first of which is its key; 0 is no key. Nobody owns a place: two who
 * write to one at once spoil each other's thing, which its checksum shows, and a spoilt place is as good as a free one.
 *
 * Lock-free, no system call, any thread, signal handlers too.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/state.h"

/* Of a table. */
struct state_keyed_shape {
	size_t places;
	size_t place_words; /* of a place: checksum, thing, nothing */
	size_t thing_words;
	size_t expires_word;     /* where in the thing the instant is at which it expires */
	int64_t lifetime_max_ms; /* nothing is kept for longer: what claims to expire later is rubbish */
};

extern const struct state_keyed_shape state_intent_shape, state_learned_shape, state_running_shape;

/*
 * Fills `thing` from a place of the table that begins at `words`. Returns false, and leaves `thing` as it is, if there
 * is none that is whole and lives at now_ms.
 */
bool state_keyed_read(const struct state_keyed_shape *shape, const _Atomic uint64_t *words, size_t place,
                      int64_t now_ms, void *thing);

/* The same for the one with this key. */
bool state_keyed_find(const struct state_keyed_shape *shape, const _Atomic uint64_t *words, uint64_t key,
                      int64_t now_ms, void *thing);

/* Keeps a thing in place of the one with its key, of none that lives, or of the one of a few that expires first. */
void state_keyed_keep(const struct state_keyed_shape *shape, _Atomic uint64_t *words, const void *thing,
                      int64_t now_ms);

/* Removes whatever has this key. */
void state_keyed_drop(const struct state_keyed_shape *shape, _Atomic uint64_t *words, uint64_t key);

#endif
