/* SPDX-License-Identifier: MIT */
#include "config/trusted_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error_text.h"
#include "config/complaint.h"
#include "config/owner.h"

#define LINKS_MAX       40 /* as the kernel has it */
#define DIRECTORY_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
/* O_NONBLOCK: a FIFO without a writer would block the host program for ever. */
#define FILE_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* The way to a file, a name at a time. */
struct walk {
	const char *path; /* as given */
	struct policy_error *error;
	int directory;             /* where the next name is looked up */
	int links;                 /* that were followed */
	char rest[2 * PATH_MAX];   /* what is still to go */
	char target[2 * PATH_MAX]; /* of the link at hand */
};

static enum policy_load_result refuse(const struct walk *walk, const char *what)
{
	const struct complaint_place place = {.path = walk->path};

	complain(walk->error, &place, "%s", what);
	return POLICY_UNREADABLE;
}

/* By errno. After a link nothing is absent: it leads nowhere. */
static enum policy_load_result fail(const struct walk *walk)
{
	const struct complaint_place place = {.path = walk->path};
	bool is_missing = errno == ENOENT || errno == ENOTDIR;
	bool is_absent = is_missing && walk->links == 0;
	bool is_passing = errno == EMFILE || errno == ENFILE || errno == ENOMEM;

	complain(walk->error, &place, "cannot be opened: %s%s", error_text(errno),
	         is_missing && !is_absent ? " where a symbolic link leads to" : "");
	walk->error->is_passing = is_passing;
	return is_absent ? POLICY_ABSENT : POLICY_UNREADABLE;
}

static bool may_be_written_by_others(const struct stat *status)
{
	return (status->st_mode & S_IWOTH) || ((status->st_mode & S_IWGRP) && !owner_is_roots_group(status->st_gid));
}

static bool is_on_a_read_only_mount(int fd)
{
	struct statvfs file_system;

	return fstatvfs(fd, &file_system) == 0 && (file_system.f_flag & ST_RDONLY);
}

/* The directory in which a name counts that leads to the file. */
static enum policy_load_result check_directory(const struct walk *walk)
{
	const struct complaint_place place = {.path = walk->path};
	struct stat status;

	if (fstat(walk->directory, &status) != 0)
		return fail(walk);
	bool is_safe = !may_be_written_by_others(&status) || (status.st_mode & S_ISVTX);
	if ((is_safe && owner_is_trusted(status.st_uid)) || is_on_a_read_only_mount(walk->directory))
		return POLICY_LOADED;
	complain(
	    walk->error, &place,
	    "%s may be changed by others (user %lu, group %lu, mode %04o); allowed: of root or the user, chmod go-w",
	    walk->links > 0 ? "a directory on its way" : "its directory", (unsigned long)status.st_uid,
	    (unsigned long)status.st_gid, (unsigned)(status.st_mode & 07777));
	return POLICY_UNREADABLE;
}

static enum policy_load_result check_file(const struct walk *walk, const struct stat *status)
{
	const struct complaint_place place = {.path = walk->path};

	if (!S_ISREG(status->st_mode))
		return refuse(walk, "is not a regular file");
	if (!owner_is_trusted(status->st_uid)) {
		complain(walk->error, &place, "belongs to user %lu; allowed: root's, or user %lu's own",
		         (unsigned long)status->st_uid, (unsigned long)geteuid());
		return POLICY_UNREADABLE;
	}
	if (may_be_written_by_others(status)) {
		complain(
		    walk->error, &place,
		    "may be written by others (group %lu, mode %04o); allowed: not writable by others (chmod go-w)",
		    (unsigned long)status->st_gid, (unsigned)(status->st_mode & 07777));
		return POLICY_UNREADABLE;
	}
	return POLICY_LOADED;
}

/* Opens what was looked at before. `flags` are more flags: O_NOFOLLOW for a name that is no link. */
static enum policy_load_result open_file(const struct walk *walk, const char *name, const struct stat *seen, int flags,
                                         int *fd)
{
	struct stat status;
	enum policy_load_result result = check_file(walk, seen);

	if (result != POLICY_LOADED)
		return result;
	*fd = openat(walk->directory, name, FILE_FLAGS | flags);
	if (*fd < 0)
		return fail(walk);
	/* By now it may be another one. */
	result = fstat(*fd, &status) == 0 ? check_file(walk, &status) : fail(walk);
	if (result != POLICY_LOADED) {
		close(*fd);
		*fd = -1;
	}
	return result;
}

