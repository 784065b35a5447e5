/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_CALL_SITE_H
#define TENACURL_INTERPOSE_CALL_SITE_H

#include <stdint.h>

#define CALL_SITE_LIBRARY_BYTES 64

/* The place in a program from which it transfers: the same in every run of it. */
struct call_site {
	uint64_t hash;                         /* executable, script, object and the call's offset in it */
	char library[CALL_SITE_LIBRARY_BYTES]; /* base name of the object that makes the call; "": the main program */
};

/*
 * Finds the call site of a return address. After a failure only: the first call in a process reads files, and before
 * glibc 2.35 each takes the lock of the loader's list of objects (but not in a child of a raw fork: there a site is
 * known by less). errno is kept.
 */
void call_site_find(const void *caller, struct call_site *site);

#endif
