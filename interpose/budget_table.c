/* SPDX-License-Identifier: MIT */

#include <stdatomic.h>
#include <string.h>

#include "engine/budget.h"
#include "interpose/budget_table.h"
#include "interpose/clock.h"
#include "log/record.h"

#define BUCKETS      256
#define ORIGIN_BYTES 320 /* scheme, host name of at most 255 bytes, port */

struct bucket {
	_Atomic uint64_t key; /* hash of origin and section; 0: free */
	_Atomic uint64_t word;
};

/* The last one is shared by whatever finds no place of its own. */
static struct bucket buckets[BUCKETS + 1];
static _Atomic bool is_used;

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
	return hash;
}

static uint64_t key_of(const char *url, const struct policy_section *section)
{
	char origin[ORIGIN_BYTES];
	record_redact_url(url, POLICY_LOG_URL_ORIGIN, origin, sizeof(origin));
	uint64_t hash = hash_text(UINT64_C(0xCBF29CE484222325), origin);
	hash = hash_text(hash ^ 0xFF, section->name);
	return hash ? hash : 1;
}

static struct bucket *find_bucket(uint64_t key, bool make)
{
	for (size_t probe = 0; probe < BUCKETS; probe++) {
		struct bucket *bucket = &buckets[(key + probe) % BUCKETS];
		uint64_t seen = atomic_load_explicit(&bucket->key, memory_order_acquire);
		if (seen == key)
			return bucket;
		if (seen != 0)
			continue;
		if (!make)
			return NULL;
		if (atomic_compare_exchange_strong(&bucket->key, &seen, key) || seen == key)
			return bucket;
	}
	return &buckets[BUCKETS];
}

bool budget_table_take(const char *url, const struct policy_section *section, int64_t now_ms)
{
	atomic_store_explicit(&is_used, true, memory_order_relaxed);
	struct bucket *bucket = find_bucket(key_of(url, section), true);
	uint64_t word = atomic_load_explicit(&bucket->word, memory_order_relaxed);
	bool granted;
	uint64_t changed;
	do
		changed = budget_take(word, &section->rules, now_ms, &granted);
	while (!atomic_compare_exchange_weak_explicit(&bucket->word, &word, changed, memory_order_relaxed,
	                                              memory_order_relaxed));
	return granted;
}

void budget_table_give(const char *url, const struct policy_section *section)
{
	if (!atomic_load_explicit(&is_used, memory_order_relaxed))
		return;
	struct bucket *bucket = find_bucket(key_of(url, section), false);
	if (!bucket)
		return;
	int64_t now_ms = clock_ms();
	uint64_t word = atomic_load_explicit(&bucket->word, memory_order_relaxed);
	uint64_t changed;
	do
		changed = budget_give(word, &section->rules, now_ms);
	while (changed != word && !atomic_compare_exchange_weak_explicit(&bucket->word, &word, changed,
	                                                                 memory_order_relaxed, memory_order_relaxed));
}
