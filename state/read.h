/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_READ_H
#define TENACURL_STATE_READ_H

/*
 * Reading a state: for `tenacurl stats` and `last`, and for tests. A snapshot is a private copy, so it can be looked at
 * at leisure, and root can read a file that its owner changes or truncates at the same time. Whatever it holds, texts
 * come out printable and numbers in range.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "state/count.h"
#include "state/flight.h"
#include "state/learned.h"
#include "state/running.h"
#include "state/sizes.h"
#include "state/state.h"

/* An origin in the view of a policy section, counters summed up. Histograms count each thing in one bucket only. */
struct state_view {
	char origin[STATE_ORIGIN_BYTES]; /* "?": not known yet */
	char section[STATE_SECTION_BYTES];
	uint64_t budget;
	uint64_t breaker[STATE_BREAKER_WORDS];
	uint64_t leases;                                       /* held at the time of the snapshot */
	uint64_t operations[STATE_RESULTS];                    /* 0: failed, 1: succeeded */
	uint64_t attempts[STATE_COUNT_BUCKETS], attempts_sum;  /* per operation */
	uint64_t sends[STATE_COUNT_BUCKETS], sends_sum;        /* per operation */
	uint64_t success_ms[STATE_MS_BUCKETS], success_ms_sum; /* time to success */
	uint64_t rescued;                                      /* operations that succeeded after a retry */
	uint64_t stops[STATE_REASONS_MAX];                     /* by reason, without the plain successes */
	uint64_t retries[STATE_CLASSES_MAX];                   /* by failure class */
	uint64_t waits_ms[STATE_MS_BUCKETS], waits_ms_sum;     /* before retries */
	uint64_t events[STATE_EVENTS_MAX];                     /* by enum state_event */
};

struct state_snapshot;

/* Copies a state of this process: the file, or its own memory if there is none. NULL: no memory. */
struct state_snapshot *state_snapshot_take(const struct state *state);

/*
 * Reads the file of `owner`. NULL if there is none that can be trusted, with the trouble in *outcome; STATE_NO_FILE is
 * what a user has who never used tenacurl. Makes and changes nothing.
 */
struct state_snapshot *state_snapshot_read(const struct state_request *request, uid_t owner,
                                           struct state_outcome *outcome);

/* A snapshot as bytes, of which another process of this program makes one again; NULL: no memory. */
size_t state_snapshot_bytes(void);
struct state_snapshot *state_snapshot_copy(const void *bytes);

/* Frees it; NULL is allowed. */
void state_snapshot_free(struct state_snapshot *snapshot);

/* Fills *view from entry `index`, 0 to STATE_ENTRIES - 1. Returns false if it is free. now_ms: for the leases. */
bool state_snapshot_view(const struct state_snapshot *snapshot, size_t index, int64_t now_ms, struct state_view *view);

/* Fills `flights` with the whole ones, the newest first. Returns how many. */
size_t state_snapshot_flights(const struct state_snapshot *snapshot, struct state_flight flights[static STATE_FLIGHTS]);

/* Fills `learned` with what was learned of callers and has not expired at now_ms, in no order. Returns how many. */
size_t state_snapshot_learned(const struct state_snapshot *snapshot, int64_t now_ms,
                              struct state_learned learned[static STATE_LEARNED]);

/* Fills `running` with what is under way, or was when its process ended, in no order. Returns how many. */
size_t state_snapshot_running(const struct state_snapshot *snapshot, int64_t now_ms,
                              struct state_running running[static STATE_RUNNING]);

/* How often an origin found the table full. */
uint64_t state_snapshot_table_full(const struct state_snapshot *snapshot);

/* How many records of the log no sink took. */
uint64_t state_snapshot_lost_records(const struct state_snapshot *snapshot);

/* How many origins lost their numbers, since another one needed their entry. */
uint64_t state_snapshot_origins_dropped(const struct state_snapshot *snapshot);

/* Changes when counters are set to zero; otherwise no counter ever goes backwards. */
uint64_t state_snapshot_resets(const struct state_snapshot *snapshot);

#endif
