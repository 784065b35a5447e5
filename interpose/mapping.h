/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_MAPPING_H
#define TENACURL_INTERPOSE_MAPPING_H

#include <link.h>
#include <stdbool.h>

/* An object that is mapped into the process. */
struct mapping {
	const void *inside; /* what it is looked up by */
	const void *begin, *end;
	const ElfW(Dyn) * dynamic;
	const char *path; /* the loader's; "" for the main program. Good as long as the object stays mapped */
};

/*
 * Fills in the object that mapping->inside lies in; returns whether there is one. Without a lock where glibc can
 * (2.35): fork doesn't give the child back the one that dl_iterate_phdr takes.
 */
bool mapping_find(struct mapping *mapping);

#endif
