/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_MAPPING_H
#define TENACURL_INTERPOSE_MAPPING_H

/*
 * What is mapped into the process: all that we ask of the dynamic linker.
 *
 * A plugin's constructor or destructor runs under the loader's lock, and may wait for a thread that transfers; so may
 * whoever opens a library that takes its time. Nothing here takes that lock, which dlopen, dlsym, dladdr and dlinfo do
 * (docs/interposing.md).
 */

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* An object that is mapped. */
struct mapping {
	const void *begin, *end;
	uintptr_t load; /* what its addresses are relative to */
	const ElfW(Dyn) * dynamic;
	const char *path; /* the loader's; "" for the main program. Good as long as the object stays mapped */
};

/*
 * Fills in the object that `inside` lies in; returns whether there is one. Without a lock where glibc can (2.35), once
 * mapping_hold() was called; else as mapping_hold().
 */
bool mapping_find(const void *inside, struct mapping *mapping);

/* Whether mapping_find() takes no lock by now. */
bool mapping_is_lock_free(void);

/*
 * Calls work(context) while no object of the process can come or go, by holding the lock of the list of objects. It may
 * call mapping_each(), but nothing that takes a lock, allocates, or belongs to the program. Waits for a fork in another
 * thread, which this lock isn't given back to a child by.
 */
void mapping_hold(void (*work)(void *context), void *context);

/* Within mapping_hold(): visits the objects in the order in which they were loaded, until `visit` returns true. */
typedef bool (*mapping_visit_function)(void *context, const struct mapping *mapping);
void mapping_each(mapping_visit_function visit, void *context);

#endif
