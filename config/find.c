/* SPDX-License-Identifier: MIT */
#include "config/find.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOME_SUFFIX "/.config/tenacurl/policy.ini"
#define ETC_PATH    "/etc/tenacurl/policy.ini"

static bool join(char *path, size_t path_bytes, const char *start, const char *end)
{
	size_t start_length = strlen(start);
	size_t end_length = strlen(end);

	if (start_length + end_length >= path_bytes) {
		path[0] = '\0';
		return false;
	}
	memcpy(path, start, start_length);
	memcpy(path + start_length, end, end_length + 1);
	return true;
}

static bool take_named(const char *name, enum policy_found named, char *path, size_t path_bytes, enum policy_found *how)
{
	bool fits = join(path, path_bytes, name, "");

	*how = fits ? named : POLICY_FOUND_TOO_LONG;
	return fits;
}

/*
 * Whether HOME is one. Who gave up root often has root's still: what that user can't enter, and doesn't own, is
 * somebody else's, whose policy is none of this process's business.
 */
static bool is_own_home(const char *home, char *path, size_t path_bytes)
{
	int saved_errno = errno;
	struct stat status;
	bool is_open = join(path, path_bytes, home, "/.") && (stat(path, &status) == 0 || errno != EACCES);
	bool is_own = is_open || (stat(home, &status) == 0 && status.st_uid == geteuid());

	errno = saved_errno;
	return is_own;
}

bool policy_place_at(const struct policy_places *places, size_t index, char *path, size_t path_bytes,
                     enum policy_found *how)
{
	bool has_home = !places->is_root && places->home != NULL && places->home[0] == '/' &&
	                is_own_home(places->home, path, path_bytes) &&
	                join(path, path_bytes, places->home, HOME_SUFFIX);

	if (index == 0 && places->named_by_command != NULL)
		return take_named(places->named_by_command, POLICY_FOUND_BY_COMMAND, path, path_bytes, how);
	if (index == 0 && places->environment != NULL && places->environment[0] != '\0')
		return take_named(places->environment, POLICY_FOUND_BY_ENVIRONMENT, path, path_bytes, how);
	*how = POLICY_FOUND_IN_HOME;
	if (index == 0 && has_home)
		return true;
	*how = POLICY_FOUND_IN_ETC;
	if (index == (has_home ? 1 : 0) && join(path, path_bytes, ETC_PATH, ""))
		return true;
	*how = POLICY_FOUND_BUILT_IN;
	path[0] = '\0';
	return false;
}

bool policy_found_by_name(enum policy_found how)
{
	return how == POLICY_FOUND_BY_COMMAND || how == POLICY_FOUND_BY_ENVIRONMENT;
}

/*
 * Whether the path, or a part that it begins with, is a link that leads nowhere: somebody put it there. The path is
 * shortened meanwhile: there may be little stack.
 */
static bool is_broken_link(char *path)
{
	size_t length = strlen(path);
	struct stat status = {0};
	char *slash;

	while (lstat(path, &status) != 0 && (slash = strrchr(path, '/')) != NULL && slash != path)
		*slash = '\0';
	for (size_t i = 0; i < length; i++)
		if (path[i] == '\0')
			path[i] = '/';
	return S_ISLNK(status.st_mode);
}

bool policy_is_absent(char *path)
{
	int saved_errno = errno;
	struct stat status;
	bool is_absent = stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR) && !is_broken_link(path);

	errno = saved_errno;
	return is_absent;
}

bool policy_find(const struct policy_places *places, char *path, size_t path_bytes, enum policy_found *how)
{
	for (size_t i = 0; policy_place_at(places, i, path, path_bytes, how); i++)
		if (policy_found_by_name(*how) || !policy_is_absent(path))
			return true;
	path[0] = '\0';
	return false;
}

const char *policy_found_text(enum policy_found how)
{
	static const char texts[][48] = {
	    [POLICY_FOUND_BY_COMMAND] = "named by --policy",
	    [POLICY_FOUND_BY_ENVIRONMENT] = "named by TENACURL_POLICY",
	    [POLICY_FOUND_IN_HOME] = "the user's default",
	    [POLICY_FOUND_IN_ETC] = "the host's default",
	    [POLICY_FOUND_BUILT_IN] = "no policy file, so the built-in defaults",
	    [POLICY_FOUND_TOO_LONG] = "named by a path that is too long",
	};
	return texts[how];
}
