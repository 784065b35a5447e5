/* SPDX-License-Identifier: MIT */
/*
 * Making room in a full table. What an origin is protected by must not be forgotten: operations between two attempts, a
 * breaker that isn't closed, a budget that isn't full, an intent that may come back. All else are numbers, which go
 * where they are oldest. The budget's and the breaker's words mean something to the policy only; what hasn't changed
 * them for an hour has been filled and closed by time.
 *
 *     key    name's → claim with its instant, by compare-and-swap: nobody else's entry now
 *            all other words → 0, check → the new name's
 *     key    claim → new name's, by compare-and-swap
 *
 * Who is killed on the way leaves a claim, which is anybody's a second later.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "state/entries.h"
#include "state/layout.h"
#include "state/lease.h"
#include "state/state.h"

enum {
	WALK_ENTRIES = 64, /* the oldest of so many goes, so that not the whole table is looked at each time */
	TRIES = 64, /* while others empty an entry, perhaps for the same name: they need less than a microsecond */
	CLAIM_MS = 1000,
	PROTECTED_MS = 3600000,
	CLOCK_MS = 60000 /* what may have been stamped by who was a moment later than we */
};

#define INTENT_MS_MAX (INT64_C(2) * 24 * 3600 * 1000)
#define ABANDONED     UINT64_C(2) /* a claim of long ago */
#define KEEP          INT64_C(-1)

static uint64_t load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static bool is_claim(uint64_t key)
{
	return key != 0 && (key & STATE_KEY_OF_NAME) == 0;
}

static uint64_t claim_of(int64_t now_ms)
{
	return ((uint64_t)now_ms + 2) << 1;
}

static bool is_live_claim(uint64_t key, int64_t now_ms)
{
	return is_claim(key) && claim_of(now_ms) - key + 2 * CLOCK_MS <= 2 * (CLAIM_MS + CLOCK_MS);
}

/* An instant that lies ahead, and that somebody can have meant. */
static bool is_ahead(uint64_t instant_ms, int64_t now_ms)
{
	return instant_ms - (uint64_t)now_ms - 1 < (uint64_t)INTENT_MS_MAX;
}

/* An instant that no writer can have meant is one of long ago. */
static int64_t idle_ms(const struct state_entry *entry, int64_t now_ms)
{
	uint64_t idle = (uint64_t)now_ms - load(&entry->plain.used_ms);
	if (idle + CLOCK_MS <= CLOCK_MS)
		return 0;
	return idle < INT64_MAX ? (int64_t)idle : INT64_MAX;
}

/* How readily it makes room: the more the sooner; KEEP: not at all. */
static int64_t dispensable(const struct state_entry *entry, int64_t now_ms)
{
	if (is_claim(load(&entry->key)))
		return is_live_claim(load(&entry->key), now_ms) ? KEEP : INT64_MAX;
	if (is_ahead(load(&entry->intents_until), now_ms) || state_leases_held(entry, now_ms) != 0)
		return KEEP;
	int64_t idle = idle_ms(entry, now_ms);
	bool protects = load(&entry->budget) != 0 || load(&entry->breaker[0]) != 0;
	return protects && idle < PROTECTED_MS ? KEEP : idle;
}

static struct state_entry *at(struct state_layout *layout, struct state_identity identity, size_t step)
{
	return &layout->entries[(identity.key + step) % STATE_ENTRIES];
}

/* NULL: nothing makes room. */
static struct state_entry *choose(struct state_layout *layout, struct state_identity identity, int64_t now_ms)
{
	struct state_entry *chosen = NULL;
	int64_t most = KEEP;
	for (size_t step = 0; step < STATE_ENTRIES; step++) {
		int64_t readiness = dispensable(at(layout, identity, step), now_ms);
		if (readiness > most) {
			chosen = at(layout, identity, step);
			most = readiness;
		}
		if (chosen && step % WALK_ENTRIES == WALK_ENTRIES - 1)
			break;
	}
	return chosen;
}

static bool is_being_made(struct state_layout *layout, int64_t now_ms)
{
	for (size_t i = 0; i < STATE_ENTRIES; i++)
		if (is_live_claim(load(&layout->entries[i].key), now_ms))
			return true;
	return false;
}

/* Returns false if somebody else was faster, or uses it again. */
static bool take_over(struct state_entry *entry, struct state_identity identity, int64_t now_ms)
{
	uint64_t key = load(&entry->key), claim = claim_of(now_ms);
	if (is_live_claim(key, now_ms) || !atomic_compare_exchange_strong(&entry->key, &key, claim))
		return false;
	atomic_store(&entry->named, 0);
	state_zero_entry(entry, true);
	state_touch_entry(entry, now_ms);
	atomic_store(&entry->check, identity.check);
	return atomic_compare_exchange_strong(&entry->key, &claim, identity.key);
}

/*
 * Two can have made one each, if one of them stood still: the first on the walk is the one that all find. Each looks
 * after its own is there, so one of them sees the other's. NULL: somebody else took ours away, for whatever name.
 */
static struct state_entry *settle(struct state_layout *layout, struct state_identity identity)
{
	struct state_entry *first = NULL;
	for (size_t step = 0; step < STATE_ENTRIES; step++) {
		struct state_entry *entry = at(layout, identity, step);
		uint64_t key = identity.key;
		if (atomic_load(&entry->key) != key || load(&entry->check) != identity.check)
			continue;
		if (first)
			atomic_compare_exchange_strong(&entry->key, &key, ABANDONED);
		else
			first = entry;
	}
	return first;
}

struct state_entry *state_make_room(struct state_layout *layout, struct state_identity identity)
{
	for (int tries = 0; tries < TRIES; tries++) {
		int64_t now_ms = state_now_ms();
		struct state_entry *found = state_seek_entry(layout, identity);
		if (found)
			return found;
		if (tries < TRIES / 2 && is_being_made(layout, now_ms))
			continue;
		struct state_entry *chosen = choose(layout, identity, now_ms);
		if (!chosen)
			return NULL;
		if (!take_over(chosen, identity, now_ms))
			continue;
		atomic_fetch_add_explicit(&layout->header.origins_dropped, 1, memory_order_relaxed);
		struct state_entry *settled = settle(layout, identity);
		if (settled)
			return settled;
	}
	return NULL;
}
