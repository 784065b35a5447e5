/* SPDX-License-Identifier: MIT */
#include "cli/run/execute.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/launch/follow.h"
#include "cli/say/exit.h"
#include "cli/say/plain_text.h"

static bool is_elf(const char *path)
{
	char magic[SELFMAG];
	struct stat file;
	/* O_NONBLOCK: whatever has that name, opening it must not hang. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	bool elf = fstat(fd, &file) == 0 && S_ISREG(file.st_mode) &&
	           pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) && memcmp(magic, ELFMAG, SELFMAG) == 0;
	close(fd);
	return elf;
}

/*
 * Executes command[0] as execvp does, with one difference: execvp hands whatever the kernel has no format for to sh,
 * which is right for a script without "#!", but a binary of another machine is no script. Returns only if that fails;
 * errno says why (ENOEXEC: such a binary).
 */
static void execute(char **command)
{
	char path[PATH_MAX];
	if (launch_find_program(command[0], path) && is_elf(path))
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
