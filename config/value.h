/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_VALUE_H
#define TENACURL_CONFIG_VALUE_H

/*
 * From the text of a value to a field of struct policy_rules, and back. Strict: what a person could read in two ways is
 * refused rather than guessed.
 */

#include <stddef.h>

#include "config/arena.h"
#include "config/schema.h"

enum value_result { VALUE_TAKEN, VALUE_WRONG, VALUE_NO_MEMORY };

/* What is wrong with a value, for people ("not a whole number (30s is 30000)"). */
struct value_fault {
	char wrong[128];
};

/*
 * Parses `text` as a value of `key` and stores it in the key's field of `rules`. Texts and lists are copied into
 * `arena`. On VALUE_WRONG `fault` says what is wrong and `rules` is untouched. No locale, no errno; any thread that
 * owns rules and arena.
 */
enum value_result value_parse(const struct schema_key *key, const char *text, struct arena *arena,
                              struct policy_rules *rules, struct value_fault *fault);

/*
 * Writes the value of `key` in `rules` as it could stand in a file, "" for an empty one; what doesn't fit is cut. Pure.
 */
void value_print(const struct schema_key *key, const struct policy_rules *rules, char *out, size_t out_bytes);

/*
 * Makes the key's field of `rules`, a plain copy of another rules' field, independent of what that one points to, by
 * copying texts and lists into `arena`. Returns false without memory.
 */
bool value_own(const struct schema_key *key, struct arena *arena, struct policy_rules *rules);

/* The key's number (milliseconds, count, percent or bytes; not a decimal) in `rules`. Pure. */
int64_t value_number(const struct schema_key *key, const struct policy_rules *rules);

#endif
