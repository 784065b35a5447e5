/* SPDX-License-Identifier: MIT */
/*
 * The table of entries: open addressing. Three steps make an entry, and whoever makes one may be killed
 * between any two of them, so each can be done by the next who comes along:
 *
 *     key    0 → hash, by compare-and-swap: the entry is taken
 *     check  0 → other hash, by compare-and-swap: now it is this name's; another name with the same key goes on
 *     texts  are written by everybody who finds `named` at 0, all the same bytes; then `named` becomes 1
 *
 * Entries are never taken back, but in a full table one that holds nothing to protect makes room (state/room.c). So an
 * entry that was found may be another origin's later: state_entry_holds() tells. Where none makes room, origins are
 * each process's own matter.
 */
#include "state/entries.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "base/call_filter.h"
#include "base/clock.h"
#include "base/hash.h"
#include "state/layout.h"
#include "state/state.h"
#include "state/text.h"

#define OTHER_BASE UINT64_C(0x9E3779B97F4A7C15)

/* Where even the process's own table is full, or can't be mapped. */
static struct state_entry spare;

static void add_text(struct state_identity *hash, const char *text)
{
	/* The NUL is hashed too: it separates. */
	do {
		hash->key = hash_fnv_add(hash->key, *text);
		hash->check = ((hash->check << 5 | hash->check >> 59) ^ (unsigned char)*text) * OTHER_BASE;
	} while (*text++);
}

struct state_identity state_identify(const char *origin, const char *section)
{
	struct state_identity hash = {.key = HASH_BASIS, .check = OTHER_BASE};
	add_text(&hash, origin);
	add_text(&hash, section);
	hash = (struct state_identity){.key = hash_mix(hash.key), .check = hash_mix(hash.check)};
	return (struct state_identity){.key = hash.key | STATE_KEY_OF_NAME, .check = hash.check ? hash.check : 1};
}

static void store_text(_Atomic uint64_t *words, size_t bytes, const char *text)
{
	uint64_t copy[STATE_ORIGIN_BYTES / 8];
	state_copy_text((char *)copy, bytes, text);
	for (size_t i = 0; i < bytes / 8; i++)
		atomic_store_explicit(&words[i], copy[i], memory_order_relaxed);
}

void state_touch_entry(struct state_entry *entry, int64_t now_ms)
{
	atomic_store_explicit(&entry->plain.used_ms, (uint64_t)now_ms, memory_order_relaxed);
}

void state_name_entry(struct state_entry *entry, const struct state_name *name)
{
	if (atomic_load_explicit(&entry->named, memory_order_acquire) == 1)
		return;
	store_text(entry->origin, STATE_ORIGIN_BYTES, name->origin);
	store_text(entry->section, STATE_SECTION_BYTES, name->section);
	state_touch_entry(entry, clock_ms());
	atomic_store_explicit(&entry->named, 1, memory_order_release);
}

/* Whether the word is `mine` now: it was, or it was 0 and we were the first. */
static bool take_word(_Atomic uint64_t *word, uint64_t mine)
{
	uint64_t seen = atomic_load_explicit(word, memory_order_acquire);
	return seen == mine || (seen == 0 && (atomic_compare_exchange_strong(word, &seen, mine) || seen == mine));
}

/* NULL: the table is full. */
static struct state_entry *find_in(struct state_layout *layout, const struct state_name *name)
{
	const struct state_identity identity = name->identity;
	for (size_t probe = 0; probe < STATE_ENTRIES; probe++) {
		struct state_entry *entry = &layout->entries[(identity.key + probe) % STATE_ENTRIES];
		if (take_word(&entry->key, identity.key) && take_word(&entry->check, identity.check))
			return entry;
	}
	return state_make_room(layout, name);
}

struct state_entry *state_seek_entry(struct state_layout *layout, struct state_identity identity)
{
	for (size_t probe = 0; probe < STATE_ENTRIES; probe++) {
		struct state_entry *entry = &layout->entries[(identity.key + probe) % STATE_ENTRIES];
		uint64_t key = atomic_load_explicit(&entry->key, memory_order_acquire);
		if (key == 0)
			return NULL;
		if (key == identity.key && atomic_load_explicit(&entry->check, memory_order_acquire) == identity.check)
			return entry;
	}
	return NULL;
}

struct state_layout *state_own_layout(struct state *state)
{
	struct state_layout *layout = atomic_load_explicit(&state->own, memory_order_acquire);
	if (layout)
		return layout;
	int saved_errno = errno;
	void *memory =
	    mmap(NULL, sizeof(struct state_layout), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory != MAP_FAILED) {
		/* Before Linux 4.14 a child keeps what its parent knew; for filters there is state_empty_own(). */
		if (!call_filter_may_be_there())
			madvise(memory, sizeof(struct state_layout), MADV_WIPEONFORK);
		if (atomic_compare_exchange_strong(&state->own, &layout, memory))
			layout = memory;
		else
			munmap(memory, sizeof(struct state_layout));
	}
	errno = saved_errno;
	return layout;
}

void state_empty_own(struct state *state)
{
	struct state_layout *own = atomic_load_explicit(&state->own, memory_order_acquire);
	_Atomic uint64_t *words = (_Atomic uint64_t *)(void *)own;
	/* Pages that nobody wrote to stay the kernel's empty one. */
	for (size_t i = 0; own && i < sizeof(*own) / sizeof(words[0]); i++)
		if (atomic_load_explicit(&words[i], memory_order_relaxed) != 0)
			atomic_store_explicit(&words[i], 0, memory_order_relaxed);
}

struct state_layout *state_layout_in_use(struct state *state)
{
	struct state_layout *shared = atomic_load_explicit(&state->shared, memory_order_acquire);
	return shared ? shared : atomic_load_explicit(&state->own, memory_order_acquire);
}

struct state_layout *state_layout_to_write(struct state *state)
{
	struct state_layout *shared = atomic_load_explicit(&state->shared, memory_order_acquire);
	return shared ? shared : state_own_layout(state);
}

struct state_entry *state_find_entry(struct state *state, const char *origin, const char *section)
{
	const struct state_name name = {state_identify(origin, section), origin, section};
	struct state_layout *shared = atomic_load_explicit(&state->shared, memory_order_acquire);
	struct state_entry *entry = shared ? find_in(shared, &name) : NULL;
	if (!entry) {
		struct state_layout *own = state_own_layout(state);
		if (own && shared && !state_seek_entry(own, name.identity))
			atomic_fetch_add_explicit(&shared->header.table_full, 1, memory_order_relaxed);
		entry = own ? find_in(own, &name) : NULL;
	}
	if (!entry)
		return &spare;
	state_name_entry(entry, &name);
	return entry;
}

uint64_t state_entry_key(const struct state_entry *entry)
{
	return atomic_load_explicit(&entry->key, memory_order_relaxed);
}

bool state_entry_holds(const struct state_entry *entry, uint64_t key)
{
	return state_entry_key(entry) == key;
}

bool state_entry_is_spare(const struct state_entry *entry)
{
	return entry == &spare;
}

_Atomic uint64_t *state_budget_word(struct state_entry *entry)
{
	return &entry->budget;
}

_Atomic uint64_t *state_breaker_words(struct state_entry *entry)
{
	return entry->breaker;
}
