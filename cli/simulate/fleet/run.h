/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SIMULATE_FLEET_RUN_H
#define TENACURL_CLI_SIMULATE_FLEET_RUN_H

/* Runs a fleet under one policy, and what came of it. */

#include "cli/simulate/fleet/policy.h"
#include "engine/engine.h"

#define FLEET_BIN_MS    500
#define FLEET_RECOVERED 0.95 /* share of the operations that must succeed, of those that do without an outage */
#define FLEET_NEVER     (-1)

/* What happened in one span of FLEET_BIN_MS. */
struct fleet_bin {
	int64_t requests;  /* that reached the server, or found it refusing */
	int64_t ended;     /* operations */
	int64_t succeeded; /* of those */
};

struct fleet_result {
	int64_t operations;
	int64_t succeeded;
	int64_t requests;
	int64_t stops[ENGINE_PASSED_THROUGH + 1]; /* operations by why they ended */
	int64_t breaker_opened;
	int64_t longest_ms;  /* operation */
	int64_t elapsed_ms;  /* until the last operation ended */
	int64_t recovery_ms; /* after the last outage, until operations succeed as before; FLEET_NEVER; 0 without one */
	struct fleet_bin *bins;
	size_t bin_count;
};

/* Runs it. Returns false without memory. The caller frees the result with fleet_result_end(), in either case. */
bool fleet_run(const struct fleet_scenario *scenario, enum fleet_policy policy, struct fleet_result *result);

void fleet_result_end(struct fleet_result *result);

/* The most requests in a bin, as a rate. */
int64_t fleet_peak_per_s(const struct fleet_result *result);

#endif
