/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SHELL_TEXT_H
#define TENACURL_CLI_SHELL_TEXT_H

/*
 * Which commands a shell script names. The text is only read: nothing is expanded or executed, so a command whose name
 * stands in a variable is not found, and one that is never reached is. Comments, here-documents and the patterns of
 * case are no commands. What the script does to variables counts from there on to the end of its subshell, whether it
 * would be reached or not.
 */

#include <stddef.h>

/*
 * Gets one simple command (NULL-terminated, without redirections and keywords). Where the script changes variables for
 * it that count for tenacurl, the words of env(1) come before it that would do the same. The words are lent.
 */
typedef void (*shell_text_visit)(void *context, char **words);

/* Visits the simple commands of a script, those in substitutions too. Stops early without memory. */
void shell_text_commands(const char *text, size_t byte_count, shell_text_visit visit, void *context);

#endif
