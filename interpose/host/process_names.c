/* SPDX-License-Identifier: MIT */

/* What this process is called, and what it runs. */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base_name.h"
#include "base/hash.h"
#include "base/proc.h"
#include "base/script.h"
#include "interpose/host/process.h"

#define NAME_BYTES  256
#define PATH_BYTES  4096
#define WORDS_BYTES (64 * 1024) /* of a command line; what is behind them isn't looked at */

/* On the heap. */
struct room {
	char path[PATH_BYTES], directory[PATH_BYTES], words[WORDS_BYTES];
};

static const char DELETED[] = " (deleted)"; /* the kernel's word for an executable that was replaced meanwhile */

static char executable_name[NAME_BYTES];
static char script_name[NAME_BYTES]; /* of a file that exists, or a Python module */
static char told_name[NAME_BYTES];
static const char *names[PROCESS_NAMES];
static uint64_t identity = HASH_BASIS;
static bool runs_scripts;
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

static void keep_base_name(char name[static NAME_BYTES], const char *path)
{
	const char *base = base_name(path);
	size_t bytes = strnlen(base, NAME_BYTES - 1);
	memcpy(name, base, bytes);
	name[bytes] = '\0';
}

/* What goes to logs and terminals: names of files may hold anything but a slash. */
static void keep_told_name(const char *name)
{
	size_t bytes = strlen(name);
	for (size_t i = 0; i < bytes; i++)
		told_name[i] = (unsigned char)name[i] < 0x20 || name[i] == 0x7f ? '?' : name[i];
	told_name[bytes] = '\0';
}

/* Writes the path of `file` as seen from `directory`. Returns false if it doesn't fit. */
static bool join_path(const char *directory, const char *file, char path[static PATH_BYTES])
{
	while (file[0] == '.' && file[1] == '/')
		file += 2;
	int bytes = file[0] == '/' ? snprintf(path, PATH_BYTES, "%s", file)
	                           : snprintf(path, PATH_BYTES, "%s/%s", directory, file);
	return bytes > 0 && bytes < PATH_BYTES && base_name(file)[0] != '\0';
}

static bool is_file_in(const char *directory, const char *file, char path[static PATH_BYTES])
{
	struct stat status;
	return join_path(directory, file, path) && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Where a relative name counts from: the program may have gone elsewhere since, but its shell told it where it began.
 */
static bool is_file(const char *file, char path[static PATH_BYTES], char directory[static PATH_BYTES])
{
	if (getcwd(directory, PATH_BYTES) && is_file_in(directory, file, path))
		return true;
	return process_environment()->pwd[0] == '/' && is_file_in(process_environment()->pwd, file, path);
}

/* How much of what was read are whole words. */
static size_t whole_words_bytes(const char *words, size_t bytes)
{
	if (bytes == WORDS_BYTES - 1)
		while (bytes > 0 && words[bytes - 1] != '\0')
			bytes--;
	return bytes;
}

/*
 * A word of the command line is told only if a file of that name is there: anything else may be a password. What is run
 * is known by the script's path, by the module, or else by all words.
 */
static void find_script(const struct interpreter *interpreter, struct room *room)
{
	ssize_t count_bytes = proc_read("/proc/self/cmdline", room->words, WORDS_BYTES);
	size_t bytes = count_bytes > 0 ? (size_t)count_bytes : 0;
	struct script_word found = script_find(interpreter, room->words, whole_words_bytes(room->words, bytes));

	if (found.file && is_file(found.file, room->path, room->directory)) {
		keep_base_name(script_name, found.file);
		keep_told_name(script_name);
		identity = hash_text(identity, room->path);
	} else if (found.module) {
		keep_base_name(script_name, found.module);
		identity = hash_text(identity, found.module);
	} else {
		identity = hash_bytes(identity, room->words, bytes);
	}
}

/* Without /proc: what the program was started as. */
static void read_executable(char path[static PATH_BYTES])
{
	ssize_t count_bytes = readlink("/proc/self/exe", path, PATH_BYTES - 1);
	if (count_bytes <= 0) {
		const char *started = (const char *)getauxval(AT_EXECFN);
		snprintf(path, PATH_BYTES, "%s", started ? started : "");
		return;
	}
	path[count_bytes] = '\0';
	char *mark = strrchr(path, ' ');
	if (mark && strcmp(mark, DELETED) == 0)
		*mark = '\0';
}

static void find_executable(char path[static PATH_BYTES])
{
	read_executable(path);
	keep_base_name(executable_name, path);
	keep_told_name(executable_name);
	identity = hash_text(identity, path);
}

static void find_names(void)
{
	int saved_errno = errno;
	struct room *room = malloc(sizeof(*room));
	if (room) {
		find_executable(room->path);
		const struct interpreter *interpreter = interpreter_find(executable_name);
		runs_scripts = interpreter != NULL;
		if (interpreter)
			find_script(interpreter, room);
	}
	free(room);
	names[0] = process_environment()->job[0] ? process_environment()->job : NULL;
	names[1] = script_name[0] ? script_name : NULL;
	names[2] = executable_name[0] ? executable_name : NULL;
	errno = saved_errno;
}

const char *const *process_names(void)
{
	pthread_once(&names_once, find_names);
	return names;
}

bool process_is_interpreter(void)
{
	process_names();
	return runs_scripts;
}

uint64_t process_identity(void)
{
	process_names();
	return identity;
}

const char *process_program(void)
{
	process_names();
	return told_name[0] ? told_name : "?";
}
