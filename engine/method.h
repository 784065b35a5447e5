/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_METHOD_H
#define TENACURL_ENGINE_METHOD_H

#include <stdbool.h>

#include "config/policy.h"

enum engine_method {
	ENGINE_METHOD_GET,
	ENGINE_METHOD_HEAD,
	ENGINE_METHOD_OPTIONS,
	ENGINE_METHOD_TRACE,
	ENGINE_METHOD_PUT,
	ENGINE_METHOD_DELETE,
	ENGINE_METHOD_OTHER /* POST, PATCH and whatever else: repeating it may do something twice */
};

/* The method that a verb on the wire stands for; case matters (RFC 9110 §9.1). NULL is ENGINE_METHOD_OTHER. Pure. */
enum engine_method engine_method_from_verb(const char *verb);

#endif
