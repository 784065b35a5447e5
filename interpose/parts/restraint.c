/* SPDX-License-Identifier: MIT */

#include <stdatomic.h>

#include "base/clock.h"
#include "engine/breaker.h"
#include "engine/budget.h"
#include "interpose/handle/shared_state.h"
#include "interpose/host/process.h"
#include "interpose/parts/restraint.h"
#include "state/count.h"

/* A wait's end is late where the machine is busy, and the rest of a response may be read after the verdict. */
#define LEASE_MARGIN_MS 2000

/* The words of the breaker, or NULL: there is none for this origin. */
static _Atomic uint64_t *breaker_of(struct handle *handle, const struct policy_rules *rules)
{
	struct state_entry *entry = shared_state_entry(handle);
	if (!entry || rules->breaker == POLICY_BREAKER_OFF || state_entry_is_spare(entry))
		return NULL;
	return state_breaker_words(entry);
}

static bool replace(_Atomic uint64_t *word, uint64_t *seen, uint64_t changed)
{
	return changed == *seen ||
	       atomic_compare_exchange_weak_explicit(word, seen, changed, memory_order_relaxed, memory_order_relaxed);
}

bool restraint_admits(struct handle *handle, const struct policy_rules *rules)
{
	if (rules->breaker_action == POLICY_BREAKER_NO_RETRY)
		return true;
	_Atomic uint64_t *words = breaker_of(handle, rules);
	if (!words)
		return true;
	bool admitted;
	int64_t now_ms = clock_ms();
	uint64_t word = atomic_load_explicit(&words[0], memory_order_relaxed), changed;
	do
		changed = breaker_admit(word, rules, now_ms, &admitted);
	while (!replace(&words[0], &word, changed));
	return admitted;
}

/* Counts a result in the window. Returns whether too many failed in it. */
static bool exceeds_rate(_Atomic uint64_t *halves, const struct policy_rules *rules, enum breaker_result result,
                         int64_t now_ms)
{
	_Atomic uint64_t *half = &halves[breaker_half_of(rules, now_ms)];
	uint64_t word = atomic_load_explicit(half, memory_order_relaxed), changed;
	do
		changed = breaker_count(word, rules, result, now_ms);
	while (!replace(half, &word, changed));

	const uint64_t now[2] = {
	    atomic_load_explicit(&halves[0], memory_order_relaxed),
	    atomic_load_explicit(&halves[1], memory_order_relaxed),
	};
	return breaker_exceeds_rate(now, rules, now_ms);
}

static void note_attempt(struct handle *handle, const struct policy_rules *rules, _Atomic uint64_t *words,
                         const struct breaker_attempt *attempt)
{
	uint64_t before = atomic_load_explicit(&words[0], memory_order_relaxed), after;
	do
		after = breaker_note(before, rules, attempt);
	while (!replace(&words[0], &before, after));
	if (breaker_opens(before, after))
		state_count_event(handle->shared_entry, STATE_EVENT_BREAKER_OPENED);
	if (breaker_closes(before, after) && breaker_counts_rate(rules)) {
		atomic_store_explicit(&words[1], 0, memory_order_relaxed);
		atomic_store_explicit(&words[2], 0, memory_order_relaxed);
	}
}

static struct breaker_attempt count_result(const struct policy_rules *rules, _Atomic uint64_t *words,
                                           enum breaker_result result, int64_t began_ms, int64_t now_ms)
{
	struct breaker_attempt attempt = {.result = result, .began_ms = began_ms, .ended_ms = now_ms};
	if (breaker_counts_rate(rules))
		attempt.rate_exceeded = exceeds_rate(words + 1, rules, result, now_ms);
	return attempt;
}

static void note(struct handle *handle, const struct policy_rules *rules, _Atomic uint64_t *words,
                 enum breaker_result result, int64_t began_ms, int64_t now_ms)
{
	const struct breaker_attempt attempt = count_result(rules, words, result, began_ms, now_ms);
	note_attempt(handle, rules, words, &attempt);
}

/* A probe is its whole attempt, however many requests libcurl makes for it. */
static void note_lost(struct handle *handle, const struct policy_rules *rules, _Atomic uint64_t *words,
                      int64_t began_ms, int64_t now_ms)
{
	const struct breaker_attempt attempt = count_result(rules, words, BREAKER_FAILED, began_ms, now_ms);
	uint64_t word = atomic_load_explicit(&words[0], memory_order_relaxed);
	if (breaker_look(word, rules, now_ms) == BREAKER_CLOSED)
		note_attempt(handle, rules, words, &attempt);
}

