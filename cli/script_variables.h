/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SCRIPT_VARIABLES_H
#define TENACURL_CLI_SCRIPT_VARIABLES_H

/*
 * Which variables a shell script sets for the commands that it starts, of those that decide whether tenacurl gets into
 * them. A value in which something is expanded isn't known, and is taken to leave things as they were.
 */

#include <stdbool.h>
#include <stddef.h>

#define SCRIPT_VARIABLE_COUNT 3

/* The most words that script_variables_prefix() makes. */
#define SCRIPT_PREFIX_MAX (1 + 2 * SCRIPT_VARIABLE_COUNT)

struct script_variables {
	struct script_variable {
		char *word;       /* "NAME=VALUE", owned; NULL: the script gave it no value that is known */
		bool is_exported; /* commands get that value */
		bool is_removed;  /* … or none, where the script itself had got one */
	} of[SCRIPT_VARIABLE_COUNT];
};

/* As they are when a script begins that `tenacurl run` started. To be freed with script_variables_free(). */
void script_variables_begin(struct script_variables *variables);

/* Makes a copy for a subshell, whose changes end with it. To be freed with script_variables_free(). */
struct script_variables script_variables_copy(const struct script_variables *variables);
void script_variables_free(struct script_variables *variables);

/* Whether a word of a script is NAME=VALUE or NAME+=VALUE. */
bool script_variables_is_assignment(const char *word);

/*
 * Takes a command that may change variables for those that follow: assignments alone, unset, export. `assignments` and
 * `words`, the command itself, are NULL-terminated. Returns whether it is one, which starts nothing.
 */
bool script_variables_take(struct script_variables *variables, char **assignments, char **words);

/*
 * Writes the words (without a NULL) that env(1) would need before a command with these assignments to give it the
 * variables that it has in the script. The words are lent by `variables` and `assignments`. Returns their number.
 */
size_t script_variables_prefix(const struct script_variables *variables, char **assignments,
                               char *words[static SCRIPT_PREFIX_MAX]);

#endif
