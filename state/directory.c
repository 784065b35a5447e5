/* SPDX-License-Identifier: MIT */
/*
 * The place must be found by every process of a user alone, whoever started it: cron, a daemon, a shell. So it is not
 * XDG_RUNTIME_DIR, which cron lacks and which goes away with the session.
 *
 * /dev/shm is a directory that everybody writes to, and the name in it can be guessed. Whoever else makes it first gets
 * nothing but our refusal. Everything below it is reached through a descriptor of the directory that was looked at, so
 * it can't be exchanged afterwards.
 */
#include "state/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define RUN_DIRECTORY  "/run/tenacurl"
#define SHM_PREFIX     "/dev/shm/tenacurl-"
#define DIRECTORY_MODE 0700
#define OTHERS_WRITE   (S_IWGRP | S_IWOTH)
#define PLACE_BYTES    512 /* of the usual places; the stack may be short */

/*
 * A full or broken file system must not end the host program by SIGBUS. On these, blocks that were allocated once can
 * be written to for ever. Not so where each write makes a copy (btrfs, ZFS) or the file is far away (NFS, FUSE). An
 * overlay stands for what lies under it, nearly always one of these.
 */
static const uint32_t suited_file_systems[] = {
    0x01021994, /* tmpfs */
    0x858458F6, /* ramfs */
    0xEF53,     /* ext2, ext3, ext4 */
    0x58465342, /* XFS */
    0x794C7630, /* overlayfs */
};

static bool is_suited(int fd)
{
	struct statfs file_system;
	if (fstatfs(fd, &file_system) != 0)
		return false;
	for (size_t i = 0; i < sizeof(suited_file_systems) / sizeof(suited_file_systems[0]); i++)
		if ((uint32_t)file_system.f_type == suited_file_systems[i])
			return true;
	return false;
}

/* A umask can take rights from what we made that we need ourselves. By descriptor: the name may be another's by now. */
static void restore_mode(int fd)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	chmod(path, DIRECTORY_MODE);
}

static int fail(struct state_outcome *outcome, enum state_trouble trouble, int os_errno)
{
	outcome->trouble = trouble;
	outcome->os_errno = os_errno;
	return -1;
}

static int open_trusted(const char *path, uid_t owner, bool make, struct state_outcome *outcome)
{
	struct stat directory;
	bool made = make && mkdir(path, DIRECTORY_MODE) == 0;
	snprintf(outcome->path, sizeof(outcome->path), "%s", path);
	int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fail(outcome, STATE_NO_DIRECTORY, errno);
	if (fstat(fd, &directory) != 0 || directory.st_uid != owner || (directory.st_mode & OTHERS_WRITE) != 0) {
		close(fd);
		return fail(outcome, STATE_UNTRUSTED_DIRECTORY, 0);
	}
	if (!is_suited(fd)) {
		close(fd);
		return fail(outcome, STATE_UNSUITED_FILE_SYSTEM, 0);
	}
	if (made && (directory.st_mode & DIRECTORY_MODE) != DIRECTORY_MODE)
		restore_mode(fd);
	return fd;
}

static const char *run_directory(const struct state_request *request)
{
	return request->run_directory ? request->run_directory : RUN_DIRECTORY;
}

static const char *shm_prefix(const struct state_request *request)
{
	return request->shm_prefix ? request->shm_prefix : SHM_PREFIX;
}

/* Returns false if it doesn't fit. */
static bool put_place(char path[static PLACE_BYTES], const char *begin, const char *separator, uid_t owner)
{
	return snprintf(path, PLACE_BYTES, "%s%s%lu", begin, separator, (unsigned long)owner) < PLACE_BYTES;
}

int state_open_directory(const struct state_request *request, uid_t owner, bool make, struct state_outcome *outcome)
{
	char path[PLACE_BYTES];
	if (request->directory && request->directory[0])
		return open_trusted(request->directory, owner, make, outcome);

	if (put_place(path, run_directory(request), "/", owner)) {
		int fd = open_trusted(path, owner, false, outcome);
		if (fd >= 0)
			return fd;
	}
	*outcome = (struct state_outcome){0};
	if (!put_place(path, shm_prefix(request), "", owner))
		return fail(outcome, STATE_NO_DIRECTORY, ENAMETOOLONG);
	return open_trusted(path, owner, make, outcome);
}

/* Owners. */

struct owner_list {
	uid_t *owners;
	size_t count, room;
};

static void add_owner(struct owner_list *list, const char *digits)
{
	char *end;
	unsigned long owner = strtoul(digits, &end, 10);
	if (*digits < '0' || *digits > '9' || *end || owner != (uid_t)owner || list->count == list->room)
		return;
	for (size_t i = 0; i < list->count; i++)
		if (list->owners[i] == (uid_t)owner)
			return;
	list->owners[list->count++] = (uid_t)owner;
}

static void add_owners(struct owner_list *list, const char *path, const char *prefix)
{
	DIR *directory = opendir(path);
	const struct dirent *file;
	size_t prefix_bytes = strlen(prefix);
	if (!directory)
		return;
	while ((file = readdir(directory)))
		if (strncmp(file->d_name, prefix, prefix_bytes) == 0)
			add_owner(list, file->d_name + prefix_bytes);
	closedir(directory);
}

size_t state_list_owners(const struct state_request *request, uid_t *owners, size_t room)
{
	struct owner_list list = {.owners = owners, .room = room};
	char path[PLACE_BYTES];
	snprintf(path, sizeof(path), "%s", shm_prefix(request));
	char *slash = strrchr(path, '/');
	add_owners(&list, run_directory(request), "");
	if (slash) {
		*slash = '\0';
		add_owners(&list, path, slash + 1);
	}
	return list.count;
}
