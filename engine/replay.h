/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_REPLAY_H
#define TENACURL_ENGINE_REPLAY_H

#include <stdbool.h>

#include "config/policy.h"
#include "engine/types.h"

/*
 * Whether it is certain that no origin executed anything of the attempt: it was proved unsent, or it made one request
 * only, which the origin answered with a status that the policy takes as a refusal. Pure.
 */
bool engine_is_proved_unexecuted(const struct policy_rules *rules, const struct engine_outcome *outcome);

/* Whether the policy lets this request be repeated after this outcome (its key `replay`). Pure. */
bool engine_is_safe_to_replay(const struct policy_rules *rules, const struct engine_request *request,
                              const struct engine_outcome *outcome);

/*
 * Whether executing the request twice can differ from executing it once in a way that somebody may have to look at.
 * Not so for the safe methods of RFC 9110 §9.2.1. A PUT, which is idempotent, counts: it may overwrite what another
 * client wrote meanwhile; and so does a request with an idempotency key, which the server may not honour. Pure.
 */
bool engine_has_effects(enum engine_method method);

#endif
