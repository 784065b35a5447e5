/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_COUNT_H
#define TENACURL_STATE_COUNT_H

/* Counting what happens at an origin. Lock-free, no system call, any thread, signal handlers too; errno is kept. */

#include <stdbool.h>
#include <stdint.h>

#include "state/sizes.h"
#include "state/state.h"

/* Upper bounds, inclusive, of all but the last bucket of each histogram of milliseconds. */
extern const int64_t state_ms_bounds[STATE_MS_BUCKETS - 1];

/* What is rare and worth a number of its own. Values are in the file: add at the end. */
enum state_event {
	STATE_EVENT_EXHAUSTED,      /* retries were made, and it still failed */
	STATE_EVENT_BUDGET_EMPTY,   /* a retry was refused for want of a token */
	STATE_EVENT_BREAKER_OPENED, /* counted by whose compare-and-swap opened it */
	STATE_EVENT_REFUSED,        /* an operation failed without a request: fail-fast, a deadline, an outer layer */
	STATE_EVENT_NESTED_REFUSED  /* of those: a repeat by an outer layer, whose intent had used up its limits */
};

/* An operation that is over. */
struct state_operation {
	bool succeeded;
	int attempts;
	int64_t sends;      /* requests on the wire, libcurl's own resends included */
	int64_t elapsed_ms; /* from entry to return */
	int reason;         /* enum engine_reason: why it ended */
};

/* Counts an operation that succeeded with one attempt and one send: two additions, in one or two cache lines. */
void state_count_plain_success(struct state_entry *entry, int64_t elapsed_ms);

/* Counts any operation. */
void state_count_operation(struct state_entry *entry, const struct state_operation *operation);

/* Counts a retry, by the failure (enum engine_class) that it answers and the wait before it. */
void state_count_retry(struct state_entry *entry, int failure, int64_t wait_ms);

void state_count_event(struct state_entry *entry, enum state_event event);

/* Counts records of the log that no sink took. Where nothing is shared it may map memory, once. */
void state_count_lost_records(struct state *state, uint64_t count);

#endif
