/* SPDX-License-Identifier: MIT */

/*
 * The entry points that the binder binds references to: one per function and slot, so that a call names the libcurl
 * that it would have reached, as the version node does for the exported ones. The table that says where they are is the
 * one thing that the binder knows of us (interpose/bind/bind.h).
 */

#include "interpose/entry/entry_points.h"

static struct bind_table table;

#define DEFINE_SLOT(number)                                                                                            \
	static const struct reference reference_##number = {.slot = &table.slots[number]};                             \
	DEFINE_ENTRY_POINTS(static __attribute__((noinline)), slot_##number, &reference_##number)

_Static_assert(BIND_SLOT_COUNT == 8, "each slot of the table needs its entry points");
#define SLOTS(SLOT) SLOT(0) SLOT(1) SLOT(2) SLOT(3) SLOT(4) SLOT(5) SLOT(6) SLOT(7)

SLOTS(DEFINE_SLOT)

#define ENTRY_OF_SLOT(function, slot) [BIND_##function] = (const void *)function##_slot_##slot
#define ENTRIES_OF_SLOT(slot)                                                                                          \
	[slot] = {                                                                                                     \
	    ENTRY_OF_SLOT(curl_easy_init, slot),      ENTRY_OF_SLOT(curl_easy_setopt, slot),                           \
	    ENTRY_OF_SLOT(curl_easy_perform, slot),   ENTRY_OF_SLOT(curl_easy_reset, slot),                            \
	    ENTRY_OF_SLOT(curl_easy_duphandle, slot), ENTRY_OF_SLOT(curl_easy_cleanup, slot),                          \
	    ENTRY_OF_SLOT(curl_easy_getinfo, slot),   ENTRY_OF_SLOT(curl_easy_pause, slot),                            \
	    ENTRY_OF_SLOT(curl_mime_init, slot),      ENTRY_OF_SLOT(curl_mime_addpart, slot),                          \
	    ENTRY_OF_SLOT(curl_mime_data, slot),      ENTRY_OF_SLOT(curl_mime_data_cb, slot),                          \
	    ENTRY_OF_SLOT(curl_mime_filedata, slot),  ENTRY_OF_SLOT(curl_mime_subparts, slot),                         \
	    ENTRY_OF_SLOT(curl_mime_free, slot),                                                                       \
	},

static struct bind_table table = {.entries = {SLOTS(ENTRIES_OF_SLOT)}};

/* Within the object the table goes by its own name: the exported one could be another copy's, preloaded before us. */
extern struct bind_table tenacurl_bind_2 __attribute__((alias("table"), visibility("default")));
