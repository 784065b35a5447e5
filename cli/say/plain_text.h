/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SAY_PLAIN_TEXT_H
#define TENACURL_CLI_SAY_PLAIN_TEXT_H

/* Pieces of what is printed for people. Errors stay on the stream. */

#include <stdio.h>

/*
 * Prints a text that anybody may have written: what isn't plain (base/utf8.h), invalid UTF-8 included, as escapes, so
 * that none of it reaches a terminal.
 */
void plain_text_put(FILE *out, const char *text);

/*
 * The same as a text, for paths and words among the arguments of printf: `text` itself if all of it is plain, else a
 * copy that lives as long as the process. NULL for NULL. One thread.
 */
const char *plain_text(const char *text);

/* Prints a duration: "21 ms", "1.034 s". */
void plain_text_put_duration(FILE *out, long long ms);

#endif
