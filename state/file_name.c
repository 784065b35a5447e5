/* SPDX-License-Identifier: MIT */
/*
 * A unit with ProcSubset=pid can't see /proc/sys, and so not the boot's id. It needs none on a file system in memory,
 * which ends with its boot: the file that is there is the right one. If there is none, it makes one by a name that has
 * zeros for the id. Who knows the id gives that one its proper name instead of making another.
 */
#include "state/file_name.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/boot_id.h"
#include "state/directory.h"
#include "state/layout.h"

#define NAME_PREFIX "state-"
#define TMPFS_TYPE  0x01021994u
#define RAMFS_TYPE  0x858458F6u

static void put_name(char name[static STATE_FILE_NAME_BYTES], const char *boot_id)
{
	snprintf(name, STATE_FILE_NAME_BYTES, NAME_PREFIX "%d-%.*s", STATE_LAYOUT_VERSION, BOOT_ID_BYTES, boot_id);
}

static bool is_in_memory(int directory)
{
	struct statfs file_system;
	if (fstatfs(directory, &file_system) != 0)
		return false;
	return (uint32_t)file_system.f_type == TMPFS_TYPE || (uint32_t)file_system.f_type == RAMFS_TYPE;
}

const char *state_file_name_boot_id(const char *name)
{
	size_t bytes = strlen(name);
	if (strncmp(name, NAME_PREFIX, strlen(NAME_PREFIX)) != 0 || bytes < strlen(NAME_PREFIX) + BOOT_ID_BYTES)
		return NULL;
	const char *boot_id = name + bytes - BOOT_ID_BYTES;
	return boot_id_begins(boot_id) ? boot_id : NULL;
}

bool state_file_name_unknown(int directory, char name[static STATE_FILE_NAME_BYTES])
{
	put_name(name, BOOT_ID_UNKNOWN);
	return is_in_memory(directory);
}

/* Of this layout, with a proper id. */
static bool is_proper(const char *file_name)
{
	char ours[STATE_FILE_NAME_BYTES];
	const char *boot_id = state_file_name_boot_id(file_name);
	if (!boot_id || strcmp(boot_id, BOOT_ID_UNKNOWN) == 0)
		return false;
	put_name(ours, boot_id);
	return strcmp(ours, file_name) == 0;
}

/* Leaves `name` as it is where there is none. Returns false if that can't be told. */
static bool find_proper(int directory, char name[static STATE_FILE_NAME_BYTES])
{
	DIR *listing = state_list_directory(directory);
	const struct dirent *file;
	if (!listing)
		return false;
	while ((file = readdir(listing)))
		if (is_proper(file->d_name))
			put_name(name, state_file_name_boot_id(file->d_name));
	closedir(listing);
	return true;
}

bool state_file_name(const struct state_request *request, int directory, char name[static STATE_FILE_NAME_BYTES])
{
	char id[BOOT_ID_BYTES + 1];
	const char *boot_id = request->boot_id;
	if (!boot_id)
		boot_id = boot_id_read(id) ? id : "";
	if (!boot_id_begins(boot_id))
		return state_file_name_unknown(directory, name) && find_proper(directory, name);
	put_name(name, boot_id);
	return true;
}
