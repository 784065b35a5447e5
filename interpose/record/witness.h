/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_WITNESS_H
#define TENACURL_INTERPOSE_WITNESS_H

/*
 * Writes down what the engine asks for while it judges an attempt, and what it is answered, for the attempt's record:
 * with it a log can be judged again. Only where there is a log.
 */

#include "engine/course.h"
#include "log/record.h"

/* What was asked, kept from the judgement to the record. The answers are enum record_answer. */
struct witness {
	int64_t at_ms; /* instant */
	int64_t die, drawn_ms, expires_ms, millitokens;
	const char *breaker; /* NULL: there is none */
	signed char probe, outer_retries, breaker_allows, can_rewind, place, token;
	bool retracted;
};

/*
 * Judges as course_judge() does, and notes what is asked in `seen`. The caller has filled at_ms, millitokens and
 * breaker.
 */
void witness_judge(struct witness *seen, struct course *course, const struct engine_outcome *outcome,
                   const struct engine_ports *ports);

/* Fills `judged` from what was noted of an attempt and from what it was judged by. */
void witness_tell(const struct witness *seen, const struct engine_operation *engine,
                  const struct engine_outcome *outcome, struct record_judgement *judged);

#endif
