/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_ADDRESS_MAP_H
#define TENACURL_INTERPOSE_ADDRESS_MAP_H

/*
 * Records found by an address of libcurl's, on any thread, without a lock.
 *
 * As in handle.c, chains of records are only ever added to: a record is emptied instead of unlinked, and claimed again
 * for another address of the same bucket. So a pointer to a record is always one to a record, though it may be another
 * address's by now, and memory is bounded by the records that were in use at once. There are so many buckets that a
 * hundred thousand records cost what one does.
 */

#include <stdatomic.h>
#include <stddef.h>

/* Begins each record of a map. */
struct address_node {
	_Atomic(const void *) key; /* NULL: the record is free */
	struct address_node *next; /* in its bucket; never changes once the record can be found */
};

typedef _Atomic(struct address_node *) address_bucket;

/* Zero but for record_bytes is an empty map. */
struct address_map {
	_Atomic(address_bucket *) buckets;
	size_t record_bytes; /* with the node */
};

/* Returns the record that was published under this address, or NULL. */
void *address_find(const struct address_map *map, const void *key);

/*
 * Returns a record that nobody can find, to be filled by the caller, in the bucket of `key`; or NULL without memory.
 * What it holds behind its node is what its last user left there, or zeros.
 */
void *address_claim(struct address_map *map, const void *key);

/* Lets the record be found by the address that it was claimed for. */
void address_publish(struct address_node *node, const void *key);

/* Makes the record free. */
void address_release(struct address_node *node);

#endif
