/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_CHECK_SCRIPT_WORDS_H
#define TENACURL_CLI_CHECK_SCRIPT_WORDS_H

/*
 * The words of a script that could name programs, whatever its language means by them. Nothing is expanded: a word may
 * come from a variable's value, an argument of find or xargs, a here-document. Comments are left out.
 */

#include <stdbool.h>
#include <stddef.h>

/* What may name a program. */
enum script_kind {
	SCRIPT_SHELL, /* every word: shells, command lines */
	SCRIPT_MAKE,  /* the same, and before it "@", "-", "+": Makefiles */
	SCRIPT_CODE   /* the first word of a text in quotes: Python, Perl, … */
};

/* A word. Lent. */
struct script_word_seen {
	char **words;           /* it, and what stands behind it in the same command; NULL-terminated */
	bool is_sourced;        /* "." or "source" stands before it */
	bool is_cut;            /* a variable's value comes before it: "$HERE/fetch.sh" */
	const char *cleared_by; /* what stands before it in the same command and keeps the environment from it; NULL */
};

typedef void (*script_words_visit)(void *context, const struct script_word_seen *seen);

/* By what that a text starts may be out of reach, though its words don't show which. Static; NULL: nothing. */
struct script_doubts {
	const char *changed;  /* a variable of the dynamic linker's, or ours, that it changes */
	const char *indirect; /* what clears the environment, by a variable or parameters: SUDO=sudo, sudo "$@" */
};

/* Visits the words of a text, behind which there is a 0. Adds to `doubts`. */
void script_words(const char *text, size_t byte_count, enum script_kind kind, script_words_visit visit, void *context,
                  struct script_doubts *doubts);

/* The name of what starts others without our environment (sudo, env -i, …), if `words` begins with it; else NULL. */
const char *script_words_clear(char **words);

#endif
