/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/launch.h"
#include "cli/run.h"

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

void run_execute_program(char **command)
{
	char path[PATH_MAX];
	if (launch_find_program(command[0], path) && is_elf(path))
		execv(path, command);
	else
		execvp(command[0], command);
}
