/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_WIRE_H
#define TENACURL_INTERPOSE_WIRE_H

/* What a request says on the wire besides its verb: in the header fields that the program adds, and in its URL. */

#include <stdbool.h>

#include "engine/engine.h"
#include "interpose/handle/handle.h"

struct wire {
	enum engine_method method; /* the worst that it asks for; ENGINE_METHOD_GET: nothing */
	bool conditional;
	bool has_idempotency_key;
};

/* Reads the handle's next request. No allocation. */
void wire_read(const struct handle *handle, const struct policy_rules *rules, struct wire *wire);

/* Whether a header field of this name is among those that go to the origin, whatever its value. */
bool wire_has_field(const struct handle *handle, const char *name);

#endif
