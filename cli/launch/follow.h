/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_LAUNCH_FOLLOW_H
#define TENACURL_CLI_LAUNCH_FOLLOW_H

/*
 * What a command line starts in the end: scripts ("#!") are followed to their interpreter, and programs that only start
 * another one (env, nice, timeout, …) to that one.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/launch/switch.h"

struct launch {
	char **chain; /* every file on the way, in order; the last is the program itself */
	size_t chain_count;
	const char *path;    /* the last of chain; NULL: not found */
	char **arguments;    /* of the program, without argv[0]; NULL-terminated, NULL if path is */
	const char *script;  /* the script that it interprets, in chain; NULL: none */
	char *cleared_by;    /* the program on the way that clears the environment (env -i, sudo); NULL: none */
	char *root;          /* the directory that the program is confined to (chroot); NULL: none */
	char *privileged_by; /* a setuid program on the way, before the last; NULL: none */
	bool starts_run;     /* by another `tenacurl run`, which sets everything anew */
	enum launch_switch switched;
	int error; /* errno, if path is NULL or can't be read */
};

/*
 * Follows command (NULL-terminated), as PATH and the working directory are now. To be freed with launch_free() whatever
 * is returned. Returns false if the program isn't found.
 */
bool launch_follow(char **command, struct launch *launch);
void launch_free(struct launch *launch);

/*
 * Finds the first file named `name` on PATH that could be executed, as execvp(3) would; a name with a slash is taken as
 * it is. Returns false if there is none.
 */
bool launch_find_program(const char *name, char path[static PATH_MAX]);

/* Whether the path leads to a regular file; to one that this user may execute. */
bool launch_is_file(const char *path);
bool launch_is_executable(const char *path);

/* Whether it leads to an ELF file, of any kind. */
bool launch_is_elf(const char *path);

/*
 * By which of its attributes a program would start with other rights than this process has, so that ld.so drops what
 * concerns it from the environment. Not counted where the kernel ignores them: nosuid, no_new_privs, root's files.
 */
enum launch_privilege { LAUNCH_ORDINARY, LAUNCH_SETUID, LAUNCH_SETGID, LAUNCH_CAPABILITIES };

enum launch_privilege launch_privilege_of(const char *path);

#endif
