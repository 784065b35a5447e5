/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_BUDGET_H
#define TENACURL_ENGINE_BUDGET_H

/*
 * The retry budget: a token bucket that a retry takes one token from, a success gives budget_ratio back to, and time
 * refills.
 *
 * Its whole state fits into one 64-bit word, so that whoever owns the word can change it with a compare-and-swap and
 * nobody ever waits: the upper 32 bits are an instant in 1/16 s (it wraps every 8.5 years), the lower 32 bits
 * thousandths of a token. The word 0 is a bucket that was never used: full.
 */

#include <stdbool.h>
#include <stdint.h>

#include "config/policy.h"

/* Takes a token. Returns the new word; *granted says whether there was one. budget_tokens 0: always granted. Pure. */
uint64_t budget_take(uint64_t word, const struct policy_rules *rules, int64_t now_ms, bool *granted);

/* Gives back what a success gives. Returns the new word, the same one if nothing changes. Pure. */
uint64_t budget_give(uint64_t word, const struct policy_rules *rules, int64_t now_ms);

/* How many thousandths of a token there are at now_ms. Pure. */
int64_t budget_millitokens(uint64_t word, const struct policy_rules *rules, int64_t now_ms);

#endif
