/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_MOUNTS_H
#define TENACURL_INTERPOSE_MOUNTS_H

/*
 * Which file systems answer at once. To ask a remote one anything (statfs() too) can take as long as its server is
 * away; the kernel's table of mounts can be read without.
 */

#include <stdbool.h>

enum mounts_distance {
	MOUNTS_LOCAL,
	MOUNTS_REMOTE, /* on the network, served by a program (FUSE), mounted on demand (autofs), or of an unknown kind
	                */
	MOUNTS_UNKNOWN /* the table doesn't say: it can't be read, or only a part of it is seen after a chroot */
};

/*
 * Reads the table of this process's mounts. Returns it, for free(), or NULL with errno. Opens, reads and closes
 * /proc/self/mountinfo (proc(5)).
 */
char *mounts_read(void);

/*
 * Says where the file of an absolute path is, whether it is there or not, by a table that mounts_read() returned.
 * Symbolic links are followed by readlink(), and nothing is asked of a remote file system: the way that first leads
 * into one ends there. errno is not kept; any thread; allocates.
 */
enum mounts_distance mounts_find(const char *table, const char *path);

#endif
