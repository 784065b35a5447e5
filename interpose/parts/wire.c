/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "engine/precondition.h"
#include "engine/request_field.h"
#include "interpose/parts/wire.h"

static void ask_for(struct wire *wire, enum engine_method method)
{
	if (method > wire->method)
		wire->method = method;
}

static bool is_named(const struct request_field *field, const char *name)
{
	return ascii_equals(field->name.text, field->name.bytes, name);
}

/* A key must stand as it is meant to: servers that overlook a blank before the colon are no proof that this one does.
 */
static bool is_key(const struct request_field *field, const char *name)
{
	return is_named(field, name) && field->name.text[field->name.bytes] == ':' && request_field_has_value(field);
}

static void read_field(const struct request_field *field, const struct policy_rules *rules, bool to_origin,
                       struct wire *wire)
{
	ask_for(wire, engine_method_of_field(field));
	wire->conditional = wire->conditional || precondition_is_field(field, &rules->precondition_headers);
	if (to_origin && rules->idempotency_header && is_key(field, rules->idempotency_header))
		wire->has_idempotency_key = true;
}

static void read_list(const struct curl_slist *list, const struct policy_rules *rules, bool to_origin,
                      struct wire *wire)
{
	struct request_field field;
	for (; list; list = list->next) {
		struct span rest = list->data ? request_field_text(list->data) : (struct span){NULL, 0};
		while (request_field_next(&rest, &field))
			read_field(&field, rules, to_origin, wire);
	}
}

static void read_query(struct span rest, struct wire *wire)
{
	while (rest.bytes > 0) {
		struct span value = span_cut(&rest, "&;");
		struct span name = span_cut(&value, "=");
		ask_for(wire, engine_method_of_parameter(name, value));
		wire->conditional = wire->conditional || precondition_is_parameter(name, value);
	}
}

void wire_read(const struct handle *handle, const struct policy_rules *rules, struct wire *wire)
{
	*wire = (struct wire){.method = ENGINE_METHOD_GET};
	/* Most requests have neither, and calls cost. */
	if (handle->program.http_headers)
		read_list(handle->program.http_headers, rules, true, wire);
	/* A proxy that isn't asked for a tunnel gets these with the request, and may hand them on. */
	if (handle->program.proxy_headers)
		read_list(handle->program.proxy_headers, rules, false, wire);
	read_query(handle_query(handle), wire);
}

bool wire_has_field(const struct handle *handle, const char *name)
{
	struct request_field field;
	for (const struct curl_slist *list = handle->program.http_headers; list; list = list->next) {
		struct span rest = list->data ? request_field_text(list->data) : (struct span){NULL, 0};
		while (request_field_next(&rest, &field))
			if (is_named(&field, name))
				return true;
	}
	return false;
}
