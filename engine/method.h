/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_METHOD_H
#define TENACURL_ENGINE_METHOD_H

#include <stdbool.h>

#include "config/policy.h"
#include "engine/request_field.h"

/* From harmless to unknown: what comes later may do more. */
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

/*
 * What a header field or a parameter of the query asks a server or a proxy to do instead of what the verb says
 * (X-HTTP-Method-Override and its many kin; `_method` of Rails, Laravel, WordPress; `method` of Facebook's Graph API;
 * `_HttpMethod` of Salesforce), or in spite of it (Azure's appendblock, a PUT that isn't idempotent).
 * ENGINE_METHOD_GET: nothing. Whether anybody obeys isn't known, so the worse of both counts. Pure.
 */
enum engine_method engine_method_of_field(const struct request_field *field);
enum engine_method engine_method_of_parameter(struct span name, struct span value);

#endif
