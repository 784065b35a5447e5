/* SPDX-License-Identifier: MIT */
/*
 * Every thing has a few places that its key says, and lies in the first of them that was free, or had expired, or was
 * to expire first. So a lookup is a walk over those few, and nothing has to be moved or given back.
 */
#include "state/keyed.h"

#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "state/layout.h"

enum {
	WALK_PLACES = 8,
	READ_TRIES = 4, /* a writer that is met is nearly always done a moment later */
	THING_WORDS_MAX = STATE_RUNNING_WORDS
};

/* A place that is whole is never all zeros. */
#define CHECKSUM_SEED STATE_MAGIC

static uint64_t load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void store(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t checksum(const uint64_t *thing, size_t count)
{
	uint64_t sum = CHECKSUM_SEED;
	for (size_t i = 0; i < count; i++)
		sum = (sum << 7 | sum >> 57) * UINT64_C(0x9E3779B97F4A7C15) ^ thing[i];
	return hash_mix(sum);
}

static size_t first_word_of(const struct state_keyed_shape *shape, size_t place)
{
	return place % shape->places * shape->place_words;
}

static size_t first_place_of(uint64_t key)
{
	return (size_t)hash_mix(key);
}

static uint64_t key_in(const struct state_keyed_shape *shape, const _Atomic uint64_t *words, size_t place)
{
	return load(&words[first_word_of(shape, place) + 1]);
}

/* How long it still lives; 0: it doesn't. An instant that no writer can have meant is one that has passed. */
static uint64_t left_ms(const struct state_keyed_shape *shape, const uint64_t *thing, int64_t now_ms)
{
	uint64_t left = thing[shape->expires_word] - (uint64_t)now_ms;
	return left <= (uint64_t)shape->lifetime_max_ms ? left : 0;
}

static bool read_whole(const struct state_keyed_shape *shape, const _Atomic uint64_t *words, size_t place,
                       uint64_t thing[static THING_WORDS_MAX])
{
	const _Atomic uint64_t *at = &words[first_word_of(shape, place)];
	uint64_t sum = load(at);
	for (size_t i = 0; i < shape->thing_words; i++)
		thing[i] = load(&at[1 + i]);
	return sum == checksum(thing, shape->thing_words);
}

bool state_keyed_read(const struct state_keyed_shape *shape, const _Atomic uint64_t *words, size_t place,
                      int64_t now_ms, void *thing)
{
	uint64_t found[THING_WORDS_MAX];
	if (!read_whole(shape, words, place, found) || left_ms(shape, found, now_ms) == 0)
		return false;
	memcpy(thing, found, shape->thing_words * sizeof(*found));
	return true;
}

static bool find_once(const struct state_keyed_shape *shape, const _Atomic uint64_t *words, uint64_t key,
                      int64_t now_ms, void *thing, bool *seen)
{
	for (size_t step = 0; step < WALK_PLACES; step++) {
		uint64_t found[THING_WORDS_MAX];
		size_t place = first_place_of(key) + step;
		if (key_in(shape, words, place) != key)
			continue;
		*seen = true;
		/* The key again: the place can have become another thing's since. */
		if (!read_whole(shape, words, place, found) || found[0] != key || left_ms(shape, found, now_ms) == 0)
			continue;
		memcpy(thing, found, shape->thing_words * sizeof(*found));
		return true;
	}
	return false;
}

bool state_keyed_find(const struct state_keyed_shape *shape, const _Atomic uint64_t *words, uint64_t key,
                      int64_t now_ms, void *thing)
{
	bool seen = key != 0, found = false;
	for (int tries = 0; seen && !found && tries < READ_TRIES; tries++) {
		seen = false;
		found = find_once(shape, words, key, now_ms, thing, &seen);
	}
	return found;
}

/*
 * The place for a thing with this key. Others that have the key, which two writers made at once, are given up. Not
 * inlined: what it reads beside what the caller keeps would be much for a small stack.
 */
static __attribute__((noinline)) size_t choose_place(const struct state_keyed_shape *shape, _Atomic uint64_t *words,
                                                     uint64_t key, int64_t now_ms)
{
	size_t best = first_place_of(key);
	uint64_t best_left = UINT64_MAX;
	bool has_own = false;
	for (size_t step = 0; step < WALK_PLACES; step++) {
		uint64_t found[THING_WORDS_MAX];
		size_t place = first_place_of(key) + step;
		if (key_in(shape, words, place) == key) {
			if (has_own)
				store(&words[first_word_of(shape, place) + 1], 0);
			else
				best = place;
			has_own = true;
			continue;
		}
		uint64_t left = read_whole(shape, words, place, found) ? left_ms(shape, found, now_ms) : 0;
		if (has_own || left >= best_left)
			continue;
		best = place;
		best_left = left;
	}
	return best;
}

void state_keyed_keep(const struct state_keyed_shape *shape, _Atomic uint64_t *words, const void *thing, int64_t now_ms)
{
	uint64_t kept[THING_WORDS_MAX];
	memcpy(kept, thing, shape->thing_words * sizeof(*kept));
	if (kept[0] == 0)
		return;
	_Atomic uint64_t *at = &words[first_word_of(shape, choose_place(shape, words, kept[0], now_ms))];
	for (size_t i = 0; i < shape->thing_words; i++)
		store(&at[1 + i], kept[i]);
	store(at, checksum(kept, shape->thing_words));
}

void state_keyed_drop(const struct state_keyed_shape *shape, _Atomic uint64_t *words, uint64_t key)
{
	for (size_t step = 0; key != 0 && step < WALK_PLACES; step++)
		if (key_in(shape, words, first_place_of(key) + step) == key)
			store(&words[first_word_of(shape, first_place_of(key) + step) + 1], 0);
}
