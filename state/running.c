/* SPDX-License-Identifier: MIT */
#include "state/running.h"

#include <stdatomic.h>

#include "state/keyed.h"
#include "state/layout.h"

#define LIFETIME_MAX_MS (INT64_C(2) * 24 * 3600 * 1000)

_Static_assert(sizeof(struct state_running) == STATE_RUNNING_WORDS * 8, "nothing but words");
_Static_assert(offsetof(struct state_running, key) == 0, "the key is the first word");

const struct state_keyed_shape state_running_shape = {
    .places = STATE_RUNNING,
    .place_words = STATE_RUNNING_PLACE_WORDS,
    .thing_words = STATE_RUNNING_WORDS,
    .expires_word = offsetof(struct state_running, expires_ms) / 8,
    .lifetime_max_ms = LIFETIME_MAX_MS,
};

void state_running_keep(struct state *state, const struct state_running *running, int64_t now_ms)
{
	struct state_layout *shared = atomic_load_explicit(&state->shared, memory_order_acquire);
	if (shared)
		state_keyed_keep(&state_running_shape, shared->running, running, now_ms);
}

void state_running_drop(struct state *state, uint64_t key)
{
	struct state_layout *shared = atomic_load_explicit(&state->shared, memory_order_acquire);
	if (shared)
		state_keyed_drop(&state_running_shape, shared->running, key);
}

void state_running_clean(struct state_running *running)
{
	state_clean_text(running->method, sizeof(running->method));
	state_clean_text(running->job, sizeof(running->job));
	state_clean_text(running->run, sizeof(running->run));
	state_clean_text(running->program, sizeof(running->program));
	state_clean_text(running->section, sizeof(running->section));
	state_clean_text(running->origin, sizeof(running->origin));
	state_clean_text(running->path, sizeof(running->path));
}
