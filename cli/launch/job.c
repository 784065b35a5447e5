/* SPDX-License-Identifier: MIT */
#include "cli/launch/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/script.h"
#include "cli/launch/follow.h"

/* The words of a command line with a NUL after each, to free(); NULL without memory. */
static char *join_words(const char *name, char **arguments, size_t *bytes)
{
	*bytes = strlen(name) + 1;
	for (char **at = arguments; *at; at++)
		*bytes += strlen(*at) + 1;
	char *words = malloc(*bytes), *end = words;
	if (!words)
		return NULL;
	end = stpcpy(end, name) + 1;
	for (char **at = arguments; *at; at++)
		end = stpcpy(end, *at) + 1;
	return words;
}

/*
 * The script that an interpreter was told to run ("bash -e import.sh"), to free(); NULL: none. Only the name of a file
 * that is there is told: any other word may be a password.
 */
static char *script_of(const struct launch *launch)
{
	const char *name = basename(launch->path);
	const struct interpreter *interpreter = interpreter_find(name);
	size_t bytes;
	char *words = interpreter ? join_words(name, launch->arguments, &bytes) : NULL;
	if (!words)
		return NULL;
	const char *file = script_find(interpreter, words, bytes).file;
	char *script = file && launch_is_file(file) ? strdup(basename(file)) : NULL;
	free(words);
	return script;
}

char *job_name(char **command)
{
	const char *told = getenv("TENACURL_JOB");
	struct launch launch;
	char *name = NULL;
	if (told && *told)
		return NULL;
	bool found = launch_follow(command, &launch);
	if (found && launch.script)
		name = strdup(basename(launch.script));
	else if (found)
		name = script_of(&launch);
	if (!name)
		name = strdup(basename(found ? launch.path : command[0]));
	launch_free(&launch);
	if (name && !*name) { /* of "" and "folder/", which don't start */
		free(name);
		name = NULL;
	}
	return name;
}
