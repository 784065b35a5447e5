/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_LAUNCH_SUBJECT_H
#define TENACURL_CLI_LAUNCH_SUBJECT_H

/*
 * What a command line is about, as far as it can be read: the names of its program, its arguments, and the text of its
 * script and of the files that the arguments name. The words of check/known_programs.h are searched in it.
 */

#include <stdbool.h>
#include <stddef.h>

#include "cli/launch/follow.h"

#define SUBJECT_FILE_BYTES_MAX (1024 * 1024)
#define SUBJECT_TEXTS_MAX      16

/* The content of a file; bytes[byte_count] is 0, and there may be others before it. */
struct subject_text {
	char *path;
	char *bytes;
	size_t byte_count;
};

struct subject {
	char *name;       /* file name of the program as it was found */
	char *real_name;  /* and of what its links lead to */
	char **arguments; /* the launch's */
	struct subject_text texts[SUBJECT_TEXTS_MAX];
	size_t text_count;
};

/*
 * Reads what `launch`, which must outlive the subject, is about. Files that are too large or that can't be read are
 * left out. Returns false without memory; subject_free() is due whatever is returned.
 */
bool subject_read(const struct launch *launch, struct subject *subject);
void subject_free(struct subject *subject);

/* Whether the program has a name that fits the glob. */
bool subject_is(const struct subject *subject, const char *glob);

/* Whether the words of a row (NULL: always) count. `object` is the file that the row is about, for the word "*". */
bool subject_has(const struct subject *subject, const char *words, const char *object);

/* The text of the file at `path`, if it was read; else NULL. */
const struct subject_text *subject_text_of(const struct subject *subject, const char *path);

#endif
