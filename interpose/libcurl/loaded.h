/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_LIBCURL_LOADED_H
#define TENACURL_INTERPOSE_LIBCURL_LOADED_H

/*
 * The objects of the process, and which depends on which: what has to be known where more than one of them has a
 * function. What it points to is the objects' own: all but loaded_new() and loaded_free() only within the
 * mapping_hold() in which it was taken.
 */

#include <stddef.h>
#include <stdint.h>

#include "interpose/bind/object.h"
#include "interpose/host/mapping.h"

struct loaded_object {
	struct mapping mapping;
	struct link_map map;
	struct object object;
	bool has_symbols;
	bool is_queued, is_first, is_offered; /* for those who search */
};

struct loaded {
	size_t count, capacity;
	uint16_t *order;                /* room for `capacity` indices, for those who search */
	struct loaded_object objects[]; /* in the order in which they were loaded */
};

/* Returns room for `capacity` objects, or NULL without memory. */
struct loaded *loaded_new(size_t capacity);
void loaded_free(struct loaded *loaded);

/* Notes the objects that there are, as far as there is room. */
void loaded_take(struct loaded *loaded);

/* The object that `inside` lies in; loaded->count: none. */
size_t loaded_find(const struct loaded *loaded, const void *inside);

/*
 * Writes to loaded->order the object `first` and all that it depends on, breadth first: the order in which ld.so
 * searches them. Returns how many those are.
 */
size_t loaded_closure(struct loaded *loaded, size_t first);

#endif
