/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_PLAIN_TEXT_H
#define TENACURL_CLI_PLAIN_TEXT_H

/* Pieces of what is printed for people about a log. Errors stay on the stream. */

#include <stdio.h>

/*
 * Prints a text that anybody may have written: control characters (C0, DEL, C1) as escapes, so that none reaches a
 * terminal. It is UTF-8, as jansson's texts are.
 */
void plain_text_put(FILE *out, const char *text);

/* Prints a duration: "21 ms", "1.034 s". */
void plain_text_put_duration(FILE *out, long long ms);

#endif
