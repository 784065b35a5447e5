/* SPDX-License-Identifier: MIT */

/*
 * The entry points that the binder binds references to: one per function and slot, so that a call names the libcurl
 * that it would have reached, as the version node does for the exported ones. The table that says where they are is the
 * one thing that the binder knows of us (interpose/bind/bind.h).
 */

#include "interpose/entry/entry_points.h"

static struct bind_table table;

#define DEFINE_SLOT(number)                                                                                            \
	static const struct reference reference_slot_##number = {.slot = &table.slots[number]};                        \
	DEFINE_ENTRY_POINTS(slot_##number, static __attribute__((noinline)))

_Static_assert(BIND_SLOT_COUNT == 8, "each slot of the table needs its entry points");
#define SLOTS(SLOT) SLOT(0) SLOT(1) SLOT(2) SLOT(3) SLOT(4) SLOT(5) SLOT(6) SLOT(7)

SLOTS(DEFINE_SLOT)

#define ENTRY_OF_SLOT(since, symbol, word, kind, result, parameters, arguments, number)                                \
	[BIND_##symbol] = (const void *)symbol##_slot_##number,
#define ENTRIES_OF_SLOT(number) [number] = {WRAPPED_FUNCTIONS(ENTRY_OF_SLOT, number)},

static struct bind_table table = {.entries = {SLOTS(ENTRIES_OF_SLOT)}};

/* Within the object the table goes by its own name: the exported one could be another copy's, preloaded before us. */
extern struct bind_table tenacurl_bind_2 __attribute__((alias("table"), visibility("default")));
