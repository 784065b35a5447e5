/* SPDX-License-Identifier: MIT */
#include "cli/run.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PROGRAM_HEADERS_MAX 64

/* Where execvp(3) looks when there is no PATH. */
#define DEFAULT_PATH "/bin:/usr/bin"

/* Finds the first file of that name on the path which could be executed, as execvp would. Returns false if none. */
static bool find_program(const char *name, char path[static PATH_MAX])
{
	const char *at = getenv("PATH");
	if (!at)
		at = DEFAULT_PATH;
	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	while (true) {
		size_t bytes = strcspn(at, ":");
		int needed = snprintf(path, PATH_MAX, "%.*s%s%s", (int)bytes, at, bytes ? "/" : "", name);
		struct stat file;
		if (needed > 0 && needed < PATH_MAX && access(path, X_OK) == 0 && stat(path, &file) == 0 &&
		    S_ISREG(file.st_mode))
			return true;
		if (!at[bytes])
			return false;
		at += bytes + 1;
	}
}

/* O_NONBLOCK: whatever has that name, opening it must not hang. */
static int open_program(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static bool read_own_header(ElfW(Ehdr) * header)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool whole = fd >= 0 && pread(fd, header, sizeof(*header), 0) == (ssize_t)sizeof(*header);
	if (fd >= 0)
		close(fd);
	return whole;
}

static bool has_interpreter(int fd, const ElfW(Ehdr) * header)
{
	if (header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phnum > PROGRAM_HEADERS_MAX)
		return true;
	for (int i = 0; i < header->e_phnum; i++) {
		ElfW(Phdr) segment;
		off_t at = (off_t)header->e_phoff + i * (off_t)sizeof(segment);
		if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
			return true;
		if (segment.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static bool gains_privileges(int fd, const struct stat *file)
{
	/* Root gains nothing by file capabilities, so ld.so does not distrust its environment. */
	bool has_capabilities = geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
	return has_capabilities || ((file->st_mode & S_ISUID) && file->st_uid != getuid()) ||
	       ((file->st_mode & S_ISGID) && (file->st_mode & S_IXGRP) && file->st_gid != getgid());
}

static enum run_program_kind inspect(int fd)
{
	struct stat file;
	ElfW(Ehdr) header, own;
	if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode))
		return RUN_PROGRAM_ORDINARY;
	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || !read_own_header(&own))
		return RUN_PROGRAM_ORDINARY; /* a script; its interpreter takes the object as well as we do */
	if (header.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] || header.e_machine != own.e_machine)
		return RUN_PROGRAM_FOREIGN;
	if (gains_privileges(fd, &file))
		return RUN_PROGRAM_PRIVILEGED;
	return has_interpreter(fd, &header) ? RUN_PROGRAM_ORDINARY : RUN_PROGRAM_STATIC;
}

enum run_program_kind run_inspect_program(const char *name)
{
	char path[PATH_MAX];
	int fd = find_program(name, path) ? open_program(path) : -1;
	if (fd < 0)
		return RUN_PROGRAM_ORDINARY;
	enum run_program_kind kind = inspect(fd);
	close(fd);
	return kind;
}

static bool is_elf(const char *path)
{
	char magic[SELFMAG];
	struct stat file;
	int fd = open_program(path);
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
	if (find_program(command[0], path) && is_elf(path))
		execv(path, command);
	else
		execvp(command[0], command);
}
