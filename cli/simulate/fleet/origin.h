/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SIMULATE_FLEET_ORIGIN_H
#define TENACURL_CLI_SIMULATE_FLEET_ORIGIN_H

/*
 * The server of a fleet: a queue that is worked off at a fixed rate, dice that fail a share of the requests, and
 * outages. A request whose client has given up is worked on all the same, as servers do: that is what retries do to
 * one that is behind.
 */

#include "cli/simulate/fleet/scenario.h"

struct fleet_origin {
	const struct fleet_scenario *scenario;
	uint64_t dice;
	int64_t seen_us;   /* the instant that backlog_us is of */
	double backlog_us; /* work that is queued */
};

/* What becomes of a request. */
struct fleet_answer {
	int64_t at_us;
	int status; /* 0: the connection is refused */
};

/* A server that has just started, at instant 0. */
void fleet_origin_begin(struct fleet_origin *origin, const struct fleet_scenario *scenario);

/* A request arrives. Calls must be in the order of time. */
struct fleet_answer fleet_origin_send(struct fleet_origin *origin, int64_t now_us);

#endif
