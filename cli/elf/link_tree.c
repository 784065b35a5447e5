/* SPDX-License-Identifier: MIT */
/*
 * What answers is the interpreter that the program names, so it is asked only if nobody but root could have put it
 * there (what this user unpacked is this user's, whoever made it); and it may still be of any kind: time and size of
 * its answer are bounded.
 */
#include "cli/elf/link_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/elf/read.h"

#define ANSWER_BYTES_MAX (1 << 20)
#define ANSWER_MS_MAX    3000
#define ENDING_MS_MAX    1000
#define OBJECTS_MAX      8192

/* What the dynamic linker has to say. */
struct answer {
	char *text;
	size_t bytes;
};

static bool is_trusted(const char *interpreter)
{
	struct stat status;
	/* Any other program of root's would be run, too, and not know what --list is. */
	return interpreter && interpreter[0] == '/' && fnmatch("ld*.so*", strrchr(interpreter, '/') + 1, 0) == 0 &&
	       stat(interpreter, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == 0 &&
	       !(status.st_mode & (S_IWGRP | S_IWOTH)) && !(status.st_mode & (S_ISUID | S_ISGID)) &&
	       access(interpreter, X_OK) == 0;
}

/* Reads until the other end is closed. Returns false if that takes too long or is too much. */
static bool read_answer(int fd, struct answer *answer)
{
	int64_t end_ms = clock_ms() + ANSWER_MS_MAX;
	answer->text = malloc(ANSWER_BYTES_MAX + 1);
	if (!answer->text)
		return false;
	while (answer->bytes < ANSWER_BYTES_MAX) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		int64_t left_ms = end_ms - clock_ms();
		int ready = left_ms > 0 ? poll(&wait, 1, (int)left_ms) : 0;
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return false;
		ssize_t got = read(fd, answer->text + answer->bytes, ANSWER_BYTES_MAX - answer->bytes);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		answer->bytes += (size_t)got;
	}
	answer->text[answer->bytes] = '\0';
	return answer->bytes < ANSWER_BYTES_MAX;
}

/* Starts the child in a group of its own, with nothing of ours open but the pipe. Returns its id, -1: none. */
static pid_t start(char **arguments, char **environment, int output)
{
	pid_t child = -1;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	sigemptyset(&none);
	if (posix_spawn_file_actions_init(&files) != 0)
		return -1;
	if (posix_spawnattr_init(&attributes) != 0) {
		posix_spawn_file_actions_destroy(&files);
		return -1;
	}
	bool ready = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
	             posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO) == 0 &&
	             posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO) == 0 &&
	             posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1) == 0 &&
	             posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK) == 0 &&
	             posix_spawnattr_setsigmask(&attributes, &none) == 0;
	if (!ready || posix_spawn(&child, arguments[0], &files, &attributes, arguments, environment) != 0)
		child = -1;
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return child;
}

/*
 * Ends the child and what it started, and waits for it. Whoever has closed the pipe has no more to say, and may have a
 * hundred years to go. Returns whether it had ended by itself, or was about to.
 */
