/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SIMULATE_FLEET_HOST_H
#define TENACURL_CLI_SIMULATE_FLEET_HOST_H

/* What the clients of a host share about the server, as the mapped file holds it for real processes. */

#include "engine/breaker.h"

struct fleet_host {
	const struct policy_rules *rules;
	uint64_t budget;
	uint64_t breaker;
	uint64_t halves[2];
	int64_t retrying;
};

/* Whether an operation may make a request at all. */
bool fleet_host_admits(struct fleet_host *host, int64_t now_ms);

/* Counts an attempt that ended. Returns whether that opened the breaker. */
bool fleet_host_note(struct fleet_host *host, const struct engine_outcome *outcome, int64_t began_ms, int64_t now_ms);

/* The engine's ports. */
bool fleet_host_allows_retry(const struct fleet_host *host, int64_t now_ms);
bool fleet_host_take_retrying(struct fleet_host *host);
void fleet_host_give_retrying(struct fleet_host *host);
bool fleet_host_take_token(struct fleet_host *host, int64_t now_ms);

/* Gives back what a success earns. */
void fleet_host_give_token(struct fleet_host *host, int64_t now_ms);

#endif
