/* SPDX-License-Identifier: MIT */
/*
 * Making room in a full table. What an origin is protected by must not be forgotten: operations between two attempts, a
 * breaker that isn't closed, a budget that isn't full, an intent that may come back. All else are numbers, which go
 * where they are oldest. The budget's and the breaker's words mean something to the policy only; what hasn't changed
 * them for an hour has been filled and closed by time.
 *
 *     key    name's → claim with its instant, by compare-and-swap: nobody else's entry now; check → the new name's
 *            all other words → 0, but for the texts, which become the new name's
 *     key    claim → new name's, by compare-and-swap
 *
 * Who is killed on the way leaves a claim, which is anybody's a second later.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/clock.h"
#include "state/entries.h"
#include "state/layout.h"
#include "state/lease.h"
#include "state/state.h"

enum {
	WALK_ENTRIES = 64, /* the oldest of so many goes, so that not the whole table is looked at each time */
	TRIES = 512, /* while others empty an entry, perhaps for the same name: they need less than a microsecond */
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
static int64_t dispensable(const struct state_entry *entry, uint64_t key, int64_t now_ms)
{
	if (is_claim(key))
		return is_live_claim(key, now_ms) ? KEEP : INT64_MAX;
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

/* An entry that can go, and whose it was then; NULL: nothing makes room. */
struct chosen {
	struct state_entry *entry;
	uint64_t key;
};

static struct chosen choose(struct state_layout *layout, struct state_identity identity, int64_t now_ms)
{
	struct chosen chosen = {0};
	int64_t most = KEEP;
	for (size_t step = 0; step < STATE_ENTRIES; step++) {
		struct state_entry *entry = at(layout, identity, step);
		uint64_t key = atomic_load(&entry->key);
		int64_t readiness = dispensable(entry, key, now_ms);
		if (readiness > most) {
			chosen = (struct chosen){entry, key};
			most = readiness;
		}
		if (chosen.entry && step % WALK_ENTRIES == WALK_ENTRIES - 1)
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

/* Another entry that has this name or is being made for it; NULL: none. */
static struct state_entry *find_rival(struct state_layout *layout, struct state_identity identity,
                                      const struct state_entry *ours, int64_t now_ms)
{
	for (size_t i = 0; i < STATE_ENTRIES; i++) {
		struct state_entry *other = &layout->entries[i];
		uint64_t key = atomic_load(&other->key);
		if (other != ours && (key == identity.key || is_live_claim(key, now_ms)) &&
		    atomic_load(&other->check) == identity.check)
			return other;
	}
	return NULL;
}

/*
 * Whether we are the one who makes it. Of two who claimed an entry each, at least one sees the other; the one with the
 * lower entry waits for what the other comes to, which either saw us and gives up, or didn't and is first.
 */
static bool prevails(struct state_layout *layout, struct state_identity identity, const struct state_entry *ours)
{
	for (int tries = 0; tries < TRIES; tries++) {
		const struct state_entry *rival = find_rival(layout, identity, ours, clock_ms());
		if (!rival)
			return true;
		if (rival < ours || atomic_load(&rival->key) == identity.key)
			return false;
		sched_yield();
	}
	return true;
}

/* Returns false if somebody else was faster, or uses it again. */
static bool take_over(struct state_layout *layout, const struct chosen *chosen, const struct state_name *name,
                      int64_t now_ms)
{
	struct state_entry *entry = chosen->entry;
	uint64_t key = chosen->key, claim = claim_of(now_ms);
	if (!atomic_compare_exchange_strong(&entry->key, &key, claim))
		return false;
	atomic_store(&entry->check, name->identity.check);
	bool is_ours = prevails(layout, name->identity, entry);
	if (is_ours) {
		atomic_store(&entry->named, 0);
		state_zero_entry(entry, true);
		/* Its name, too: who wrote that later might find it another's by then. */
		state_name_entry(entry, name);
	}
	return atomic_compare_exchange_strong(&entry->key, &claim, is_ours ? name->identity.key : ABANDONED) && is_ours;
}

struct state_entry *state_make_room(struct state_layout *layout, const struct state_name *name)
{
	const struct state_identity identity = name->identity;
	for (int tries = 0; tries < TRIES; tries++) {
		int64_t now_ms = clock_ms();
		struct state_entry *found = state_seek_entry(layout, identity);
		if (found)
			return found;
		if (tries < TRIES / 2 && is_being_made(layout, now_ms)) {
			/* Its maker may be waiting for our processor. */
			sched_yield();
			continue;
		}
		const struct chosen chosen = choose(layout, identity, now_ms);
		if (!chosen.entry)
			return NULL;
		if (!take_over(layout, &chosen, name, now_ms))
			continue;
		/* What was given up by a maker had been counted already. */
		if (!is_claim(chosen.key))
			atomic_fetch_add_explicit(&layout->header.origins_dropped, 1, memory_order_relaxed);
		return chosen.entry;
	}
	return NULL;
}
