/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "interpose/host/mounts.h"

#define TABLE_PATH      "/proc/self/mountinfo"
#define TABLE_BYTES     (16 * 1024) /* at first; it grows */
#define TABLE_BYTES_MAX (4 * 1024 * 1024)
#define LINKS_MAX       40

/* Those of a host's own disks and memory. What isn't listed may be kept waiting by somebody, so it counts as remote. */
static const char local_types[][10] = {
    "bcachefs", "btrfs",   "cramfs",   "devtmpfs", "erofs", "exfat", "ext2",   "ext3",  "ext4",    "f2fs",
    "hfs",      "hfsplus", "iso9660",  "jffs2",    "jfs",   "minix", "nilfs2", "ntfs3", "overlay", "ramfs",
    "reiserfs", "rootfs",  "squashfs", "tmpfs",    "ubifs", "udf",   "vfat",   "xfs",   "zfs",
};

/* A way to a file, and as far as it is known to be free of links. */
struct way {
	char known[2 * PATH_MAX]; /* "" is the root */
	char rest[2 * PATH_MAX];
	char target[PATH_MAX];
};

/* Returns NULL, with errno 0 if the table needs more room. */
static char *read_into(size_t room_bytes)
{
	char *table = malloc(room_bytes);
	int fd = table ? open(TABLE_PATH, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
	ssize_t bytes = fd < 0 ? -1 : file_read(fd, table, room_bytes);
	int saved_errno = bytes < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	if (bytes >= 0 && (size_t)bytes < room_bytes) {
		table[bytes] = '\0';
		return table;
	}
	free(table);
	errno = saved_errno;
	return NULL;
}

char *mounts_read(void)
{
	for (size_t room_bytes = TABLE_BYTES; room_bytes <= TABLE_BYTES_MAX; room_bytes *= 4) {
		char *table = read_into(room_bytes);
		if (table || errno != 0)
			return table;
	}
	errno = EFBIG;
	return NULL;
}

/* The line's field of that number, counted from 0. */
static const char *field_at(const char *line, int number)
{
	while (number-- > 0) {
		line += strcspn(line, " \n");
		line += *line == ' ';
	}
	return line;
}

/* A character of a mount point: blanks and backslashes are written as three octal digits. */
static char take_character(const char **at)
{
	const char *text = *at;
	bool is_escaped = text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' && text[2] <= '7' &&
	                  text[3] >= '0' && text[3] <= '7';
	*at += is_escaped ? 4 : 1;
	if (!is_escaped)
		return text[0];
	return (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
}

/* How much of the path the mount point is; -1: the path isn't below it. */
static ptrdiff_t covered_bytes(const char *mount_point, const char *path)
{
	const char *at = path;
	if (mount_point[0] != '/')
		return -1;
	if (mount_point[1] == ' ' || mount_point[1] == '\n')
		return 0;
	while (*mount_point && *mount_point != ' ' && *mount_point != '\n')
		if (take_character(&mount_point) != *at++)
			return -1;
	return *at == '\0' || *at == '/' ? at - path : -1;
}

static bool is_local_type(const char *type)
{
	size_t bytes = strcspn(type, " \n");
	for (size_t i = 0; i < sizeof(local_types) / sizeof(local_types[0]); i++)
		if (strlen(local_types[i]) == bytes && memcmp(type, local_types[i], bytes) == 0)
			return true;
	return false;
}

/* The file system that a path without links is on: of the mounts above it the nearest, of equals the one on top. */
static enum mounts_distance find_mount(const char *table, const char *path)
{
	enum mounts_distance found = MOUNTS_UNKNOWN;
	ptrdiff_t most_bytes = 0;
	for (const char *line = table; *line; line += *line == '\n') {
		const char *next = line + strcspn(line, "\n");
		ptrdiff_t bytes = covered_bytes(field_at(line, 4), path);
		const char *separator = strstr(line, " - ");
		if (bytes >= most_bytes && separator && separator < next) {
			found = is_local_type(separator + 3) ? MOUNTS_LOCAL : MOUNTS_REMOTE;
			most_bytes = bytes;
		}
		line = next;
	}
	return found;
}

static void leave(char *known)
{
	char *slash = strrchr(known, '/');
	if (slash)
		*slash = '\0';
}

/* Puts a link's target before what is still to go. Returns false if it doesn't fit. */
static bool follow(struct way *way, size_t target_bytes)
{
	size_t rest_bytes = strlen(way->rest);
	if (target_bytes + rest_bytes >= sizeof(way->rest))
		return false;
	memmove(way->rest + target_bytes, way->rest, rest_bytes + 1);
	memcpy(way->rest, way->target, target_bytes);
	if (way->target[0] == '/')
		way->known[0] = '\0';
	else
		leave(way->known);
	return true;
}

/* Takes the next name. Returns false at the end. */
static bool advance(struct way *way)
{
	const char *name = way->rest + strspn(way->rest, "/");
	size_t bytes = strcspn(name, "/"), known_bytes = strlen(way->known);
	if (bytes == 0 || known_bytes + 1 + bytes >= PATH_MAX)
		return false;
	if (bytes == 2 && name[0] == '.' && name[1] == '.') {
		leave(way->known);
	} else if (bytes != 1 || name[0] != '.') {
		way->known[known_bytes] = '/';
		memcpy(way->known + known_bytes + 1, name, bytes);
		way->known[known_bytes + 1 + bytes] = '\0';
	}
	memmove(way->rest, name + bytes, strlen(name + bytes) + 1);
	return true;
}

static enum mounts_distance go(const char *table, struct way *way)
{
	enum mounts_distance distance = find_mount(table, way->known);
	int links = 0;
	while (distance == MOUNTS_LOCAL && advance(way)) {
		distance = find_mount(table, way->known);
		if (distance != MOUNTS_LOCAL)
			break;
		ssize_t target_bytes = readlink(way->known[0] ? way->known : "/", way->target, sizeof(way->target));
		if (target_bytes >= 0 && (++links > LINKS_MAX || !follow(way, (size_t)target_bytes)))
			break;
		if (target_bytes < 0 && errno != EINVAL)
			break; /* here whoever looks for the file ends, too */
	}
	return distance;
}

enum mounts_distance mounts_find(const char *table, const char *path)
{
	struct way *way = path[0] == '/' && strlen(path) < PATH_MAX ? malloc(sizeof(*way)) : NULL;
	if (!way)
		return MOUNTS_UNKNOWN;
	way->known[0] = '\0';
	strcpy(way->rest, path);
	enum mounts_distance distance = go(table, way);
	free(way);
	return distance;
}
