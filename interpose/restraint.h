/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_RESTRAINT_H
#define TENACURL_INTERPOSE_RESTRAINT_H

/*
 * What restrains the retries at an origin, over all processes of the user: circuit breaker, limit of operations between
 * attempts, retry budget. The engine's ports, and what goes before and after them. All of it is compare-and-swap on a
 * word of the shared state: no lock, no system call, nothing that a process which dies would keep.
 *
 * Without an entry (interpose/shared_state.h) nothing restrains.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

struct operation;

/* Whether the operation, which begins, may make a request at all (`breaker_action = fail-fast`). */
bool restraint_admits(struct operation *operation);

/* Tells the breaker what the attempt at hand came to. Once for each attempt, before it is judged. */
void restraint_note(struct operation *operation, const struct engine_outcome *outcome, int64_t now_ms);

/*
 * Tells the breaker of a request that got no answer, so that libcurl makes it again: an attempt that failed. Decides
 * nothing while the circuit isn't closed.
 */
void restraint_note_lost(struct operation *operation);

/* As restraint_note(), of a plain success: writes nothing unless something failed before. */
void restraint_note_success(struct operation *operation);

/* The ports; the context is the struct operation. */
bool restraint_allows_retry(void *context);
bool restraint_take_retrying(void *context, int64_t wait_ms);
void restraint_give_retrying(void *context);
bool restraint_take_token(void *context);

/*
 * Looks at what the next judgement goes by: the budget, in thousandths of a token (-1: there is none), and the breaker
 * ("closed", "open", "half-open"; NULL: there is none).
 */
void restraint_look(const struct operation *operation, int64_t *millitokens, const char **breaker);

/* Gives back to the budget what a success earns. */
void restraint_earn(struct operation *operation);

#endif
