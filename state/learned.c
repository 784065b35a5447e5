/* SPDX-License-Identifier: MIT */
#include "state/learned.h"

#include "state/entries.h"
#include "state/keyed.h"
#include "state/layout.h"

#define LIFETIME_MAX_MS (INT64_C(8) * 24 * 3600 * 1000) /* a day more than anything is meant to be kept */

_Static_assert(sizeof(struct state_learned) == STATE_LEARNED_WORDS * 8, "nothing but words");
_Static_assert(offsetof(struct state_learned, key) == 0, "the key is the first word");

const struct state_keyed_shape state_learned_shape = {
    .places = STATE_LEARNED,
    .place_words = STATE_LEARNED_PLACE_WORDS,
    .thing_words = STATE_LEARNED_WORDS,
    .expires_word = offsetof(struct state_learned, expires_ms) / 8,
    .lifetime_max_ms = LIFETIME_MAX_MS,
};

static int64_t past_instant(int64_t instant_ms, int64_t now_ms)
{
	if (instant_ms < 0)
		return 0;
	return instant_ms < now_ms ? instant_ms : now_ms;
}

void state_learned_clean(struct state_learned *learned, int64_t now_ms)
{
	learned->learned_ms = past_instant(learned->learned_ms, now_ms);
	learned->promised_ms = past_instant(learned->promised_ms, now_ms);
	state_clean_text(learned->program, sizeof(learned->program));
	state_clean_text(learned->caller, sizeof(learned->caller));
	state_clean_text(learned->origin, sizeof(learned->origin));
}

bool state_learned_find(struct state *state, uint64_t key, int64_t now_ms, struct state_learned *learned)
{
	const struct state_layout *layout = state_layout_in_use(state);
	if (!layout || !state_keyed_find(&state_learned_shape, layout->learned, key, now_ms, learned))
		return false;
	state_learned_clean(learned, now_ms);
	return true;
}

void state_learned_keep(struct state *state, const struct state_learned *learned, int64_t now_ms)
{
	struct state_layout *layout = state_layout_to_write(state);
	if (layout)
		state_keyed_keep(&state_learned_shape, layout->learned, learned, now_ms);
}

void state_learned_drop(struct state *state, uint64_t key)
{
	struct state_layout *layout = state_layout_in_use(state);
	if (layout)
		state_keyed_drop(&state_learned_shape, layout->learned, key);
}
