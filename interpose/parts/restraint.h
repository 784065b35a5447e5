/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_RESTRAINT_H
#define TENACURL_INTERPOSE_RESTRAINT_H

/*
 * What restrains the retries at an origin, over all processes of the user: circuit breaker, limit of operations between
 * attempts, retry budget. All of it is compare-and-swap on a
 * word of the shared state: no lock, no system call, nothing that a process which dies would keep.
 *
 * Without an entry (interpose/handle/shared_state.h) nothing restrains.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "interpose/handle/handle.h"
#include "state/lease.h"

/* An operation's place among those of its origin that are between attempts. Zero: it has none. */
struct restraint_place {
	struct state_lease lease;
	uint32_t generation; /* of the process that took it */
};

/* Whether an operation that begins may make a request at all (`breaker_action = fail-fast`). */
bool restraint_admits(struct handle *handle, const struct policy_rules *rules);

/* Tells the breaker what an attempt came to. Once for each attempt, before it is judged. */
void restraint_note(struct handle *handle, const struct policy_rules *rules, const struct engine_outcome *outcome,
                    int64_t began_ms, int64_t now_ms);

/*
 * Tells the breaker of a request that got no answer, so that libcurl makes it again: an attempt that failed. Decides
 * nothing while the circuit isn't closed.
 */
void restraint_note_lost(struct handle *handle, const struct policy_rules *rules, int64_t began_ms);

/* As restraint_note(), of a plain success: writes nothing unless something failed before. */
void restraint_note_success(struct handle *handle, const struct policy_rules *rules, int64_t began_ms);

/* What the engine's ports of these names ask. */
bool restraint_allows_retry(struct handle *handle, const struct policy_rules *rules);
bool restraint_take_retrying(struct handle *handle, const struct policy_rules *rules, struct restraint_place *place,
                             int64_t wait_ms);
void restraint_give_retrying(struct restraint_place *place);
bool restraint_take_token(struct handle *handle, const struct policy_rules *rules);

/*
 * Looks at what the next judgement goes by: the budget, in thousandths of a token (-1: there is none), and the breaker
 * ("closed", "open", "half-open"; NULL: there is none).
 */
void restraint_look(struct handle *handle, const struct policy_rules *rules, int64_t *millitokens,
                    const char **breaker);

/* Gives back to the budget what a success earns. */
void restraint_earn(struct handle *handle, const struct policy_rules *rules);

#endif
