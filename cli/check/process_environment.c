/* SPDX-License-Identifier: MIT */
#include "cli/check/process_environment.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char DELETED[] = " (deleted)";

struct process_path process_path(pid_t id, const char *file)
{
	struct process_path path;
	snprintf(path.text, sizeof(path.text), "/proc/%ld/%s", (long)id, file);
	return path;
}

char *process_executable(pid_t id)
{
	char path[PATH_MAX + sizeof(DELETED)];
	ssize_t bytes = readlink(process_path(id, "exe").text, path, sizeof(path) - 1);
	if (bytes < 0)
		return NULL;
	path[bytes] = '\0';
	size_t kept = (size_t)bytes - (sizeof(DELETED) - 1);
	if ((size_t)bytes > sizeof(DELETED) - 1 && strcmp(path + kept, DELETED) == 0)
		path[kept] = '\0';
	return strdup(path);
}

static FILE *open_file(pid_t id, const char *file)
{
	return fopen(process_path(id, file).text, "re");
}

static void close_file(FILE *file)
{
	if (file)
		fclose(file);
}

char *process_name(pid_t id)
{
	char *name = NULL;
	size_t room = 0;
	FILE *file = open_file(id, "comm");
	bool is_read = file && getdelim(&name, &room, '\n', file) > 0;
	close_file(file);
	if (is_read) {
		name[strcspn(name, "\n")] = '\0';
		return name;
	}
	free(name);
	return NULL;
}

char *process_variable(pid_t id, const char *name)
{
	char *value = NULL, *variable = NULL;
	size_t room = 0, name_bytes = strlen(name);
	FILE *file = open_file(id, "environ");
	while (file && !value && getdelim(&variable, &room, '\0', file) > 0)
		if (strncmp(variable, name, name_bytes) == 0 && variable[name_bytes] == '=')
			value = strdup(variable + name_bytes + 1);
	free(variable);
	close_file(file);
	return value;
}

/* Returns the argument, or a path to the file that it names from the working directory of the process. */
static char *argument_of(pid_t id, const char *argument)
{
	char path[PATH_MAX];
	struct stat file;
	int bytes = snprintf(path, sizeof(path), "%s/%s", process_path(id, "cwd").text, argument);
	bool is_relative = argument[0] && argument[0] != '/' && argument[0] != '-';
	if (is_relative && bytes < (int)sizeof(path) && stat(path, &file) == 0 && S_ISREG(file.st_mode))
		return strdup(path);
	return strdup(argument);
}

char **process_arguments(pid_t id)
{
	char *word = NULL;
	size_t room = 0, count = 0;
	FILE *file = open_file(id, "cmdline");
	char **arguments = file ? calloc(1, sizeof(*arguments)) : NULL;
	if (arguments && getdelim(&word, &room, '\0', file) > 0)
		while (getdelim(&word, &room, '\0', file) > 0) {
			char **larger = reallocarray(arguments, count + 2, sizeof(*larger));
			if (!larger)
				break;
			arguments = larger;
			arguments[count] = argument_of(id, word);
			arguments[++count] = NULL;
		}
	free(word);
	close_file(file);
	return arguments;
}

bool process_is_secure(pid_t id)
{
	ElfW(auxv_t) entry;
	bool secure = false;
	FILE *file = open_file(id, "auxv");
	while (file && fread(&entry, sizeof(entry), 1, file) == 1)
		secure |= entry.a_type == AT_SECURE && entry.a_un.a_val != 0;
	close_file(file);
	return secure;
}

bool process_has_other_root(pid_t id)
{
	struct stat ours, theirs;
	return stat("/", &ours) == 0 && stat(process_path(id, "root").text, &theirs) == 0 &&
	       (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino);
}
