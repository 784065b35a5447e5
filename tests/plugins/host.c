/* SPDX-License-Identifier: MIT */

/*
 * A program that reaches libcurl by the ways that its arguments describe, one command after the other:
 *
 *     open PLUGIN PATH HOW                       dlopen: local, global, deepbind, deepbind-lazy; dlmopen: namespace
 *     close PLUGIN                               dlclose
 *     get PLUGIN URL                             a transfer with a handle of its own
 *     init HANDLE PLUGIN URL                     a handle that stays
 *     perform HANDLE                             by a call that returns to the plugin
 *     jump HANDLE                                by a tail call
 *     end HANDLE
 *     setenv NAME VALUE, clearenv                change the environment
 *
 * PLUGIN `self` is what the program itself was linked to (with -DHAS_SELF). Exit status 3: a command failed.
 */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/plugins/fetch.h"

#define NAMES_MAX 8

/* Plugins and handles by name. */
struct name {
	const char *name;
	void *library;
	const struct fetch_functions *functions;
	struct fetch *fetch;
};

static struct name names[NAMES_MAX];

static void fail(const char *what, const char *why)
{
	printf("%s: %s\n", what, why ? why : "failed");
	exit(3);
}

static struct name *find_name(const char *text)
{
	for (size_t i = 0; i < NAMES_MAX; i++) {
		if (!names[i].name)
			names[i].name = text;
		if (strcmp(names[i].name, text) == 0)
			return &names[i];
	}
	fail(text, "too many names");
	return NULL;
}

static void run_open(char **words)
{
	const struct {
		const char *name;
		int flags;
	} modes[] = {
	    {"local", RTLD_NOW},
	    {"global", RTLD_NOW | RTLD_GLOBAL},
	    {"deepbind", RTLD_NOW | RTLD_GLOBAL | RTLD_DEEPBIND},
	    {"deepbind-lazy", RTLD_LAZY | RTLD_GLOBAL | RTLD_DEEPBIND},
	};
	struct name *plugin = find_name(words[0]);
	plugin->library = NULL;
	if (strcmp(words[2], "namespace") == 0)
		plugin->library = dlmopen(LM_ID_NEWLM, words[1], RTLD_NOW);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(words[2], modes[i].name) == 0)
			plugin->library = dlopen(words[1], modes[i].flags);
	if (!plugin->library)
		fail(words[1], dlerror());
	plugin->functions = dlsym(plugin->library, "fetch_functions");
	if (!plugin->functions)
		fail(words[1], dlerror());
}

static void run_close(char **words)
{
	struct name *plugin = find_name(words[0]);
	if (dlclose(plugin->library) != 0)
		fail(words[0], dlerror());
	plugin->functions = NULL;
}

static void run_init(char **words)
{
	struct name *handle = find_name(words[0]);
	handle->functions = find_name(words[1])->functions;
	if (!handle->functions)
		fail(words[1], "no such plugin");
	handle->fetch = handle->functions->open(words[2]);
	if (!handle->fetch)
		fail(words[0], "no handle");
}

static void run_perform(char **words)
{
	struct name *handle = find_name(words[0]);
	handle->functions->perform_and_print(handle->fetch, words[0]);
}

static void run_jump(char **words)
{
	struct name *handle = find_name(words[0]);
	int result = handle->functions->perform(handle->fetch);
	handle->functions->print(handle->fetch, words[0], result);
}

static void run_end(char **words)
{
	struct name *handle = find_name(words[0]);
	handle->functions->close(handle->fetch);
}

static void run_get(char **words)
{
	const struct fetch_functions *functions = find_name(words[0])->functions;
	if (!functions)
		fail(words[0], "no such plugin");
	struct fetch *fetch = functions->open(words[1]);
	if (!fetch)
		fail(words[0], "no handle");
	functions->perform_and_print(fetch, words[0]);
	functions->close(fetch);
}

static void run_setenv(char **words)
{
	setenv(words[0], words[1], 1);
}

static void run_clearenv(char **words)
{
	(void)words;
	clearenv();
}

static const struct {
	const char *name;
	int word_count;
	void (*run)(char **words);
} commands[] = {
    {"open", 3, run_open}, {"close", 1, run_close},   {"init", 3, run_init},
    {"get", 2, run_get},   {"jump", 1, run_jump},     {"perform", 1, run_perform},
    {"end", 1, run_end},   {"setenv", 2, run_setenv}, {"clearenv", 0, run_clearenv},
};

/* Runs the command at `words`; returns how many words it took. */
static int run_command(char **words, int count)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(words[0], commands[i].name) != 0 || commands[i].word_count >= count)
			continue;
		commands[i].run(words + 1);
		return commands[i].word_count + 1;
	}
	fail(words[0], "no such command");
	return count;
}

int main(int argc, char **argv)
{
#ifdef HAS_SELF
	find_name("self")->functions = &fetch_functions;
#endif
	for (int i = 1; i < argc;)
		i += run_command(argv + i, argc - i);
	puts("end");
	return 0;
}
