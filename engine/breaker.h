/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_BREAKER_H
#define TENACURL_ENGINE_BREAKER_H

/*
 * The circuit breaker of an origin: after an outage that no operation could have waited out there are no more retries
 * until the origin answers again.
 *
 * It is three 64-bit words, each of which whoever owns them changes with a compare-and-swap; nobody ever waits, and a
 * process that dies at any instruction leaves words that mean something. 0 in all three is a breaker that never saw a
 * failure. The first word is the state:
 *
 *     closed     failures in a row, and when the row began
 *     open       since when
 *     half-open  how many probes of this round were let through, and when the round began
 *
 * The other two are the halves of the window in which a failure rate is counted; they are touched only with
 * breaker_failure_pct.
 *
 * For each attempt that ends its owner does, before the engine judges it:
 *
 *     result = breaker_result_of(outcome)
 *     if breaker_counts_rate(rules):  half[breaker_half_of(rules, now)] = breaker_count(that word, …)
 *     state = breaker_note(state, …)
 *     if breaker_closes(before, after):  half[0] = half[1] = 0
 *
 * then answers the engine's breaker_allows with breaker_look() == BREAKER_CLOSED. With breaker_action = fail-fast it
 * asks breaker_admit() before the first attempt of an operation.
 *
 * Nothing is held by a process: a probe is let through for one round of breaker_open_ms, and the next round has its
 * own, whatever became of the prober (killed, aborted, forked, gone by longjmp).
 */

#include <stdbool.h>
#include <stdint.h>

#include "config/policy.h"
#include "engine/types.h"

/* What an attempt says of the origin. */
enum breaker_result {
	BREAKER_SAYS_NOTHING, /* the program ended it, the name wasn't found, the proxy refused, this host is to blame
	                       */
	BREAKER_ANSWERED,     /* any answer below 500, so 404 and 429, too */
	BREAKER_FAILED        /* an answer of 500 and above; no answer */
};

enum breaker_view {
	BREAKER_CLOSED,
	BREAKER_OPEN,
	BREAKER_PROBE /* open for breaker_open_ms already: the next result decides */
};

/* An attempt that ended. */
struct breaker_attempt {
	enum breaker_result result;
	bool rate_exceeded; /* breaker_exceeds_rate() of the two halves, this attempt counted; false without a rate */
	int64_t began_ms;   /* instants */
	int64_t ended_ms;
};

/* What the outcome says of the origin. Pure. */
enum breaker_result breaker_result_of(const struct engine_outcome *outcome);

/*
 * What the breaker is at now_ms. Closed with breaker = off, and once nothing failed for so long that the word tells of
 * an outage of the past. Pure.
 */
enum breaker_view breaker_look(uint64_t word, const struct policy_rules *rules, int64_t now_ms);

/*
 * For how long it has been what breaker_look() says, in ms: since it opened or opened anew, since the round of probes
 * began. 0 if it is closed. Pure.
 */
int64_t breaker_age_ms(uint64_t word, const struct policy_rules *rules, int64_t now_ms);

/*
 * fail-fast: whether an operation may make a request at all. Returns the new word, the same one if nothing changes;
 * *admitted says whether it may. While it is half-open, breaker_probes operations are admitted in each breaker_open_ms.
 * With no-retry everything is admitted and the word stays. Pure.
 */
uint64_t breaker_admit(uint64_t word, const struct policy_rules *rules, int64_t now_ms, bool *admitted);

/*
 * Counts an attempt that ended. Returns the new word, the same one if nothing changes, as for a success of a closed
 * breaker without failures.
 *
 * Opens after breaker_failures in a row which span at least breaker_outage_ms, or with rate_exceeded. A row is given up
 * when it didn't open the breaker within twice breaker_outage_ms (breaker_window_ms or breaker_open_ms if those are
 * longer): failures of yesterday and one of today are no outage.
 *
 * While it is open only attempts that began breaker_open_ms after it opened decide: a failure opens it anew, an answer
 * closes it. Those that began before are late. One exception: with no-retry, where every operation goes on making its
 * one attempt, any answer closes it, since it ends the row; not with a breaker_failure_pct, since one answer says
 * little about a rate.
 *
 * Half-open (fail-fast only): an answer closes it, the failure of an attempt that began in this round opens it anew,
 * and one that says nothing gives its place to another probe. Pure.
 */
uint64_t breaker_note(uint64_t word, const struct policy_rules *rules, const struct breaker_attempt *attempt);

/* Whether the step from one state word to another opened it (not: opened it anew); closed it. Pure. */
bool breaker_opens(uint64_t before, uint64_t after);
bool breaker_closes(uint64_t before, uint64_t after);

/* Whether a failure rate is looked at. Pure. */
bool breaker_counts_rate(const struct policy_rules *rules);

/* Which of the two halves (0, 1) now_ms belongs to. Pure. */
int breaker_half_of(const struct policy_rules *rules, int64_t now_ms);

/* Counts a result in the word of the half that now_ms belongs to; what another window left there is dropped. Pure. */
uint64_t breaker_count(uint64_t half_word, const struct policy_rules *rules, enum breaker_result result,
                       int64_t now_ms);

/*
 * Whether at least breaker_min_attempts were counted in the window that ends at now_ms, and breaker_failure_pct of them
 * failed. The window is the half of now and the one before it: half to one breaker_window_ms. Pure.
 */
bool breaker_exceeds_rate(const uint64_t half_words[static 2], const struct policy_rules *rules, int64_t now_ms);

#endif
