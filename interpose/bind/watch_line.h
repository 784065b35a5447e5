/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BIND_WATCH_LINE_H
#define TENACURL_INTERPOSE_BIND_WATCH_LINE_H

/* Writes the lines of watch_format.h, without a C library. */

#include <stdbool.h>

#include "interpose/bind/watch_format.h"

/*
 * Begins: takes the file from the environment and finds out which program this is. Returns false if nothing is to be
 * watched. Once, before the other functions.
 */
bool watch_line_begin(void);

/* The executable's path. */
const char *watch_line_program(void);

/*
 * Appends one line: `kind`, the process, the program and the fields, up to a NULL. One write, so lines of several
 * processes don't mix; what can't be written is lost. Any thread; async-signal-safe; needs 512 bytes of stack.
 */
void watch_line_append(const char *kind, const char *const *fields);

#endif
