/* SPDX-License-Identifier: MIT */

#include "engine/method.h"

#include <stddef.h>
#include <string.h>

enum engine_method engine_method_from_verb(const char *verb)
{
	static const struct {
		const char *verb;
		enum engine_method method;
	} known[] = {
	    {"GET", ENGINE_METHOD_GET},     {"HEAD", ENGINE_METHOD_HEAD}, {"OPTIONS", ENGINE_METHOD_OPTIONS},
	    {"TRACE", ENGINE_METHOD_TRACE}, {"PUT", ENGINE_METHOD_PUT},   {"DELETE", ENGINE_METHOD_DELETE},
	};

	if (!verb)
		return ENGINE_METHOD_OTHER;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (strcmp(verb, known[i].verb) == 0)
			return known[i].method;
	}
	return ENGINE_METHOD_OTHER;
}
