/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_FAMILY_H
#define TENACURL_INTERPOSE_FAMILY_H

/*
 * This process among others: what it is known by to those that come after it, and which process starts one after the
 * other (the shell of a loop). For what happens after a failure: it makes system calls. Any thread; errno is kept.
 */

#include <stdint.h>

#define FAMILY_NAME_BYTES 32

#define FAMILY_ANCESTORS 3 /* `$(timeout 9 curl … | jq)` in a loop: timeout, the subshell, and the shell that loops */

/* A process that may start such as this one again and again, itself or by way of the same commands. */
struct family_ancestor {
	int64_t pid;
	int64_t started_ms; /* of its child that is this process or an ancestor of it: CLOCK_MONOTONIC, rounded up to a
	                     * clock tick (10 ms); INT64_MIN: not known */
	uint64_t way;       /* hash of the command lines from that child down to this process's parent */
};

struct family {
	uint64_t process; /* a random number of this process; another one in each child */
	int ancestor_count;
	struct family_ancestor ancestors[FAMILY_ANCESTORS]; /* the parent is the first */
};

/* Fills it in. Reads files once in a process. */
void family_find(struct family *family);

/* The first of them alone: no file is read. */
uint64_t family_process(void);

/* A number of the calling thread that no other has, as long as the kernel doesn't use its id again. */
uint64_t family_thread(void);

/* The parent as a program. */
struct family_parent {
	uint64_t hash;                /* of its command line; 0: not known */
	char name[FAMILY_NAME_BYTES]; /* of its executable, cut; "" if not known */
};

/* Reads its command line and the name of its executable, each time. */
void family_find_parent(int64_t parent, struct family_parent *found);

#endif
