/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_LAUNCH_LAUNCHERS_H
#define TENACURL_CLI_LAUNCH_LAUNCHERS_H

#include <stddef.h>

/*
 * A program that only prepares something and then becomes, or starts, the program that its command line names. Options
 * are read as getopt_long(3) reads them, up to the first argument that is none.
 */
struct launcher {
	const char *name;       /* of its file */
	const char *subcommand; /* its first argument, if it starts programs with that one only */
	const char *valued;     /* letters of the options that take a value */
	const char *attached;   /* letters of those that take one only in the same argument */
	/* Long options that take a value, or that have a letter ("chdir=C"), separated by '|'. */
	const char *longs;
	int positionals;        /* arguments between the options and the command */
	char chdir;             /* letter of the option that changes the directory */
	char root;              /* letter of the option that changes the root; '1': the first positional does */
	const char *namespaces; /* letters of options that go to the root of the process named by -t */
	const char *clears;     /* letters of options that clear the environment, "*": always */
	const char *keeps;      /* letters of options that keep it after all */
	const char *shell;      /* letters of options with a command for a shell */
	const char *direct;     /* not NULL: it starts a shell unless it has one of these options */
	enum { LAUNCHER_ASSIGNS = 1, LAUNCHER_IS_ENV = 2, LAUNCHER_IS_OURS = 4 } flags;
};

/* Returns the row for a file's name, NULL if programs of that name start no others. */
const struct launcher *launcher_find(const char *name);

#endif
