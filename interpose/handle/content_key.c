/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "base/hash.h"
#include "interpose/handle/content_key.h"

#define CONTENT_BYTES_MAX (1024 * 1024) /* half a millisecond */

uint64_t content_key_of_memory(const void *memory, int64_t bytes)
{
	size_t body_bytes = bytes < 0 ? strnlen(memory, CONTENT_BYTES_MAX + 1) : (size_t)bytes;
	if (body_bytes > CONTENT_BYTES_MAX)
		return 0;
	uint64_t hash = hash_bytes(HASH_BASIS, memory, body_bytes);
	return hash ? hash : 1;
}

uint64_t content_key_of_file(const struct stat *status, int64_t offset)
{
	uint64_t hash = hash_number(HASH_BASIS, (uint64_t)status->st_dev);
	hash = hash_number(hash, (uint64_t)status->st_ino);
	hash = hash_number(hash, (uint64_t)status->st_size);
	hash = hash_number(hash, (uint64_t)status->st_mtim.tv_sec);
	hash = hash_number(hash, (uint64_t)status->st_mtim.tv_nsec);
	hash = hash_number(hash, (uint64_t)offset);
	return hash ? hash : 1;
}
