/* SPDX-License-Identifier: MIT */
#include "cli/launch/follow.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/launch/launchers.h"
#include "cli/launch/words.h"

/* Where execvp(3) looks when there is no PATH, and to whom it gives a text without "#!". */
#define DEFAULT_PATH  "/bin:/usr/bin"
#define DEFAULT_SHELL "/bin/sh"

/* Limits of the kernel (exec.c): scripts whose interpreter is a script, bytes of the line that names it. */
#define SCRIPTS_MAX       5
#define SCRIPT_LINE_BYTES 256

/* More launchers than this in a row are a circle. */
#define LAUNCHERS_MAX 32

/* Where the way has got to. */
struct walk {
	struct launch *launch;
	struct launch_words words; /* what is started next */
	char *directory;           /* where relative paths begin; NULL: the working directory */
	char *search_path;         /* replaces PATH; NULL: as it is */
};

enum file_kind { FILE_ELF, FILE_SCRIPT, FILE_TEXT, FILE_UNREADABLE };

static bool fits(int needed)
{
	return needed > 0 && needed < PATH_MAX;
}

bool launch_is_file(const char *path)
{
	struct stat file;
	return stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

bool launch_is_executable(const char *path)
{
	return access(path, X_OK) == 0 && launch_is_file(path);
}

/* Looks below `root` ("": the real one) for the first executable of that name on the search path. */
static bool search(const char *root, const char *search_path, const char *name, char path[static PATH_MAX])
{
	for (const char *at = search_path;; at++) {
		size_t bytes = strcspn(at, ":");
		int needed =
		    snprintf(path, PATH_MAX, "%s%.*s%s%s", bytes ? root : "", (int)bytes, at, bytes ? "/" : "", name);
		if (fits(needed) && launch_is_executable(path))
			return true;
		at += bytes;
		if (!*at)
			return false;
	}
}

bool launch_find_program(const char *name, char path[static PATH_MAX])
{
	const char *search_path = getenv("PATH");
	if (strchr(name, '/'))
		return fits(snprintf(path, PATH_MAX, "%s", name));
	return name[0] && search("", search_path ? search_path : DEFAULT_PATH, name, path);
}

/* The same from where the walk has got to. */
static bool find_next(const struct walk *walk, char path[static PATH_MAX])
{
	const char *name = walk->words.at[0], *root = walk->launch->root ? walk->launch->root : "";
	const char *search_path = walk->search_path ? walk->search_path : getenv("PATH");
	if (!strchr(name, '/'))
		return name[0] && search(root, search_path ? search_path : DEFAULT_PATH, name, path);
	if (name[0] == '/')
		return fits(snprintf(path, PATH_MAX, "%s%s", root, name));
	if (walk->directory)
		return fits(snprintf(path, PATH_MAX, "%s/%s", walk->directory, name));
	return fits(snprintf(path, PATH_MAX, "%s", name));
}

static bool add_to_chain(struct launch *launch, const char *path)
{
	if (!array_make_room(&launch->chain, launch->chain_count, sizeof(*launch->chain)))
		return false;
	launch->chain[launch->chain_count] = strdup(path);
	return launch->chain[launch->chain_count] && ++launch->chain_count;
}

/* O_NONBLOCK: whatever has that name, opening it must not hang. */
static enum file_kind read_start(const char *path, char line[static SCRIPT_LINE_BYTES + 1])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return FILE_UNREADABLE;
	ssize_t bytes = pread(fd, line, SCRIPT_LINE_BYTES, 0);
	int reason = errno;
	close(fd);
	errno = reason;
	if (bytes < 0)
		return FILE_UNREADABLE;
	line[bytes] = '\0';
	if (bytes >= SELFMAG && memcmp(line, ELFMAG, SELFMAG) == 0)
		return FILE_ELF;
	return strncmp(line, "#!", 2) == 0 ? FILE_SCRIPT : FILE_TEXT;
}

bool launch_is_elf(const char *path)
{
	char line[SCRIPT_LINE_BYTES + 1];
	return launch_is_file(path) && read_start(path, line) == FILE_ELF;
}

/* Puts the interpreter, its one argument and the script's path where the script was. */
static bool enter_script(struct walk *walk, char *line, const char *path)
{
	static const char BLANKS[] = " \t";
	char *interpreter = line + 2 + strspn(line + 2, BLANKS);
	interpreter[strcspn(interpreter, "\n")] = '\0';
	char *argument = interpreter + strcspn(interpreter, BLANKS);
	if (*argument)
		*argument++ = '\0';
	argument += strspn(argument, BLANKS);
	for (size_t bytes = strlen(argument); bytes && strchr(BLANKS, argument[bytes - 1]); bytes--)
		argument[bytes - 1] = '\0';
	if (!*interpreter) {
		errno = ENOEXEC;
		return false;
	}
	/* The interpreter sees the path as it is below a root that it is confined to. */
	const char *root = walk->launch->root;
	const char *seen = root && strncmp(path, root, strlen(root)) == 0 ? path + strlen(root) : path;
	char *head[] = {interpreter, argument, (char *)(uintptr_t)seen, NULL};
	if (!*argument) {
		head[1] = head[2];
		head[2] = NULL;
	}
	launch_words_drop(&walk->words, 1);
	return launch_words_prepend(&walk->words, head);
}

