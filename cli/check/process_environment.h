/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_CHECK_PROCESS_ENVIRONMENT_H
#define TENACURL_CLI_CHECK_PROCESS_ENVIRONMENT_H

/* What /proc tells of how another process was started. Texts that are returned are to free(). */

#include <stdbool.h>
#include <sys/types.h>

/* "/proc/PID/FILE"; FILE has a few letters. */
struct process_path {
	char text[64];
};
struct process_path process_path(pid_t id, const char *file);

/* The executable's path, without the " (deleted)" of one that is gone. NULL with errno set: no right to, or none. */
char *process_executable(pid_t id);

/* What `ps` would call it, which anybody may know. NULL: no such process. */
char *process_name(pid_t id);

/*
 * The value of a variable that it was started with, NULL without one. What it set since isn't seen; it may have
 * overwritten its environment, too.
 */
char *process_variable(pid_t id, const char *name);

/*
 * Its arguments without the first, NULL-terminated, to be freed with launch_free_words(). Those that name a
 * regular file from its working directory are replaced by a path to that file. NULL: they can't be read.
 */
char **process_arguments(pid_t id);

/* Whether ld.so distrusts its environment, since it was started with more rights than its caller had. */
bool process_is_secure(pid_t id);

/* Whether its root directory is another one than ours. */
bool process_has_other_root(pid_t id);

#endif
