/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_PROC_H
#define TENACURL_BASE_PROC_H

/* What the files below /proc say (proc(5)). System calls, no allocation, any thread. errno isn't kept. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Reads the begin of a file, at most room_bytes - 1, and ends it with NUL. Returns how many bytes those are; negative,
 * with errno and without a text, if it can't be opened or read.
 */
ssize_t proc_read(const char *path, char *text, size_t room_bytes);

struct proc_stat {
	char state;           /* 'Z' for a zombie */
	int64_t parent;       /* pid; 0: it has none, or one that isn't seen from here */
	uint64_t start_ticks; /* when it began, in clock ticks since the host was started */
};

/* Returns false, with errno, if that can't be read. */
bool proc_find(int64_t pid, struct proc_stat *found);

#endif
