/* SPDX-License-Identifier: MIT */
/*
 * The place must be found by every process of a user alone, whoever started it: cron, a daemon, a shell. So it is not
 * XDG_RUNTIME_DIR, which cron lacks and which goes away with the session. It is, in this order,
 *
 *     /run/tenacurl/UID         where an administrator made it
 *     /run/tenacurl/state/UID   where there is /run/tenacurl/state, root's and sticky: tmpfiles.d/tenacurl.conf
 *     /dev/shm/tenacurl-UID     else; systemd-logind empties it of a user's files when the user's last session ends
 *
 * The latter two are in directories that everybody writes to, and the names can be guessed. Whoever else makes one
 * first gets nothing but our refusal. Everything below it is reached through a descriptor of the directory that was
 * looked at, so it can't be exchanged afterwards.
 */
#include "state/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "state/text.h"

#define RUN_DIRECTORY  "/run/tenacurl"
#define COMMON         "/state/" /* below it */
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

/* A name in a directory that is open, or AT_FDCWD. */
struct named {
	int parent;
	const char *name;
};

static int open_trusted(const struct named *at, uid_t owner, bool make, struct state_outcome *outcome)
{
	struct stat directory;
	bool made = make && mkdirat(at->parent, at->name, DIRECTORY_MODE) == 0;
	int fd = openat(at->parent, at->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
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

static int open_path(const char *path, uid_t owner, bool make, struct state_outcome *outcome)
{
	const struct named at = {.parent = AT_FDCWD, .name = path};
	state_copy_text(outcome->path, sizeof(outcome->path), path);
	return open_trusted(&at, owner, make, outcome);
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

/*
 * Where everybody makes a folder of their own: nobody but its owner must be able to exchange one. -1: there is no such
 * directory.
 */
static int open_common(const char *path, uid_t owner)
{
	struct stat directory;
	int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	bool is_safe = fstat(fd, &directory) == 0 && (directory.st_uid == 0 || directory.st_uid == owner) &&
	               ((directory.st_mode & OTHERS_WRITE) == 0 || (directory.st_mode & S_ISVTX) != 0);
	if (is_safe)
		return fd;
	close(fd);
	return -1;
}

/* As all of /run is for a hardened unit that isn't allowed this part of it. */
static bool is_read_only(int fd)
{
	struct statfs file_system;
	return fstatfs(fd, &file_system) == 0 && (file_system.f_flags & ST_RDONLY) != 0;
}

static int open_in_common(const struct state_request *request, uid_t owner, bool make, struct state_outcome *outcome)
{
	char path[PLACE_BYTES];
	if (!put_place(path, run_directory(request), COMMON, owner))
		return fail(outcome, STATE_NO_DIRECTORY, ENAMETOOLONG);
	state_copy_text(outcome->path, sizeof(outcome->path), path);
	char *slash = strrchr(path, '/');
	*slash = '\0';
	const struct named at = {.parent = open_common(path, owner), .name = slash + 1};
	if (at.parent < 0)
		return fail(outcome, STATE_NO_DIRECTORY, ENOENT);
	int fd = open_trusted(&at, owner, make, outcome);
	close(at.parent);
	if (fd >= 0 && make && is_read_only(fd)) {
		close(fd);
		return fail(outcome, STATE_UNSUITED_FILE_SYSTEM, 0);
	}
	bool is_none = outcome->os_errno == ENOTDIR || outcome->os_errno == ELOOP; /* a link, a file */
	if (fd < 0 && (outcome->trouble == STATE_UNTRUSTED_DIRECTORY || is_none))
		outcome->trouble = STATE_FOREIGN_DIRECTORY;
	return fd;
}

/* The usual places, the first that can be used. */
enum { PLACE_OF_ADMINISTRATOR, PLACE_IN_COMMON, PLACE_IN_SHM, PLACE_COUNT };

size_t state_place_count(const struct state_request *request)
{
	return request->directory && request->directory[0] ? 1 : PLACE_COUNT;
}

int state_open_directory(const struct state_request *request, size_t place, uid_t owner, bool make,
                         struct state_outcome *outcome)
{
	char path[PLACE_BYTES];
	*outcome = (struct state_outcome){0};
	if (request->directory && request->directory[0])
		return open_path(request->directory, owner, make, outcome);
	if (place == PLACE_IN_COMMON)
		return open_in_common(request, owner, make, outcome);
	bool is_administrators = place == PLACE_OF_ADMINISTRATOR;
	if (!put_place(path, is_administrators ? run_directory(request) : shm_prefix(request),
	               is_administrators ? "/" : "", owner))
		return fail(outcome, STATE_NO_DIRECTORY, ENAMETOOLONG);
	return open_path(path, owner, make && !is_administrators, outcome);
}

/* Owners. */

struct owner_list {
	uid_t *owners;
	size_t count, room;
};

static void add_owner(struct owner_list *list, const char *digits)
{
	char *end;
	unsigned long long owner = strtoull(digits, &end, 10);
	if (*digits < '0' || *digits > '9' || *end || owner != (uid_t)owner || list->count == list->room)
		return;
	for (size_t i = 0; i < list->count; i++)
		if (list->owners[i] == (uid_t)owner)
			return;
	list->owners[list->count++] = (uid_t)owner;
}

DIR *state_list_directory(int directory)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
	if (!listing && fd >= 0)
		close(fd);
	return listing;
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

/* Not inlined: its path beside the caller's would be much for a small stack. */
static __attribute__((noinline)) void add_owners_in_common(struct owner_list *list, const struct state_request *request)
{
	char path[PLACE_BYTES];
	snprintf(path, sizeof(path), "%s" COMMON, run_directory(request));
	add_owners(list, path, "");
}

size_t state_list_owners(const struct state_request *request, uid_t *owners, size_t room)
{
	struct owner_list list = {.owners = owners, .room = room};
	char path[PLACE_BYTES];
	snprintf(path, sizeof(path), "%s", shm_prefix(request));
	char *slash = strrchr(path, '/');
	add_owners(&list, run_directory(request), "");
	add_owners_in_common(&list, request);
	if (slash) {
		*slash = '\0';
		add_owners(&list, path, slash + 1);
	}
	return list.count;
}
