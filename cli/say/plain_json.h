/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SAY_PLAIN_JSON_H
#define TENACURL_CLI_SAY_PLAIN_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Prints JSON, which is taken, on one line, all of it printable ASCII. Returns false if it can't be written, and for
 * NULL: there was no memory for it.
 */
bool plain_json_print(FILE *out, json_t *value);

/* A new value: null for NULL and "". What is no UTF-8, as file names may be, has ? for bytes that aren't ASCII. */
json_t *plain_json_text(const char *text);

#endif
