/* SPDX-License-Identifier: MIT */
#ifndef ORIGIN_STEP_PARSER_H
#define ORIGIN_STEP_PARSER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tests/origin/script.h"

struct step_error {
	char text[256];
};

/* Formats the error and returns false, so that a parser can end with it. */
bool step_error_set(struct step_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "LIST step N: " in front. */
void step_error_prefix(struct step_error *error, const char *list, size_t index);

/* Fills `step` from its JSON object, the defaults included. Texts stay those of the JSON. step->index is kept. */
bool step_parse(struct step *step, json_t *object, struct step_error *error);

/* Frees what step_parse() allocated, also after it failed. */
void step_free(struct step *step);

#endif
