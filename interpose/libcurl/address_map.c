/* SPDX-License-Identifier: MIT */

#include "interpose/libcurl/address_map.h"

#include <stdint.h>
#include <stdlib.h>

#define BUCKET_BITS  16
#define BUCKET_COUNT ((size_t)1 << BUCKET_BITS)

/* Marks a record that is being filled, or that nobody is to find; nothing of libcurl's has this address. */
static const char claimed_mark;
#define CLAIMED ((const void *)&claimed_mark)

static size_t bucket_of(const void *key)
{
	/* Fibonacci hashing: malloc's addresses differ in their middle bits. */
	return ((uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - BUCKET_BITS);
}

/* Made at first use: pages of it that nobody touches cost nothing. */
static address_bucket *make_buckets(struct address_map *map)
{
	address_bucket *known = atomic_load_explicit(&map->buckets, memory_order_acquire);
	if (known)
		return known;
	address_bucket *fresh = calloc(BUCKET_COUNT, sizeof(*fresh));
	if (!fresh || atomic_compare_exchange_strong(&map->buckets, &known, fresh))
		return fresh;
	free(fresh);
	return known;
}

void *address_find(const struct address_map *map, const void *key)
{
	const address_bucket *buckets = atomic_load_explicit(&map->buckets, memory_order_acquire);
	if (!buckets || !key)
		return NULL;
	struct address_node *node = atomic_load_explicit(&buckets[bucket_of(key)], memory_order_acquire);
	while (node && atomic_load_explicit(&node->key, memory_order_acquire) != key)
		node = node->next;
	return node;
}

void *address_claim(struct address_map *map, const void *key)
{
	address_bucket *buckets = make_buckets(map);
	if (!buckets)
		return NULL;
	address_bucket *bucket = &buckets[bucket_of(key)];
	struct address_node *node = atomic_load_explicit(bucket, memory_order_acquire);
	for (; node; node = node->next) {
		const void *free_mark = NULL;
		if (atomic_compare_exchange_strong_explicit(&node->key, &free_mark, CLAIMED, memory_order_acq_rel,
		                                            memory_order_relaxed))
			return node;
	}
	node = calloc(1, map->record_bytes);
	if (!node)
		return NULL;
	atomic_init(&node->key, CLAIMED);
	node->next = atomic_load_explicit(bucket, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(bucket, &node->next, node, memory_order_release,
	                                              memory_order_relaxed))
		;
	return node;
}

void address_publish(struct address_node *node, const void *key)
{
	atomic_store_explicit(&node->key, key, memory_order_release);
}

void address_release(struct address_node *node)
{
	atomic_store_explicit(&node->key, NULL, memory_order_release);
}
