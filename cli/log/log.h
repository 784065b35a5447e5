/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_LOG_LOG_H
#define TENACURL_CLI_LOG_LOG_H

/*
 * `tenacurl log FILE…|-`: prints log records for people. log.c puts together what belongs together, print.c says it.
 */

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/*
 * argv[0] is the subcommand's own name. Returns the exit status: 0, also if some lines or files could not be read; 1 if
 * none of them could, or if nothing can be written; 2 for usage.
 */
int log_command(int argc, char **argv);

/*
 * Prints an operation: who asked for what, what came of it, whose retries they are, and each of its attempts; lines of
 * 80 columns where they can be.
 *
 * operation: its record; NULL if there is none, because the program ended before the operation did.
 * earlier:   an array of what came before that: a nested record if there is one, then attempt records in their order;
 *            at least one record if there is no operation; NULL: none.
 */
void log_print_operation(const json_t *operation, const json_t *earlier, bool colour);

/* Prints a note. */
void log_print_note(const json_t *note, bool colour);

#endif
