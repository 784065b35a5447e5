/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_SENDS_H
#define TENACURL_INTERPOSE_SENDS_H

/*
 * The one count of what went out: first attempts, retries, and what libcurl sent again by itself, since a kept
 * connection turned out to be dead. Cap, budget, breaker, counters, log and report go by it.
 *
 * A resend counts as an attempt does. Without us it is made too, so it is never forbidden for want of a token; it takes
 * one if there is one, so that a retry which follows finds one less. What it replaces is an attempt that failed.
 *
 * From 7.80 on the prereq function tells each send (interpose/prereq.h). Before, what libcurl's facts prove is counted
 * at the end of an attempt: its hops and rounds, but no resend (engine/facts.h).
 */

#include <stdbool.h>
#include <stdint.h>

struct operation;
struct engine_facts;

/* Lives in struct operation. */
struct sends {
	int64_t attempt; /* of this attempt */
	int64_t before;  /* of the attempts before it */
	int resends;     /* of all of these, the ones that libcurl made by itself for want of an answer */
	bool answered;   /* a header line came since the last one */
};

/* An attempt begins. */
static inline void sends_begin_attempt(struct sends *sends)
{
	sends->before += sends->attempt;
	sends->attempt = 0;
	sends->answered = false;
}

/* Requests on the wire so far, in this attempt and those before it. */
static inline int64_t sends_total(const struct sends *sends)
{
	return sends->before + sends->attempt;
}

/* Whether a request that is about to go out is one that libcurl makes by itself for want of an answer. */
static inline bool sends_is_resend(const struct sends *sends)
{
	return sends->attempt > 0 && !sends->answered;
}

/* A request goes out. */
static inline void sends_add(struct sends *sends)
{
	sends->attempt++;
	sends->answered = false;
}

/*
 * Charges a resend that is about to go out: breaker, budget, log. Returns whether it may: not with `resend = forbid`.
 * No system call; errno is kept.
 */
bool sends_charge_resend(struct operation *operation);

/* An attempt is over whose sends nobody counted: adds those that the facts prove. */
void sends_add_proved(struct operation *operation, const struct engine_facts *facts);

#endif