void restraint_note(struct handle *handle, const struct policy_rules *rules, const struct engine_outcome *outcome,
                    int64_t began_ms, int64_t now_ms)
{
	_Atomic uint64_t *words = breaker_of(handle, rules);
	if (words)
		note(handle, rules, words, breaker_result_of(outcome), began_ms, now_ms);
}

void restraint_note_lost(struct handle *handle, const struct policy_rules *rules, int64_t began_ms)
{
	_Atomic uint64_t *words = breaker_of(handle, rules);
	if (words)
		note_lost(handle, rules, words, began_ms, clock_ms());
}

/* Not inlined: what every success runs through would save its registers for it. */
static __attribute__((noinline)) void note_success(struct handle *handle, const struct policy_rules *rules,
                                                   int64_t began_ms)
{
	_Atomic uint64_t *words = breaker_of(handle, rules);
	if (words)
		note(handle, rules, words, BREAKER_ANSWERED, began_ms, clock_ms());
}

void restraint_note_success(struct handle *handle, const struct policy_rules *rules, int64_t began_ms)
{
	struct state_entry *entry = shared_state_entry(handle);
	/* Seldom true: something failed before, or a rate is counted. */
	if (entry && (atomic_load_explicit(state_breaker_words(entry), memory_order_relaxed) != 0 ||
	              rules->breaker_failure_pct != 0))
		note_success(handle, rules, began_ms);
}

bool restraint_allows_retry(struct handle *handle, const struct policy_rules *rules)
{
	_Atomic uint64_t *words = breaker_of(handle, rules);
	return !words ||
	       breaker_look(atomic_load_explicit(&words[0], memory_order_relaxed), rules, clock_ms()) == BREAKER_CLOSED;
}

void restraint_look(struct handle *handle, const struct policy_rules *rules, int64_t *millitokens, const char **breaker)
{
	static const char *const VIEWS[] = {
	    [BREAKER_CLOSED] = "closed", [BREAKER_OPEN] = "open", [BREAKER_PROBE] = "half-open"};
	struct state_entry *entry = shared_state_entry(handle);
	_Atomic uint64_t *words = breaker_of(handle, rules);
	int64_t now_ms = clock_ms();
	*millitokens = entry && rules->budget_tokens > 0
	                   ? budget_millitokens(atomic_load_explicit(state_budget_word(entry), memory_order_relaxed),
	                                        rules, now_ms)
	                   : -1;
	*breaker =
	    words ? VIEWS[breaker_look(atomic_load_explicit(&words[0], memory_order_relaxed), rules, now_ms)] : NULL;
}

bool restraint_take_retrying(struct handle *handle, const struct policy_rules *rules, struct restraint_place *place,
                             int64_t wait_ms)
{
	struct state_entry *entry = shared_state_entry(handle);
	if (!entry)
		return true;
	place->generation = process_generation();
	return state_lease_acquire(entry, rules->max_retrying, clock_ms(), wait_ms + LEASE_MARGIN_MS, &place->lease);
}

void restraint_give_retrying(struct restraint_place *place)
{
	/* A child that was forked in a wait may come back into the loop: the place is its parent's. */
	if (place->lease.entry && place->generation == process_generation())
		state_lease_release(&place->lease);
	place->lease = (struct state_lease){0};
}

bool restraint_take_token(struct handle *handle, const struct policy_rules *rules)
{
	struct state_entry *entry = shared_state_entry(handle);
	bool granted;
	if (!entry)
		return true;
	_Atomic uint64_t *budget = state_budget_word(entry);
	int64_t now_ms = clock_ms();
	uint64_t word = atomic_load_explicit(budget, memory_order_relaxed), changed;
	do
		changed = budget_take(word, rules, now_ms, &granted);
	while (!replace(budget, &word, changed));
	return granted;
}

void restraint_earn(struct handle *handle, const struct policy_rules *rules)
{
	struct state_entry *entry = shared_state_entry(handle);
	if (!entry)
		return;
	_Atomic uint64_t *budget = state_budget_word(entry);
	uint64_t word = atomic_load_explicit(budget, memory_order_relaxed), changed;
	/* Never used: full. So it is where nothing fails. */
	if (word == 0)
		return;
	int64_t now_ms = clock_ms();
	do
		changed = budget_give(word, rules, now_ms);
	while (!replace(budget, &word, changed));
}
