/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_SCRIPT_H
#define TENACURL_BASE_SCRIPT_H

/*
 * Which script an interpreter was told to run. Of a command line only the script's name may be told: the words round it
 * hold passwords.
 */

#include <stdbool.h>
#include <stddef.h>

/* How an interpreter reads its options. */
struct interpreter;

/* The interpreter of this name ("python3.11", "php8.2"), NULL if it is none. Pure. */
const struct interpreter *interpreter_find(const char *name);

/* One word of a command line, terminated; both NULL where code comes from somewhere else. */
struct script_word {
	const char *file;   /* what is run, if a file of that name exists: an unknown option's value looks the same */
	const char *module; /* Python's -m */
};

/*
 * Finds the script in `words`, the interpreter's words with a NUL after each, its own name first. What is found points
 * into them. Pure.
 */
struct script_word script_find(const struct interpreter *interpreter, const char *words, size_t bytes);

#endif
