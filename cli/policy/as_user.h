/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_POLICY_AS_USER_H
#define TENACURL_CLI_POLICY_AS_USER_H

/* What root does with the files of others, who may put links, devices and file systems that never answer in its way. */

#include <pwd.h>
#include <stdbool.h>
#include <stddef.h>

enum as_user_end { AS_USER_DONE, AS_USER_FAILED, AS_USER_SLOW };

/*
 * Calls function(shared) in a process of its own that has the rights of `user` and no others, and waits for its end,
 * but for two seconds at most: then the process is killed, and the end AS_USER_SLOW. What the function is to leave
 * behind goes to `shared`, which as_user_share() made. AS_USER_FAILED: there is no process, its rights can't be given
 * up, or it died.
 */
enum as_user_end as_user(const struct passwd *user, void (*function)(void *shared), void *shared);

/* Returns `bytes` of zeroed memory that such a process shares, or NULL; to be given to as_user_unshare(). */
void *as_user_share(size_t bytes);
void as_user_unshare(void *shared, size_t bytes);

#endif
