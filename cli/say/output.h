/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SAY_OUTPUT_H
#define TENACURL_CLI_SAY_OUTPUT_H

#include <stdbool.h>

/*
 * Whether all that was printed on standard output arrived (a disk may be full); says so as `name` on standard error if
 * not.
 */
bool say_flush(const char *name);

#endif
