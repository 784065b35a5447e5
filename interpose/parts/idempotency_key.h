/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_IDEMPOTENCY_KEY_H
#define TENACURL_INTERPOSE_IDEMPOTENCY_KEY_H

#include "engine/engine.h"
#include "interpose/handle/handle.h"

#define KEY_HEADER_BYTES 192 /* "<idempotency_header>: <uuid>" */

/* Lives as long as its header is lent (handle->lent.http_headers). */
struct idempotency_key {
	struct curl_slist header; /* goes before the program's own headers */
	char text[KEY_HEADER_BYTES];
};

/* Whether the policy wants a key for such a request, as far as can be told without its headers. */
bool idempotency_key_is_wanted(const struct policy_rules *rules, const struct engine_request *request);

/*
 * add_idempotency_key: gives a POST or PATCH (or any other method that isn't idempotent) that has no key yet one of its
 * own, the same for all attempts and for all operations of an intent, so that it may be repeated. Signed requests are
 * left alone: their headers are covered by the signature. `id` is the intent's. Returns whether it has one now.
 */
bool idempotency_key_add(struct idempotency_key *key, struct handle *handle, const char *header_name, uint64_t id);

#endif
