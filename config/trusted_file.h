/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_TRUSTED_FILE_H
#define TENACURL_CONFIG_TRUSTED_FILE_H

/* Opening a policy file that nobody but root and the effective user can have put there. */

#include "config/arena.h"
#include "config/load_result.h"

/*
 * Opens the regular file at `path` for reading and returns POLICY_LOADED with its descriptor, which the caller closes.
 * Otherwise `error` is filled, and the result is POLICY_ABSENT if there is no such file, POLICY_UNREADABLE if it can't
 * be looked at or must not be trusted:
 *
 *   - it belongs to root or to the effective user (config/owner.h), and nobody else may write to it;
 *   - the same is true of the directory that it is in, and of the directory and the owner of each symbolic link on the
 *     way to it. A directory may be writable if it is sticky, which keeps others from exchanging what isn't theirs, or
 *     if its mount is read-only (a Kubernetes ConfigMap is 0777 and behind links).
 *
 * Each link is followed by hand, by a descriptor of the directory that was looked at. Devices and FIFOs are looked at
 * but not opened. A link that leads nowhere is trouble, not absence: somebody wanted a file to be there. What
 * /proc/self/fd, /dev/fd and /dev/stdin name was given by whoever started the program, and only the file itself is
 * looked at.
 *
 * Changes errno. Any thread; needs memory from `scratch`.
 */
enum policy_load_result trusted_file_open(const char *path, struct arena *scratch, int *fd, struct policy_error *error);

#endif
