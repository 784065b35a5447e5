/* SPDX-License-Identifier: MIT */
/*
 * The dynamic linker prints to the program's stderr, for each process, when it can't load a preloaded object. So
 * whatever could make it fail is looked at here, once, before anything is started.
 */
#include "cli/elf/object.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "interpose/bind/bind.h"

/* The dynamic linker puts the name of its own library directory here, another for each architecture (ld.so(8)). */
#define BY_ARCHITECTURE "multiarch/$LIB/"

/* Puts the directory of this executable into `out`. */
static bool own_directory(char out[static PATH_MAX])
{
	ssize_t bytes = readlink("/proc/self/exe", out, PATH_MAX - 1);
	if (bytes <= 0)
		return false;
	out[bytes] = '\0';
	char *slash = strrchr(out, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

/* Returns the resolved path of the object in directory/below, NULL if there is none. */
static char *object_in(const char *directory, const char *below)
{
	char path[PATH_MAX + 64];
	size_t directory_bytes = strlen(directory), below_bytes = strlen(below);
	if (directory_bytes + below_bytes >= sizeof(path))
		return NULL;
	memcpy(path, directory, directory_bytes);
	memcpy(path + directory_bytes, below, below_bytes + 1);
	return realpath(path, NULL);
}

/* Whether the dynamic linker would put something else in place of a part of the path (glibc's elf/dl-load.c, is_dst()).
 */
static bool is_expanded(const char *path)
{
	static const char *const names[] = {"LIB", "ORIGIN", "PLATFORM"};
	while ((path = strchr(path, '$')) != NULL) {
		path += path[1] == '{' ? 2 : 1;
		size_t bytes = strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_");
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (strlen(names[i]) == bytes && memcmp(path, names[i], bytes) == 0)
				return true;
	}
	return false;
}

static bool is_loadable(const char *path, struct say_error *error)
{
	struct stat file;
	struct statvfs file_system;
	if (strpbrk(path, " :\t\n"))
		return say_refuse(error, "the dynamic linker can't preload '%s': its path has a blank or a colon in it",
		                  path);
	if (is_expanded(path))
		return say_refuse(
		    error, "the dynamic linker can't preload '%s': it takes a part of its path for a variable", path);
	if (stat(path, &file) != 0)
		return say_refuse(error, "can't read '%s': %s", path, strerror(errno));
	if (!S_ISREG(file.st_mode))
		return say_refuse(error, "can't read '%s': not a regular file", path);
	if (access(path, R_OK) != 0)
		return say_refuse(error, "can't read '%s': %s", path, strerror(errno));
	if (statvfs(path, &file_system) == 0 && (file_system.f_flag & ST_NOEXEC))
		return say_refuse(error, "the dynamic linker can't preload '%s': its file system is mounted noexec",
		                  path);
	return true;
}

char *object_find(struct say_error *error)
{
	char directory[PATH_MAX];
	char *found = NULL;
	if (own_directory(directory)) {
		found = object_in(directory, "/" PRELOAD_LIBRARY);
		if (!found)
			found = object_in(directory, "/../lib/tenacurl/" PRELOAD_LIBRARY);
	}
	if (!found)
		found = object_in(TENACURL_LIBDIR, "/" PRELOAD_LIBRARY);
	if (!found) {
		say_refuse(error, "can't find " PRELOAD_LIBRARY " beside this program or in " TENACURL_LIBDIR);
		return NULL;
	}
	if (!is_loadable(found, error)) {
		free(found);
		return NULL;
	}
	return found;
}

char *object_beside(const char *object, const char *name)
{
	char *out = NULL;
	int directory_bytes = (int)(strrchr(object, '/') - object) + 1;
	return asprintf(&out, "%.*s%s", directory_bytes, object, name) < 0 ? NULL : out;
}

char *object_name_by_architecture(const char *object)
{
	struct stat directory;
	char *multiarch = object_beside(object, "multiarch");
	bool is_there = multiarch && stat(multiarch, &directory) == 0 && S_ISDIR(directory.st_mode);
	free(multiarch);
	return is_there ? object_beside(object, BY_ARCHITECTURE PRELOAD_LIBRARY) : NULL;
}

char *object_find_binder(const char *real_object, const char *object)
{
	struct say_error ignored;
	char *binder = object_beside(real_object, BIND_LIBRARY);
	bool is_usable = binder && is_loadable(binder, &ignored);
	free(binder);
	return is_usable ? object_beside(object, BIND_LIBRARY) : NULL;
}
