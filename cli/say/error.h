/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SAY_ERROR_H
#define TENACURL_CLI_SAY_ERROR_H

#include <stdbool.h>

/* One line for people, without the name of the command before it and the newline after it. */
struct say_error {
	char text[768];
};

/* Fills `error` as printf would and returns false, so that a refusal is one statement. */
__attribute__((format(printf, 2, 3))) bool say_refuse(struct say_error *error, const char *format, ...);

#endif
