/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_HASH_H
#define TENACURL_INTERPOSE_HASH_H

/*
 * Hashes by which things are told apart: redirect steps, intents, call sites. Not for what an enemy chooses; a process
 * of another build gives the same ones.
 */

#include <stddef.h>
#include <stdint.h>

struct curl_slist;

#define HASH_BASIS UINT64_C(0xCBF29CE484222325)

/* Adds a number. Every bit of both goes into every bit of the result (the finalizer of MurmurHash3, public domain). */
static inline uint64_t hash_number(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) + UINT64_C(0x9E3779B97F4A7C15);
	hash = (hash ^ (hash >> 33)) * UINT64_C(0xFF51AFD7ED558CCD);
	hash = (hash ^ (hash >> 33)) * UINT64_C(0xC4CEB9FE1A85EC53);
	return hash ^ (hash >> 33);
}

/* Adds bytes and how many they are, so that "a" and "b" aren't "ab" and "". */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count_bytes);

/* Adds a text; NULL is as "". */
uint64_t hash_text(uint64_t hash, const char *text);

/* Adds each text of a list. */
uint64_t hash_list(uint64_t hash, const struct curl_slist *line);

/* A hash of bytes that come piece by piece: however they are cut, it is the same. */
struct hash_stream {
	uint64_t hash;
	uint64_t word; /* the bytes that don't fill one yet */
	uint64_t count_bytes;
};

void hash_stream_begin(struct hash_stream *stream);
void hash_stream_add(struct hash_stream *stream, const void *bytes, size_t count_bytes);

/* Never 0. More may be added afterwards. */
uint64_t hash_stream_value(const struct hash_stream *stream);

#endif
