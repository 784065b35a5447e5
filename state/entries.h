/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_ENTRIES_H
#define TENACURL_STATE_ENTRIES_H

/* What state/ itself shares about the table of entries. */

#include <stdbool.h>
#include <stdint.h>

struct state;
struct state_entry;
struct state_layout;

/* Whose hashes are what an entry is recognised by: of two names only those that are equal have both in common. */
struct state_identity {
	uint64_t key;
	uint64_t check;
};

/* A name with its identity. Texts are not owned. */
struct state_name {
	struct state_identity identity;
	const char *origin, *section;
};

/* Set in the key of every name. A key without it, but 0, is that of an entry which is being emptied: state/room.c. */
#define STATE_KEY_OF_NAME UINT64_C(1)

/* The identity of a name. Pure. */
struct state_identity state_identify(const char *origin, const char *section);

/* The entry of this name, if there is one; makes none. */
struct state_entry *state_seek_entry(struct state_layout *layout, struct state_identity identity);

/*
 * In a table without a free entry: gives the name one that protects nobody, or returns NULL. Which one, those who look
 * for the same name at the same time agree on.
 */
struct state_entry *state_make_room(struct state_layout *layout, const struct state_name *name);

/* Writes the texts of an entry and notes that it was of use, unless it has them. */
void state_name_entry(struct state_entry *entry, const struct state_name *name);

/* Zeroes what was counted; with `everything` also what protects the origin. Its name stays. */
void state_zero_entry(struct state_entry *entry, bool everything);

/* The process's own memory, mapped now if it wasn't yet; NULL if there is none. It starts empty in each child, or
 * is emptied by state_empty_own(). */
struct state_layout *state_own_layout(struct state *state);

/* The file, or where nothing is shared the process's own memory; NULL: there is neither yet. */
struct state_layout *state_layout_in_use(struct state *state);

/* The same, with the process's own memory mapped if it has to be. NULL: no memory. */
struct state_layout *state_layout_to_write(struct state *state);

#endif
