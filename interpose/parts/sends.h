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
 * From 7.80 on the prereq function tells each send (callbacks.h). Before, what libcurl's facts prove is counted
 * at the end of an attempt: its hops and rounds, but no resend (engine/facts.h).
 */

#include <stdbool.h>
#include <stdint.h>

/* Lives in struct operation. */
struct sends {
	int64_t attempt; /* of this attempt */
	int64_t before;  /* of the attempts before it */
	int resends;     /* of all of these, the ones that libcurl made by itself for want of an answer */
};

/* An attempt begins. */
static inline void sends_begin_attempt(struct sends *sends)
{
	sends->before += sends->attempt;
	sends->attempt = 0;
}

/* Requests on the wire so far, in this attempt and those before it. */
static inline int64_t sends_total(const struct sends *sends)
{
	return sends->before + sends->attempt;
}

/*
 * Whether a request that is about to go out is one that libcurl makes by itself for want of an answer; answered: one
 * began since the last.
 */
static inline bool sends_is_resend(const struct sends *sends, bool answered)
{
	return sends->attempt > 0 && !answered;
}

/* A request goes out. */
static inline void sends_add(struct sends *sends)
{
	sends->attempt++;
}

#endif