static bool replace(char **text, const char *value)
{
	char *copy = value ? strdup(value) : NULL;
	free(*text);
	*text = copy;
	return copy || !value;
}

/* What the launcher does to the environment, the root and the place from which it starts the next one. */
static bool apply(struct walk *walk, const struct launcher_effects *effects, const char *path)
{
	struct launch *launch = walk->launch;
	bool done = true;
	if (effects->is_run) {
		launch->starts_run = true;
		done &= replace(&launch->cleared_by, NULL) && replace(&launch->privileged_by, NULL);
	} else if (!launch->privileged_by && launch_privilege_of(path) != LAUNCH_ORDINARY) {
		done &= replace(&launch->privileged_by, path);
	}
	if (effects->clears && !launch->cleared_by)
		done &= replace(&launch->cleared_by, path);
	if (effects->preloads_us)
		done &= replace(&launch->cleared_by, NULL);
	if (effects->switched != LAUNCH_SWITCH_KEPT)
		launch->switched = effects->switched;
	if (effects->search_path)
		done &= replace(&walk->search_path, effects->search_path);
	if (effects->directory)
		done &= replace(&walk->directory, effects->directory);
	if (effects->root) {
		bool is_root = strcmp(effects->root, "/") == 0;
		size_t bytes = strlen(effects->root);
		done &= replace(&launch->root, is_root ? NULL : effects->root);
		while (launch->root && bytes > 1 && launch->root[bytes - 1] == '/')
			launch->root[--bytes] = '\0';
		done &= replace(&walk->directory, launch->root);
	}
	return done;
}

/* Goes on to what the launcher at `path` starts. Returns false if it starts nothing, or without memory (errno). */
static bool enter_launcher(struct walk *walk, const char *path)
{
	struct launcher_effects effects;
	const struct launcher *launcher = launcher_find(basename(path));
	if (!launcher || !launcher_read(launcher, &walk->words, &effects))
		return false;
	bool done = apply(walk, &effects, path);
	launcher_effects_free(&effects);
	return done;
}

/* Goes on until nothing starts anything else. Returns the error that ends it, 0: the program was found. */
static int go(struct walk *walk)
{
	struct launch *launch = walk->launch;
	static char shell[] = DEFAULT_SHELL;
	for (int scripts = 0, launchers = 0;;) {
		char path[PATH_MAX], line[SCRIPT_LINE_BYTES + 1];
		if (!find_next(walk, path))
			return ENOENT;
		if (access(path, X_OK) != 0)
			return errno;
		if (!launch_is_executable(path))
			return EACCES;
		if (!add_to_chain(launch, path))
			return ENOMEM;
		enum file_kind kind = read_start(path, line);
		if (kind == FILE_UNREADABLE)
			launch->error = errno;
		if (kind == FILE_UNREADABLE || (kind == FILE_ELF && !enter_launcher(walk, path)))
			return 0;
		if (kind == FILE_ELF ? ++launchers > LAUNCHERS_MAX : ++scripts > SCRIPTS_MAX)
			return ELOOP;
		if (kind == FILE_ELF)
			scripts = 0;
		else
			launch->script = launch->chain[launch->chain_count - 1];
		if (kind == FILE_TEXT)
			snprintf(line, sizeof(line), "#!%s", shell);
		if (kind != FILE_ELF && !enter_script(walk, line, path))
			return errno;
	}
}

bool launch_follow(char **command, struct launch *launch)
{
	struct walk walk = {.launch = launch};
	*launch = (struct launch){0};
	int reason = launch_words_prepend(&walk.words, command) ? go(&walk) : ENOMEM;
	if (reason == 0) {
		launch->path = launch->chain[launch->chain_count - 1];
		launch_words_drop(&walk.words, 1);
		launch->arguments = launch_words_take(&walk.words);
	} else {
		launch->error = reason;
	}
	launch_words_free(&walk.words);
	free(walk.directory);
	free(walk.search_path);
	return reason == 0 && launch->arguments;
}

void launch_free(struct launch *launch)
{
	for (size_t i = 0; i < launch->chain_count; i++)
		free(launch->chain[i]);
	free(launch->chain);
	launch_free_words(launch->arguments);
	free(launch->cleared_by);
	free(launch->root);
	free(launch->privileged_by);
	*launch = (struct launch){0};
}

enum launch_privilege launch_privilege_of(const char *path)
{
	struct stat file;
	struct statvfs file_system;
	if (stat(path, &file) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
	    (statvfs(path, &file_system) == 0 && (file_system.f_flag & ST_NOSUID)))
		return LAUNCH_ORDINARY;
	if ((file.st_mode & S_ISUID) && file.st_uid != getuid())
		return LAUNCH_SETUID;
	if ((file.st_mode & S_ISGID) && (file.st_mode & S_IXGRP) && file.st_gid != getgid())
		return LAUNCH_SETGID;
	/* Root gains nothing by file capabilities, so ld.so does not distrust its environment. */
	if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
		return LAUNCH_CAPABILITIES;
	return LAUNCH_ORDINARY;
}
