/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_FIND_H
#define TENACURL_CONFIG_FIND_H

/* Where a policy comes from, the first that applies: --policy, TENACURL_POLICY, the user's file, the host's, built-in.
 */

#include <stdbool.h>
#include <stddef.h>

/* What to look at. Texts may be NULL or, but for named_by_command, empty, which means the same. Not owned. */
struct policy_places {
	const char *named_by_command; /* --policy */
	const char *environment;      /* TENACURL_POLICY */
	const char *home;             /* HOME; only an absolute path to what is the user's is used */
	bool is_root;                 /* root's files are the host's: /etc alone */
};

enum policy_found {
	POLICY_FOUND_BY_COMMAND,
	POLICY_FOUND_BY_ENVIRONMENT,
	POLICY_FOUND_IN_HOME,
	POLICY_FOUND_IN_ETC,
	POLICY_FOUND_BUILT_IN, /* there is no file */
	POLICY_FOUND_TOO_LONG  /* one is named, by a path that no file can have */
};

/*
 * The places in which a policy is searched for, the first one first, by index: writes the path of one into `path` and
 * returns true, or false, with an empty path, if there are no more. A named one is the only one; if no file can have
 * its path, *how is POLICY_FOUND_TOO_LONG. A home that the user can't enter, and doesn't own, isn't one. errno is kept;
 * any thread.
 */
bool policy_place_at(const struct policy_places *places, size_t index, char *path, size_t path_bytes,
                     enum policy_found *how);

/* Whether it is somebody's word that there is a file, which therefore is never taken for absent. */
bool policy_found_by_name(enum policy_found how);

/*
 * Whether there is no file at `path`, which is known only by ENOENT or ENOTDIR: a place that can't be looked at (no
 * permission, an I/O error, a link that leads nowhere) may have one. Changes the path, and puts it right again. errno
 * is kept; any thread.
 */
bool policy_is_absent(char *path);

/*
 * Finds the policy file. Returns true with its path in `path`; false, with an empty path, if there is none to load, and
 * `how` tells the two cases apart. A named file is returned unseen, and a place that can't be looked at like one that
 * has a file, so that loading it tells what is wrong with it. path_bytes should be PATH_MAX. Depends on its arguments
 * and the file system alone; no allocation; errno is kept; any thread.
 */
bool policy_find(const struct policy_places *places, char *path, size_t path_bytes, enum policy_found *how);

/* How a policy was found, for people ("named by TENACURL_POLICY"). Never NULL. */
const char *policy_found_text(enum policy_found how);

#endif