/* Returns false, with errno, and stays, if that is no directory. */
static bool enter(struct walk *walk, const char *name)
{
	int next = openat(walk->directory, name, DIRECTORY_FLAGS);

	if (next < 0)
		return false;
	if (walk->directory != AT_FDCWD)
		close(walk->directory);
	walk->directory = next;
	return true;
}

/* Puts the target of the link before what is still to go. */
static enum policy_load_result follow(struct walk *walk, const char *name, const struct stat *link)
{
	size_t rest_bytes = strlen(walk->rest);
	enum policy_load_result result = check_directory(walk);

	if (result != POLICY_LOADED)
		return result;
	if (!owner_is_trusted(link->st_uid))
		return refuse(walk,
		              "a symbolic link on its way belongs to somebody else; allowed: root's or the user's own");
	ssize_t target_bytes = readlinkat(walk->directory, name, walk->target, PATH_MAX);
	if (target_bytes < 0)
		return fail(walk);
	errno = ++walk->links > LINKS_MAX ? ELOOP : ENAMETOOLONG;
	if (walk->links > LINKS_MAX || (size_t)target_bytes + rest_bytes >= sizeof walk->rest)
		return fail(walk);
	memcpy(walk->target + target_bytes, walk->rest, rest_bytes + 1);
	strcpy(walk->rest, walk->target);
	if (walk->rest[0] == '/' && !enter(walk, "/"))
		return fail(walk);
	return POLICY_LOADED;
}

/* Takes the next name off what is still to go; "" at the end. *has_more: a slash follows it. */
static void take_name(struct walk *walk, char name[static NAME_MAX + 2], bool *has_more)
{
	const char *begin = walk->rest + strspn(walk->rest, "/");
	size_t length = strcspn(begin, "/");
	/* One that is too long stays so. */
	size_t kept = length <= NAME_MAX ? length : NAME_MAX + 1;

	memcpy(name, begin, kept);
	name[kept] = '\0';
	*has_more = begin[length] == '/';
	memmove(walk->rest, begin + length, strlen(begin + length) + 1);
}

/* Goes a name further. *fd is set once the file is open. */
static enum policy_load_result step(struct walk *walk, int *fd)
{
	char name[NAME_MAX + 2];
	struct stat status;
	bool has_more;

	take_name(walk, name, &has_more);
	if (name[0] == '\0')
		return refuse(walk, "is not a regular file");
	if (has_more && enter(walk, name))
		return POLICY_LOADED;
	if (has_more && errno != ENOTDIR && errno != ELOOP)
		return fail(walk);
	if (fstatat(walk->directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return fail(walk);
	if (S_ISLNK(status.st_mode))
		return follow(walk, name, &status);
	errno = ENOTDIR;
	if (has_more)
		return fail(walk);
	enum policy_load_result result = check_directory(walk);
	return result == POLICY_LOADED ? open_file(walk, name, &status, O_NOFOLLOW, fd) : result;
}

/* Whether the path is one of a descriptor, behind which there need not be a name. */
static bool names_a_descriptor(const char *path)
{
	static const char *const begins[] = {"/proc/self/fd/", "/dev/fd/"};

	for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
		size_t length = strlen(begins[i]);
		if (strncmp(path, begins[i], length) == 0 && path[length] != '\0' &&
		    path[length + strspn(path + length, "0123456789")] == '\0')
			return true;
	}
	return strcmp(path, "/dev/stdin") == 0;
}

static enum policy_load_result open_by_walking(struct walk *walk, int *fd)
{
	enum policy_load_result result = POLICY_LOADED;

	errno = walk->path[0] == '\0' ? ENOENT : ENAMETOOLONG;
	if (walk->path[0] == '\0' || strlen(walk->path) >= PATH_MAX)
		return fail(walk);
	strcpy(walk->rest, walk->path);
	if (!enter(walk, walk->path[0] == '/' ? "/" : "."))
		return fail(walk);
	while (result == POLICY_LOADED && *fd < 0)
		result = step(walk, fd);
	close(walk->directory);
	return result;
}

static enum policy_load_result open_descriptor(struct walk *walk, int *fd)
{
	struct stat status;

	if (stat(walk->path, &status) != 0)
		return fail(walk);
	return open_file(walk, walk->path, &status, 0, fd);
}

enum policy_load_result trusted_file_open(const char *path, struct arena *scratch, int *fd, struct policy_error *error)
{
	struct walk *walk = arena_allocate(scratch, sizeof *walk);

	*fd = -1;
	if (walk == NULL) {
		complain_of_memory(error, path);
		return POLICY_UNREADABLE;
	}
	walk->path = path;
	walk->error = error;
	walk->directory = AT_FDCWD;
	return names_a_descriptor(path) ? open_descriptor(walk, fd) : open_by_walking(walk, fd);
}
