/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_TESTS_SOAK_MARKED_H
#define TENACURL_TESTS_SOAK_MARKED_H

/* Things in which every word says by which writer they are, so that a mixture of two is recognised. */

#include <stdio.h>
#include <string.h>

#include "state/intent.h"
#include "state/learned.h"

/* What can't be is corrected when it is read: instants have passed when the clock begins, counts are no larger than
 * any. */
#define MARKED_INSTANT(mark) ((int64_t)((mark) % 1000))
#define MARKED_COUNT(mark)   ((mark) % (1 << 30))

static struct state_intent marked_intent(uint64_t key, int64_t expires_ms, uint64_t mark)
{
	return (struct state_intent){.key = key,
	                             .id = mark,
	                             .process = ~mark,
	                             .expires_ms = expires_ms,
	                             .began_ms = MARKED_INSTANT(mark),
	                             .ended_ms = MARKED_INSTANT(mark),
	                             .operations = (int32_t)MARKED_COUNT(mark),
	                             .stopped = (uint32_t)mark,
	                             .sends = MARKED_COUNT(mark)};
}

static struct state_learned marked_learned(uint64_t key, int64_t expires_ms, uint64_t mark)
{
	struct state_learned learned = {
	    .key = key, .learned_ms = MARKED_INSTANT(mark), .expires_ms = expires_ms, .kept = ~mark};
	char text[32];
	snprintf(text, sizeof(text), "%llx", (unsigned long long)mark);
	memset(learned.repeats, (int)(mark % 256), sizeof(learned.repeats));
	state_learned_text(learned.program, text);
	state_learned_text(learned.caller, text);
	state_learned_text(learned.origin, text);
	return learned;
}

#endif
