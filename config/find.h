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
	const char *home;             /* HOME; only an absolute path is used */
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
 * Finds the policy file. Returns true with its path in `path`; false, with an empty path, if there is none to load, and
 * `how` tells the two cases apart. A named file is returned unseen, so that loading it tells what is wrong with it; the
 * two default paths only if they exist. path_bytes should be PATH_MAX. Depends on its arguments and the file system
 * alone; no allocation; errno is kept; any thread.
 */
bool policy_find(const struct policy_places *places, char *path, size_t path_bytes, enum policy_found *how);

/* How a policy was found, for people ("named by TENACURL_POLICY"). Never NULL. */
const char *policy_found_text(enum policy_found how);

#endif
