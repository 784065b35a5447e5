/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_LEASE_H
#define TENACURL_STATE_LEASE_H

/*
 * Leases: how many operations may be between attempts at once at an origin, over all processes. A lease ends by itself,
 * so one of a process that was killed is not lost. Lock-free, no system call, any thread; errno is kept.
 */

#include <stdbool.h>
#include <stdint.h>

#include "state/state.h"

/* Zero: none. Copies mean the same lease. */
struct state_lease {
	struct state_entry *entry;
	uint32_t slot;
	uint32_t end; /* instant in 1/16 s */
};

/*
 * Takes a lease for hold_ms from now_ms, rounded up, if fewer than `limit` are taken: exactly that many can be held at
 * once. limit 0: no limit, no lease, true; over 256 counts as 256. Who still waits when hold_ms is over is no longer
 * counted, so give it more than the wait. Returns false if none is free; *lease is zero then.
 */
bool state_lease_acquire(struct state_entry *entry, int64_t limit, int64_t now_ms, int64_t hold_ms,
                         struct state_lease *lease);

/*
 * Gives a lease back and zeroes it. Harmless if it has ended meanwhile, whoever holds its place now, or is zero. Not to
 * be called in a child for what its parent holds.
 */
void state_lease_release(struct state_lease *lease);

/* How many are held at now_ms. */
uint64_t state_leases_held(const struct state_entry *entry, int64_t now_ms);

#endif
