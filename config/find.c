/* SPDX-License-Identifier: MIT */
#include "config/find.h"

#include <errno.h>
#include <string.h>
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

static bool exists(const char *path)
{
	int saved_errno = errno;
	bool there = access(path, F_OK) == 0;

	errno = saved_errno;
	return there;
}

static bool take_named(const char *name, enum policy_found named, char *path, size_t path_bytes, enum policy_found *how)
{
	bool fits = join(path, path_bytes, name, "");

	*how = fits ? named : POLICY_FOUND_TOO_LONG;
	return fits;
}

bool policy_find(const struct policy_places *places, char *path, size_t path_bytes, enum policy_found *how)
{
	if (places->named_by_command != NULL)
		return take_named(places->named_by_command, POLICY_FOUND_BY_COMMAND, path, path_bytes, how);
	if (places->environment != NULL && places->environment[0] != '\0')
		return take_named(places->environment, POLICY_FOUND_BY_ENVIRONMENT, path, path_bytes, how);

	*how = POLICY_FOUND_IN_HOME;
	if (!places->is_root && places->home != NULL && places->home[0] == '/' &&
	    join(path, path_bytes, places->home, HOME_SUFFIX) && exists(path))
		return true;
	*how = POLICY_FOUND_IN_ETC;
	if (join(path, path_bytes, ETC_PATH, "") && exists(path))
		return true;
	*how = POLICY_FOUND_BUILT_IN;
	path[0] = '\0';
	return false;
}

const char *policy_found_text(enum policy_found how)
{
	static const char *const texts[] = {
	    [POLICY_FOUND_BY_COMMAND] = "named by --policy",
	    [POLICY_FOUND_BY_ENVIRONMENT] = "named by TENACURL_POLICY",
	    [POLICY_FOUND_IN_HOME] = "the user's default",
	    [POLICY_FOUND_IN_ETC] = "the host's default",
	    [POLICY_FOUND_BUILT_IN] = "no policy file, so the built-in defaults",
	    [POLICY_FOUND_TOO_LONG] = "named by a path that is too long",
	};
	return texts[how];
}
