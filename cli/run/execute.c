/* SPDX-License-Identifier: MIT */
#include "cli/run/execute.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/launch/follow.h"
#include "cli/say/exit.h"
#include "cli/say/plain_text.h"

/*
 * Executes command[0] as execvp does, with one difference: execvp hands whatever the kernel has no format for to sh,
 * which is right for a script without "#!", but a binary of another machine is no script. Returns only if that fails;
 * errno says why (ENOEXEC: such a binary).
 */
static void execute(char **command)
{
	char path[PATH_MAX];
	if (launch_find_program(command[0], path) && launch_is_elf(path))
		execv(path, command);
	else
		execvp(command[0], command);
}

int run_execute(char **command)
{
	execute(command);
	int reason = errno;
	fprintf(stderr, "tenacurl run: can't run '%s': %s\n", plain_text(command[0]), strerror(reason));
	return reason == ENOENT ? SAY_EXIT_NOT_FOUND : SAY_EXIT_NOT_EXECUTABLE;
}
