/* SPDX-License-Identifier: MIT */

/* Blocks of eight bytes, each its own number and a dot: any sixteen of them tell where they come from. */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define BLOCK_BYTES 8

char pattern_at(int64_t position)
{
	static const char digits[] = "0123456789abcdef";
	int64_t block = position / BLOCK_BYTES;
	int place = (int)(position % BLOCK_BYTES);
	return place == BLOCK_BYTES - 1 ? '.' : digits[(block >> (4 * (BLOCK_BYTES - 2 - place))) & 15];
}

uint64_t hash_bytes(const char *bytes, size_t count)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < count; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

void mask_boundary(char *bytes, size_t count, const char *boundary)
{
	size_t length = strlen(boundary);
	char *end = bytes + count;
	for (char *at = bytes; length && (at = memmem(at, (size_t)(end - at), boundary, length)); at += length)
		memset(at, 'B', length);
}

/* Where the bytes begin in the pattern; -1: they are none of it. */
static int64_t start_of(const char *bytes, size_t count)
{
	char number[BLOCK_BYTES] = "";
	const char *dot = count < 2 * BLOCK_BYTES ? NULL : memchr(bytes, '.', BLOCK_BYTES);
	if (!dot)
		return -1;
	memcpy(number, dot + 1, BLOCK_BYTES - 1);
	int64_t start = (int64_t)strtoul(number, NULL, 16) * BLOCK_BYTES - (dot + 1 - bytes);
	for (size_t i = 0; i < count; i++)
		if (start < 0 || bytes[i] != pattern_at(start + (int64_t)i))
			return -1;
	return start;
}

void describe_body(char *bytes, size_t count, const char *boundary, struct send *send)
{
	send->bytes = (int64_t)count;
	send->start = start_of(bytes, count);
	mask_boundary(bytes, count, boundary);
	send->body_hash = hash_bytes(bytes, count);
}
