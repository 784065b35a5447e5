/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_HASH_H
#define TENACURL_BASE_HASH_H

/*
 * Hashes by which things are told apart: redirect steps, intents, call sites, files, origins. Not for what an enemy
 * chooses; a process of another build gives the same ones. Pure; any context.
 */

#include <stddef.h>
#include <stdint.h>

#define HASH_BASIS UINT64_C(0xCBF29CE484222325)

/* FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/): adds a byte to what began with HASH_BASIS. */
static inline uint64_t hash_fnv_add(uint64_t hash, char byte)
{
	return (hash ^ (unsigned char)byte) * UINT64_C(0x100000001B3);
}

/* FNV-1a of bytes. */
static inline uint64_t hash_fnv(const char *bytes, size_t count_bytes)
{
	uint64_t hash = HASH_BASIS;
	for (size_t i = 0; i < count_bytes; i++)
		hash = hash_fnv_add(hash, bytes[i]);
	return hash;
}

/* Any changed bit changes it: the finalizer of MurmurHash3 (public domain). */
static inline uint64_t hash_mix(uint64_t value)
{
	value = (value ^ (value >> 33)) * UINT64_C(0xFF51AFD7ED558CCD);
	value = (value ^ (value >> 33)) * UINT64_C(0xC4CEB9FE1A85EC53);
	return value ^ (value >> 33);
}

/* Adds a number. Every bit of both goes into every bit of the result. */
static inline uint64_t hash_number(uint64_t hash, uint64_t number)
{
	return hash_mix((hash ^ number) + UINT64_C(0x9E3779B97F4A7C15));
}

/* Adds bytes and how many they are, so that "a" and "b" aren't "ab" and "". */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count_bytes);

/* Adds a text; NULL is as "". */
uint64_t hash_text(uint64_t hash, const char *text);

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
