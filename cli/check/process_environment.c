/* SPDX-License-Identifier: MIT */
#include "cli/check/process_environment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char DELETED[] = " (deleted)";

struct process_path {
	char text[64];
};

static struct process_path path_of(pid_t id, const char *file)
{
	struct process_path path;
	snprintf(path.text, sizeof(path.text), "/proc/%ld/%s", (long)id, file);
	return path;
}

char *process_executable(pid_t id)
{
	char path[PATH_MAX + sizeof(DELETED)];
	ssize_t bytes = readlink(path_of(id, "exe").text, path, sizeof(path) - 1);
	if (bytes < 0)
		return NULL;
	path[bytes] = '\0';
	size_t kept = (size_t)bytes - (sizeof(DELETED) - 1);
	if ((size_t)bytes > sizeof(DELETED) - 1 && strcmp(path + kept, DELETED) == 0)
		path[kept] = '\0';
	return strdup(path);
}

/* Returns the content of a file of /proc, with a 0 behind it; NULL if it can't be read. */
static char *read_file(const char *path, size_t *byte_count)
{
	char *text = NULL;
	size_t used = 0, room = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	while (true) {
		if (room - used < 2) {
			char *larger = realloc(text, room = room ? 2 * room : 4096);
			if (!larger)
				break;
			text = larger;
		}
		ssize_t got = read(fd, text + used, room - used - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	close(fd);
	if (text)
		text[used] = '\0';
	*byte_count = used;
	return text;
}

char *process_name(pid_t id)
{
	size_t bytes;
	char *name = read_file(path_of(id, "comm").text, &bytes);
	if (name)
		name[strcspn(name, "\n")] = '\0';
	return name;
}

char *process_variable(pid_t id, const char *name)
{
	size_t byte_count, name_bytes = strlen(name);
	char *value = NULL, *variables = read_file(path_of(id, "environ").text, &byte_count);
	for (size_t at = 0; variables && at < byte_count && !value; at += strlen(variables + at) + 1)
		if (strncmp(variables + at, name, name_bytes) == 0 && variables[at + name_bytes] == '=')
			value = strdup(variables + at + name_bytes + 1);
	free(variables);
	return value;
}

/* Returns the argument, or a path to the file that it names from the working directory of the process. */
static char *argument_of(pid_t id, const char *argument)
{
	char path[PATH_MAX];
	struct stat file;
	int bytes = snprintf(path, sizeof(path), "%s/%s", path_of(id, "cwd").text, argument);
	bool is_relative = argument[0] && argument[0] != '/' && argument[0] != '-';
	if (is_relative && bytes < (int)sizeof(path) && stat(path, &file) == 0 && S_ISREG(file.st_mode))
		return strdup(path);
	return strdup(argument);
}

char **process_arguments(pid_t id)
{
	size_t byte_count = 0, count = 0;
	char *words = read_file(path_of(id, "cmdline").text, &byte_count);
	char **arguments = words ? calloc(byte_count + 1, sizeof(*arguments)) : NULL;
	size_t at = words ? strlen(words) + 1 : 0;
	for (; arguments && at < byte_count; at += strlen(words + at) + 1) {
		arguments[count] = argument_of(id, words + at);
		if (!arguments[count++])
			break;
	}
	free(words);
	return arguments;
}

void process_arguments_free(char **arguments)
{
	for (size_t i = 0; arguments && arguments[i]; i++)
		free(arguments[i]);
	free(arguments);
}

bool process_is_secure(pid_t id)
{
	size_t byte_count;
	char *bytes = read_file(path_of(id, "auxv").text, &byte_count);
	bool secure = false;
	for (size_t at = 0; bytes && at + sizeof(ElfW(auxv_t)) <= byte_count; at += sizeof(ElfW(auxv_t))) {
		ElfW(auxv_t) entry;
		memcpy(&entry, bytes + at, sizeof(entry));
		secure |= entry.a_type == AT_SECURE && entry.a_un.a_val != 0;
	}
	free(bytes);
	return secure;
}

bool process_has_other_root(pid_t id)
{
	struct stat ours, theirs;
	return stat("/", &ours) == 0 && stat(path_of(id, "root").text, &theirs) == 0 &&
	       (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino);
}
