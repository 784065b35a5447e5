/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_LAUNCH_WORDS_H
#define TENACURL_CLI_LAUNCH_WORDS_H

/*
 * A command line that is followed: launchers are taken off its front, interpreters are put there. Each word is owned.
 */

#include <stdbool.h>
#include <stddef.h>

#include "cli/launch/launchers.h"
#include "cli/launch/switch.h"

struct launch_words {
	char **at; /* NULL-terminated; NULL: none */
	size_t count;
};

/* Puts copies of `head` (NULL-terminated) before the words. Returns false without memory; the words are as before. */
bool launch_words_prepend(struct launch_words *words, char *const *head);

/* Removes the first `count` words, or all. */
void launch_words_drop(struct launch_words *words, size_t count);

/* Returns the words, which are the caller's then; NULL without memory. */
char **launch_words_take(struct launch_words *words);
void launch_words_free(struct launch_words *words);

/* Frees words, NULL-terminated, and their list; NULL: none. */
void launch_free_words(char **words);

/* What a launcher does to the program that it starts. Each text is owned; NULL: it leaves that alone. */
struct launcher_effects {
	bool clears;      /* the environment, or our preload in it */
	bool preloads_us; /* sets LD_PRELOAD to a list with our object */
	enum launch_switch switched;
	bool is_run; /* it is `tenacurl run` */
	char *search_path;
	char *directory;
	char *root;
};

/*
 * Reads words, which begin with the launcher's own name, and removes everything before the command that it starts. If
 * that is a shell the words become "sh". `effects` is to be freed with launcher_effects_free() if true is returned;
 * false: it starts nothing, and the words are as before.
 */
bool launcher_read(const struct launcher *launcher, struct launch_words *words, struct launcher_effects *effects);
void launcher_effects_free(struct launcher_effects *effects);

#endif
