/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_ENTRIES_H
#define TENACURL_STATE_ENTRIES_H

/* What state/ itself shares about the table of entries. */

#include <stdint.h>

struct state;
struct state_layout;

/* Whose hashes are what an entry is recognised by: of two names only those that are equal have both in common. */
struct state_identity {
	uint64_t key;
	uint64_t check;
};

/* The identity of a name. Pure. */
struct state_identity state_identify(const char *origin, const char *section);

/* The process's own memory, mapped now if it wasn't yet; NULL if there is none. It starts empty in each child, or
 * is emptied by state_empty_own(). */
struct state_layout *state_own_layout(struct state *state);

/* The file, or where nothing is shared the process's own memory; NULL: there is neither yet. */
struct state_layout *state_layout_in_use(struct state *state);

/* The same, with the process's own memory mapped if it has to be. NULL: no memory. */
struct state_layout *state_layout_to_write(struct state *state);

/* A hash that any changed bit changes. Pure. */
uint64_t state_mix(uint64_t value);

#endif
