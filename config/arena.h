/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_ARENA_H
#define TENACURL_CONFIG_ARENA_H

/* Memory that is given back all at once: what a policy points to, or what a load needs while it runs. */

#include <stddef.h>

struct arena_chunk;

/* Zero-initialise it. Not thread-safe. */
struct arena {
	struct arena_chunk *chunks;
};

/* Returns zeroed memory aligned for any type, valid until arena_free(), or NULL without memory. */
void *arena_allocate(struct arena *arena, size_t bytes);

/* Returns a terminated copy of the first `length` bytes of `text`, valid until arena_free(), or NULL without memory. */
char *arena_copy_text(struct arena *arena, const char *text, size_t length);

/* Gives everything back; the arena is empty afterwards and may be used again. */
void arena_free(struct arena *arena);

#endif
