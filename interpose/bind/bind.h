/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BIND_BIND_H
#define TENACURL_INTERPOSE_BIND_BIND_H

/*
 * What the preloaded object and the binder share. The binder (libtenacurl-bind.so) is loaded by ld.so into a namespace
 * of its own and sees each binding of the program; where one would reach a libcurl behind our back (RTLD_DEEPBIND,
 * dlsym on a handle) it gives the libcurl a slot of this table, writes an address inside it there, and binds the
 * reference to the slot's entry point instead.
 *
 * One address per slot is enough: a function's place in its libcurl is looked up once per libcurl anyway, not once per
 * binding (interpose/libcurl/libcurl.c). And nothing has to be emptied when a slot is used again, so no lock is needed.
 *
 * The object exports the table as the data symbol tenacurl_bind_2; another layout gets another name, so a binder and an
 * object of different versions leave each other alone.
 */

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/bind/functions.h"

/* The file name of the preloaded object. */
#define PRELOAD_LIBRARY "libtenacurl.so"

/* The binder's file name: by it the binder knows itself in LD_AUDIT. */
#define BIND_LIBRARY "libtenacurl-bind.so"

/* The file name of the watcher that `tenacurl check --run` puts behind it. */
#define WATCH_LIBRARY "libtenacurl-watch.so"

#define BIND_TABLE_SYMBOL "tenacurl_bind_2"

/* Functions that have entry points, in the table's order. */
#define BIND_FUNCTION_INDEX(since, symbol, ...) BIND_##symbol,
enum bind_function { WRAPPED_FUNCTIONS(BIND_FUNCTION_INDEX) BIND_FUNCTION_COUNT };
#undef BIND_FUNCTION_INDEX

#define BIND_NAME_FITS(since, symbol, ...) _Static_assert(sizeof(#symbol) <= FUNCTION_NAME_BYTES, #symbol);
WRAPPED_FUNCTIONS(BIND_NAME_FITS)
#undef BIND_NAME_FITS

#define BIND_SLOT_COUNT 8

struct bind_slot {
	_Atomic(uintptr_t) owner;  /* the binder's name for the libcurl; 0: free */
	_Atomic(uintptr_t) inside; /* an address in it; stays when the slot becomes free, for calls that come late */
};

struct bind_table {
	struct bind_slot slots[BIND_SLOT_COUNT];
	const void *entries[BIND_SLOT_COUNT][BIND_FUNCTION_COUNT]; /* what references are bound to */
};

#endif
