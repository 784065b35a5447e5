/* SPDX-License-Identifier: MIT */
#include "config/owner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"

#define USUAL_OVERFLOW 65534
#define MAP_BYTES      512

/* The kernel's files for one kind of id. */
struct id_files {
	const char *overflow; /* the id that stands for those that aren't mapped */
	const char *map;      /* a line for each range: first id inside, first id outside, count */
};

static const struct id_files user_files = {"/proc/sys/kernel/overflowuid", "/proc/self/uid_map"};
static const struct id_files group_files = {"/proc/sys/kernel/overflowgid", "/proc/self/gid_map"};

/* Returns the length of what was read, -1 if it can't be read or may not be all. */
static ssize_t read_text(const char *path, char text[static MAP_BYTES])
{
	ssize_t length = proc_read(path, text, MAP_BYTES);

	return length < MAP_BYTES - 1 ? length : -1;
}

static bool is_overflow(unsigned long long id, const char *path)
{
	char text[MAP_BYTES];

	return id == (read_text(path, text) > 0 ? strtoull(text, NULL, 10) : USUAL_OVERFLOW);
}

/* Whether 0 is certainly none of the map's ids. */
static bool lacks_zero(const char *path)
{
	char text[MAP_BYTES];

	if (read_text(path, text) < 0)
		return false;
	for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (*line != '\0' && strtoull(line, NULL, 10) == 0)
			return false;
	}
	return true;
}

static bool stands_for_root(unsigned long id, const struct id_files *files)
{
	int saved_errno = errno;
	bool stands = is_overflow(id, files->overflow) && lacks_zero(files->map);

	errno = saved_errno;
	return stands;
}

bool owner_is_trusted(uid_t owner)
{
	return owner == 0 || owner == geteuid() || stands_for_root(owner, &user_files);
}

bool owner_is_roots_group(gid_t group)
{
	return group == 0 || stands_for_root(group, &group_files);
}
