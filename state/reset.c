/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>

#include "state/entries.h"
#include "state/layout.h"
#include "state/state.h"

/* Structs that are made of such words alone. */
static void zero_words(_Atomic uint64_t *words, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(*words); i++)
		atomic_store_explicit(&words[i], 0, memory_order_relaxed);
}

void state_zero_entry(struct state_entry *entry, bool everything)
{
	zero_words((_Atomic uint64_t *)&entry->plain, sizeof(entry->plain));
	zero_words((_Atomic uint64_t *)&entry->other, sizeof(entry->other));
	if (!everything)
		return;
	atomic_store_explicit(&entry->budget, 0, memory_order_relaxed);
	atomic_store_explicit(&entry->intents_until, 0, memory_order_relaxed);
	zero_words(entry->breaker, sizeof(entry->breaker));
	for (size_t slot = 0; slot < STATE_LEASES; slot++)
		atomic_store_explicit(&entry->leases[slot], 0, memory_order_relaxed);
}

static void reset_layout(struct state_layout *layout, bool everything)
{
	struct state_header *header = &layout->header;
	/* Before and after, so that no reader takes a half done reset for counters that went backwards by themselves.
	 */
	atomic_fetch_add(&header->resets, 1);
	atomic_store(&header->table_full, 0);
	atomic_store(&header->lost_records, 0);
	atomic_store(&header->resumes, 0);
	atomic_store(&header->origins_dropped, 0);
	for (size_t i = 0; i < STATE_ENTRIES; i++)
		state_zero_entry(&layout->entries[i], everything);
	zero_words(layout->running, sizeof(layout->running));
	if (everything) {
		zero_words(layout->intents, sizeof(layout->intents));
		zero_words(layout->learned, sizeof(layout->learned));
		zero_words(layout->not_before, sizeof(layout->not_before));
		zero_words(layout->hints, sizeof(layout->hints));
	}
	atomic_store(&header->first_flight, atomic_load(&header->next_flight));
	atomic_fetch_add(&header->resets, 1);
}

void state_reset(struct state *state, bool everything)
{
	struct state_layout *layouts[] = {atomic_load(&state->shared), atomic_load(&state->own)};
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i])
			reset_layout(layouts[i], everything);
}
