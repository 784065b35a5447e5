/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_OWNER_H
#define TENACURL_CONFIG_OWNER_H

/*
 * Whose word counts: what a policy says can make a request be repeated and a log be written, so it must come from root
 * or from the user whose program it is for.
 */

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether `owner` is root or the effective user. In a user namespace that knows no user 0 (user_namespaces(7)), root's
 * files seem to belong to the overflow user, who counts as root there; telling that takes a look at /proc, for an owner
 * that seems to be this one only. errno is kept; any thread; no allocation.
 */
bool owner_is_trusted(uid_t owner);

/* Whether `group` is root's own, in the same sense: that its members may write is nothing new to anybody. */
bool owner_is_roots_group(gid_t group);

#endif
