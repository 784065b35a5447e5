/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_IDEMPOTENCY_KEY_H
#define TENACURL_INTERPOSE_IDEMPOTENCY_KEY_H

struct operation;

/*
 * add_idempotency_key: gives a POST or PATCH (or any other method that isn't idempotent) that has no key yet one of its
 * own, the same for all attempts and for all operations of an intent, so that it may be repeated. Signed requests are
 * left alone: their headers are covered by the signature.
 */
void idempotency_key_add(struct operation *operation);

#endif