static bool finish(pid_t child, bool in_time)
{
	int status;
	int64_t end_ms = clock_ms() + (in_time ? ENDING_MS_MAX : 0);
	pid_t ended;
	while ((ended = waitpid(child, &status, WNOHANG)) == 0 && clock_ms() < end_ms)
		nanosleep(&(const struct timespec){.tv_nsec = 1000000}, NULL);
	if (ended == child)
		return in_time && WIFEXITED(status);
	kill(-child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return false;
}

/* The variables that say where libraries come from; all others are the program's business. */
static char **make_environment(const char *preload)
{
	const char *library_path = getenv("LD_LIBRARY_PATH");
	char **environment = calloc(4, sizeof(*environment));
	size_t count = 0;
	if (!environment)
		return NULL;
	environment[count++] = strdup("LC_ALL=C");
	if (library_path && asprintf(&environment[count++], "LD_LIBRARY_PATH=%s", library_path) < 0)
		environment[--count] = NULL;
	if (preload && asprintf(&environment[count++], "LD_PRELOAD=%s", preload) < 0)
		environment[--count] = NULL;
	return environment;
}

static void free_texts(char **texts)
{
	for (size_t i = 0; texts && texts[i]; i++)
		free(texts[i]);
	free(texts);
}

/* Asks the interpreter which objects it would map for the program. */
static bool ask(const char *interpreter, const char *path, const char *preload, struct answer *answer)
{
	static char list[] = "--list";
	char named[PATH_MAX + 2];
	int ends[2];
	bool answered = false;
	/* Without a slash it would be looked up as a library. */
	if (snprintf(named, sizeof(named), "%s%s", strchr(path, '/') ? "" : "./", path) >= (int)sizeof(named))
		return false;
	char **environment = make_environment(preload);
	if (!environment || pipe2(ends, O_CLOEXEC) != 0)
		goto end;
	char *arguments[] = {(char *)(uintptr_t)interpreter, list, named, NULL};
	pid_t child = start(arguments, environment, ends[1]);
	close(ends[1]);
	if (child > 0) {
		bool in_time = read_answer(ends[0], answer);
		answered = finish(child, in_time);
	}
	close(ends[0]);
end:
	free_texts(environment);
	return answered;
}

static bool add_missing(struct link_tree *tree, char *name)
{
	/* It is printed, and the program's file may say anything. */
	for (char *at = name; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	if (!tree->missing)
		tree->missing = strdup(name);
	return tree->missing != NULL;
}

/*
 * The program itself may have a sanitizer linked in, which its symbols tell. A library of the system doesn't hide a
 * libcurl inside, since distributions don't build that way; and to look through all of them can take seconds.
 */
static enum elf_part part_of(const char *path, bool is_program, bool with_symbols)
{
	if (!with_symbols)
		return is_program ? ELF_PART_SYMBOLS : ELF_PART_LAYOUT;
	bool of_system = strncmp(path, "/lib", 4) == 0 || strncmp(path, "/usr/lib", 8) == 0;
	return of_system && !is_program ? ELF_PART_SYMBOLS : ELF_PART_ALL;
}

/* Reads one more object into the tree. One that can't be read is no part of it. */
static bool add_object(struct link_tree *tree, const char *path, bool with_symbols)
{
	/* musl lists itself under each of its names. */
	for (size_t i = 1; i < tree->count; i++)
		if (strcmp(tree->objects[i].path, path) == 0)
			return true;
	if (tree->count == OBJECTS_MAX)
		return false;
	if (!array_make_room(&tree->objects, tree->count, sizeof(*tree->objects)))
		return false;
	struct elf_file *object = &tree->objects[tree->count];
	if (elf_file_read_part(path, part_of(path, tree->count == 0, with_symbols), object) != ELF_RESULT_OK) {
		elf_file_free(object);
		return false;
	}
	tree->count++;
	tree->has_sanitizer |= object->is_sanitizer;
	return true;
}

/* Returns the name in a dynamic linker's complaint that it can't find a library; NULL if the line is none. */
static char *complained_of(char *line)
{
	static const char *const COMPLAINTS[] = {"error while loading shared libraries: ", /* glibc */
	                                         "Error loading shared library "};         /* musl */
	for (size_t i = 0; i < sizeof(COMPLAINTS) / sizeof(COMPLAINTS[0]); i++) {
		char *name = strstr(line, COMPLAINTS[i]);
		if (!name)
			continue;
		name += strlen(COMPLAINTS[i]);
		name[strcspn(name, ":")] = '\0';
		return name;
	}
	return NULL;
}

/*
 * Takes one line: "name => path (0x…)", "name => not found", "path (0x…)", or a complaint. A name without a slash and a
 * path is the kernel's vdso. Returns false if an object can't be read.
 */
static bool take_line(struct link_tree *tree, char *line, bool with_symbols)
{
	static const char ARROW[] = " => ";
	char *missing = line[0] == '\t' ? NULL : complained_of(line);
	if (missing)
		return add_missing(tree, missing);
	if (line[0] != '\t')
		return true;
	char *path = line + 1, *arrow = strstr(line, ARROW), *address = NULL;
	if (arrow) {
		*arrow = '\0';
		path = arrow + sizeof(ARROW) - 1;
		if (strcmp(path, "not found") == 0)
			return add_missing(tree, line + 1);
	}
	for (char *at = path; (at = strstr(at, " (0x")); at++)
		address = at;
	if (!address)
		return true;
	*address = '\0';
	return path[0] != '/' || add_object(tree, path, with_symbols);
}

static bool take_answer(struct link_tree *tree, char *text, bool with_symbols)
{
	bool whole = true;
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n"));)
		whole &= take_line(tree, line, with_symbols);
	return whole && tree->count > 1;
}

/* As ld.so adds them up: each block ends at a multiple of its alignment. The program's own it knows before all else. */
static uint64_t sum_static_tls(const struct link_tree *tree)
{
	uint64_t sum = 0;
	for (size_t i = 1; i < tree->count; i++) {
		const struct elf_file *object = &tree->objects[i];
		if (!object->takes_static_tls || object->tls_bytes == 0)
			continue;
		uint64_t alignment = object->tls_alignment ? object->tls_alignment : 1;
		if (__builtin_add_overflow(sum, object->tls_bytes, &sum) ||
		    __builtin_add_overflow(sum, (alignment - sum % alignment) % alignment, &sum))
			return UINT64_MAX;
	}
	return sum;
}

static bool read_tree(const char *path, const char *preload, struct link_tree *tree, bool with_symbols)
{
	struct answer answer = {0};
	*tree = (struct link_tree){0};
	if (!add_object(tree, path, with_symbols))
		return false;
	const struct elf_file *first = &tree->objects[0];
	const char *interpreter = first->interpreter;
	if (!interpreter && first->needed_count && elf_file_is_native(first))
		interpreter = elf_own_interpreter(); /* a library, which is mapped as a program would be */
	/* Modules that the program names would be run for the answer. */
	if (first->has_audit || !is_trusted(interpreter))
		return false;
	/* The tree grows, and with it `first` moves; its texts don't. */
	bool whole = ask(interpreter, path, preload, &answer) && take_answer(tree, answer.text, with_symbols);
	tree->static_tls_bytes = sum_static_tls(tree);
	free(answer.text);
	return whole;
}

bool link_tree_read(const char *path, const char *preload, struct link_tree *tree)
{
	return read_tree(path, preload, tree, true);
}

bool link_tree_read_layout(const char *path, const char *preload, struct link_tree *tree)
{
	return read_tree(path, preload, tree, false);
}

void link_tree_free(struct link_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		elf_file_free(&tree->objects[i]);
	free(tree->objects);
	free(tree->missing);
	*tree = (struct link_tree){0};
}
