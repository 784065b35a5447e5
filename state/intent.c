/* SPDX-License-Identifier: MIT */
#include "state/intent.h"

#include <stdatomic.h>

#include "state/entries.h"
#include "state/keyed.h"
#include "state/layout.h"

#define LIFETIME_MAX_MS (INT64_C(2) * 24 * 3600 * 1000) /* twice what nested_window_ms can be */

_Static_assert(sizeof(struct state_intent) == STATE_INTENT_WORDS * 8, "nothing but words");
_Static_assert(offsetof(struct state_intent, key) == 0, "the key is the first word");

const struct state_keyed_shape state_intent_shape = {
    .places = STATE_INTENTS,
    .place_words = STATE_INTENT_PLACE_WORDS,
    .thing_words = STATE_INTENT_WORDS,
    .expires_word = offsetof(struct state_intent, expires_ms) / 8,
    .lifetime_max_ms = LIFETIME_MAX_MS,
};

bool state_intent_find(struct state *state, uint64_t key, int64_t now_ms, struct state_intent *intent)
{
	const struct state_layout *layout = state_layout_in_use(state);
	return layout && state_keyed_find(&state_intent_shape, layout->intents, key, now_ms, intent);
}

void state_intent_keep(struct state *state, const struct state_intent *intent, int64_t now_ms)
{
	struct state_layout *layout = state_layout_to_write(state);
	if (layout)
		state_keyed_keep(&state_intent_shape, layout->intents, intent, now_ms);
}

int64_t state_intents_until(const struct state_entry *entry)
{
	return (int64_t)atomic_load_explicit(&entry->intents_until, memory_order_relaxed);
}

void state_intents_extend(struct state_entry *entry, int64_t until_ms)
{
	uint64_t until = (uint64_t)until_ms;
	uint64_t seen = atomic_load_explicit(&entry->intents_until, memory_order_relaxed);
	do {
		/* By distance: rubbish that looks like a far future must not make every success look for ever. */
		if (seen - until <= LIFETIME_MAX_MS)
			return;
	} while (!atomic_compare_exchange_weak_explicit(&entry->intents_until, &seen, until, memory_order_relaxed,
	                                                memory_order_relaxed));
}
