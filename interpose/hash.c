/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "interpose/hash.h"

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count_bytes)
{
	const char *at = bytes;
	size_t left_bytes = count_bytes;
	uint64_t word;
	for (; left_bytes >= sizeof(word); left_bytes -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = hash_number(hash, word);
	}
	word = 0;
	memcpy(&word, at, left_bytes);
	return hash_number(hash_number(hash, word), count_bytes);
}

uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text ? text : "", text ? strlen(text) : 0);
}
