/* SPDX-License-Identifier: MIT */

#include "engine/precondition.h"

#include <stddef.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Words within a name; "-" stands for "_", too. */
static const char *const patterns[] = {"-if-", "-condition-", "-forbid-overwrite"};

static const char *const names[] = {"If", "x-amz-write-offset-bytes"};

static const char *const parameters[] = {"cas", "prevExist", "prevValue", "prevIndex", "prevRevision"};

static bool equals(struct span text, const char *word)
{
	return ascii_equals(text.text, text.bytes, word);
}

static bool is_one_of(struct span text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (equals(text, words[i]))
			return true;
	return false;
}

static bool has_pattern(struct span name)
{
	for (size_t i = 0; i < COUNT(patterns); i++)
		if (request_name_contains(name, patterns[i]))
			return true;
	return false;
}

static bool begins_with_if(struct span name)
{
	return name.bytes > 2 && ascii_prefix_bytes(name.text, name.bytes, "if") > 0 &&
	       (name.text[2] == '-' || name.text[2] == '_');
}

bool precondition_is_field(const struct request_field *field, const struct policy_list *more)
{
	if (equals(field->name, "Overwrite"))
		return field->value.bytes > 0 && ascii_lower(field->value.text[0]) == 'f';
	return begins_with_if(field->name) || has_pattern(field->name) || is_one_of(field->name, names, COUNT(names)) ||
	       is_one_of(field->name, more->items, more->count);
}

/* ifGenerationMatch, not iframe. */
static bool is_camel_if(struct span name)
{
	return name.bytes > 2 && name.text[0] == 'i' && name.text[1] == 'f' && name.text[2] >= 'A' &&
	       name.text[2] <= 'Z';
}

bool precondition_is_parameter(struct span name, struct span value)
{
	if (equals(name, "op_type"))
		return equals(value, "create");
	return is_camel_if(name) || begins_with_if(name) || has_pattern(name) ||
	       is_one_of(name, parameters, COUNT(parameters));
}
