/* SPDX-License-Identifier: MIT */
#include "config/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 4096

struct arena_chunk {
	struct arena_chunk *next;
	size_t size_bytes;
	size_t used_bytes;
	alignas(max_align_t) unsigned char bytes[];
};

static struct arena_chunk *add_chunk(struct arena *arena, size_t least_bytes)
{
	size_t size_bytes = least_bytes > CHUNK_BYTES ? least_bytes : CHUNK_BYTES;
	struct arena_chunk *chunk = calloc(1, sizeof *chunk + size_bytes);

	if (chunk == NULL)
		return NULL;
	chunk->size_bytes = size_bytes;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	return chunk;
}

void *arena_allocate(struct arena *arena, size_t bytes)
{
	const size_t alignment = alignof(max_align_t);
	struct arena_chunk *chunk = arena->chunks;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + alignment - 1) / alignment * alignment;
	if (chunk == NULL || chunk->size_bytes - chunk->used_bytes < bytes)
		chunk = add_chunk(arena, bytes);
	if (chunk == NULL)
		return NULL;

	void *memory = chunk->bytes + chunk->used_bytes;
	chunk->used_bytes += bytes;
	return memory;
}

char *arena_copy_text(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_allocate(arena, length + 1);

	if (copy != NULL)
		memcpy(copy, text, length);
	return copy;
}

void arena_free(struct arena *arena)
{
	while (arena->chunks != NULL) {
		struct arena_chunk *next = arena->chunks->next;
		free(arena->chunks);
		arena->chunks = next;
	}
}
