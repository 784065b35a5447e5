/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SAY_PLAIN_JSON_H
#define TENACURL_CLI_SAY_PLAIN_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Prints JSON on one line, without a line end, all of it printable ASCII. Returns false if it can't be written. */
bool plain_json_put(FILE *out, const json_t *value);

#endif
