/* SPDX-License-Identifier: MIT */

#include "engine/method.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *verb;
	enum engine_method method;
} known[] = {
    {"GET", ENGINE_METHOD_GET},     {"HEAD", ENGINE_METHOD_HEAD}, {"OPTIONS", ENGINE_METHOD_OPTIONS},
    {"TRACE", ENGINE_METHOD_TRACE}, {"PUT", ENGINE_METHOD_PUT},   {"DELETE", ENGINE_METHOD_DELETE},
};

/* Verbs with effects that overriding is used for; a value that is none of them, or of the above, is another matter. */
static const char *const others[] = {"POST", "PATCH", "MERGE", "MOVE", "COPY", "MKCOL", "LINK", "UNLINK", "PURGE"};

#define COUNT(table) (sizeof table / sizeof table[0])

enum engine_method engine_method_from_verb(const char *verb)
{
	if (!verb)
		return ENGINE_METHOD_OTHER;
	for (size_t i = 0; i < COUNT(known); i++) {
		if (strcmp(verb, known[i].verb) == 0)
			return known[i].method;
	}
	return ENGINE_METHOD_OTHER;
}

/* Frameworks take an override in any case. Returns false for what is no method. */
static bool read_override(struct span value, enum engine_method *method)
{
	for (size_t i = 0; i < COUNT(known); i++) {
		*method = known[i].method;
		if (ascii_equals(value.text, value.bytes, known[i].verb))
			return true;
	}
	*method = ENGINE_METHOD_OTHER;
	for (size_t i = 0; i < COUNT(others); i++) {
		if (ascii_equals(value.text, value.bytes, others[i]))
			return true;
	}
	return false;
}

enum engine_method engine_method_of_field(const struct request_field *field)
{
	enum engine_method method;

	/* Access-Control-Request-Method asks whether another request might have that method. */
	if (!request_name_contains(field->name, "method") || request_name_contains(field->name, "request-method"))
		return ENGINE_METHOD_GET;
	/* "X-Auth-Method: token" overrides nothing; "X-Method-Override: token" may. */
	if (read_override(field->value, &method) || request_name_contains(field->name, "override") ||
	    request_name_contains(field->name, "http-method"))
		return method;
	return ENGINE_METHOD_GET;
}

enum engine_method engine_method_of_parameter(struct span name, struct span value)
{
	enum engine_method method;

	if (ascii_equals(name.text, name.bytes, "comp") && ascii_equals(value.text, value.bytes, "appendblock"))
		return ENGINE_METHOD_OTHER;
	if (request_name_contains(name, "method") && read_override(value, &method))
		return method;
	return ENGINE_METHOD_GET;
}
