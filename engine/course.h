/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_COURSE_H
#define TENACURL_ENGINE_COURSE_H

/*
 * The course of one operation, from its first attempt to its result: the one way to the verdict. It says what is to be
 * done next; whoever drives it sends, waits and tells what came of it: the live loop, `simulate` and `simulate
 * --fleet`. No clock, no I/O, no lock.
 *
 *   course_begin → course_start → SEND → course_judge … course_ended → WAIT → course_due → SEND → …
 *                               → REFUSE                            → DELIVER
 */

#include "engine/engine.h"

enum course_step {
	COURSE_SEND,    /* make the attempt that `plan` bounds */
	COURSE_WAIT,    /* until course_due_ms(), then course_due() */
	COURSE_DELIVER, /* the attempt's result is the operation's */
	COURSE_REFUSE,  /* fail without an attempt: verdict.reason says why */
};

/* Callers read it, only the course writes it. */
struct course {
	struct engine_operation engine;
	struct engine_plan plan;       /* of the attempt at hand */
	struct engine_verdict verdict; /* on it, once has_verdict */
	bool has_verdict;
	bool observes;      /* audit: the first attempt is the last, whatever the verdict on it */
	int64_t start_ms;   /* instant: of the attempt at hand */
	int64_t verdict_ms; /* instant: waits count from here */
};

/* What attempt 1 depends on besides the deadline. */
struct course_admission {
	bool is_used_up;                       /* nothing is left of the intent (engine_intent_admit()) */
	bool (*breaker_admits)(void *context); /* asked unless it is used up; NULL: there is no breaker */
	void *context;
};

/* Starts an operation at now_ms. rules must outlive it. */
void course_begin(struct course *course, const struct policy_rules *rules, const struct engine_request *request,
                  int64_t now_ms);

/*
 * Before attempt 1, which counts from the operation's begin. Returns COURSE_SEND, or COURSE_REFUSE with the verdict's
 * reason ENGINE_NESTED, ENGINE_BREAKER_OPEN or ENGINE_DEADLINE_BUDGET: the first that applies.
 */
enum course_step course_start(struct course *course, const struct course_admission *admission);

/* Judges the attempt at hand as engine_judge() does; may be called again when the attempt ends. */
void course_judge(struct course *course, const struct engine_outcome *outcome, int64_t now_ms,
                  const struct engine_ports *ports);

/* The verdict of a success with no deadline that could have passed, at less cost. */
void course_succeed(struct course *course);

/* The attempt at hand, which was judged, is over. Returns COURSE_WAIT or COURSE_DELIVER. */
enum course_step course_ended(const struct course *course);

/* The instant at which the wait that the verdict asks for is over. */
int64_t course_due_ms(const struct course *course);

/* The wait is over: plans the next attempt, which begins at now_ms. Returns COURSE_SEND. */
enum course_step course_due(struct course *course, int64_t now_ms);

/* The wait ended after waited_ms without a retry: the verdict is to deliver, for `reason` (engine_break_off()). */
void course_break_off(struct course *course, enum engine_reason reason, int64_t waited_ms);

/* The body shows that the response is final: takes the verdict to retry back (engine_retract()). */
void course_retract(struct course *course);

/* The program changed its timeout (0: none) while the attempt at hand runs (engine_replan()). */
void course_replan(struct course *course, int64_t program_timeout_ms);

/* The instant at which the operation has to be over (engine_end_ms()). */
int64_t course_end_ms(const struct course *course);

#endif
