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

#define COUNT_MAX (1 << 30)

static int64_t between(int64_t least, int64_t value, int64_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* Whatever another process wrote can be counted and subtracted with: what can't be true is as near to it as may be. */
static void clean(struct state_intent *intent, int64_t now_ms)
{
	int64_t *instants[] = {&intent->began_ms, &intent->ended_ms, &intent->sent_ms, &intent->refused_ms};
	int32_t *counts[] = {&intent->operations, &intent->attempts, &intent->extra_attempts};

	for (size_t i = 0; i < sizeof(instants) / sizeof(instants[0]); i++)
		*instants[i] = between(0, *instants[i], now_ms);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		*counts[i] = (int32_t)between(0, *counts[i], COUNT_MAX);
	intent->asked_until_ms = between(0, intent->asked_until_ms, now_ms + LIFETIME_MAX_MS);
	intent->success_gap_ms = between(0, intent->success_gap_ms, LIFETIME_MAX_MS);
	if (intent->sends > COUNT_MAX)
		intent->sends = COUNT_MAX;
}

bool state_intent_find(struct state *state, uint64_t key, int64_t now_ms, struct state_intent *intent)
{
	const struct state_layout *layout = state_layout_in_use(state);
	if (!layout || !state_keyed_find(&state_intent_shape, layout->intents, key, now_ms, intent))
		return false;
	clean(intent, now_ms);
	return true;
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
