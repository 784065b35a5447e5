/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SIMULATE_FLEET_SCENARIO_H
#define TENACURL_CLI_SIMULATE_FLEET_SCENARIO_H

/* What a fleet's simulation is told: the clients, the server, the policy. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/say/error.h"
#include "config/arena.h"
#include "config/policy.h"

#define FLEET_OUTAGES_MAX 8

/* What the server does in an outage: refuses connections, answers 503 at once, or does nothing while requests queue. */
enum fleet_outage_kind { FLEET_REFUSES, FLEET_ANSWERS_503, FLEET_STALLS };

struct fleet_outage {
	int64_t begin_ms;
	int64_t end_ms;
};

struct fleet_scenario {
	int64_t clients;
	int64_t hosts;          /* that the clients are spread over; state = user is shared within each */
	int64_t operations;     /* of each client; 0: as many as fit in duration_ms */
	int64_t interval_ms;    /* from the start of a client's operation to the next one's, unless it takes longer */
	int64_t duration_ms;    /* no operation begins later; 0: no limit */
	int64_t timeout_ms;     /* the programs' own; 0: none */
	int64_t latency_ms;     /* of any answer, beside its time in the queue */
	int64_t capacity_per_s; /* 0: without bound */
	int64_t queue;          /* requests that wait; more are answered 503 at once. 0: without bound */
	double failure;         /* share of requests that are answered 503, 0 to 1 */
	int64_t retry_after_ms; /* that a 503 asks for; 0: nothing */
	int64_t naive_attempts; /* of the naive loop, the first one included */
	int64_t seed;
	enum fleet_outage_kind outage_kind;
	struct fleet_outage outages[FLEET_OUTAGES_MAX]; /* in the order of time, apart from each other */
	size_t outage_count;
	struct policy_rules rules;
	struct arena arena; /* of what the rules point to */
};

/* Fills in the defaults, `rules` included, which must outlive the scenario. */
void fleet_scenario_begin(struct fleet_scenario *scenario, const struct policy_rules *rules);

/*
 * Sets NAME to VALUE, the two in one text with "=" between them; blanks around them are left out. Returns false with
 * `error` filled if there is no such name or it takes no such value.
 */
bool fleet_scenario_set(struct fleet_scenario *scenario, const char *assignment, struct say_error *error);

/* Whether the settings fit together and the simulation would end. Returns false with `error` filled. */
bool fleet_scenario_check(const struct fleet_scenario *scenario, struct say_error *error);

/* Frees what the settings allocated. */
void fleet_scenario_end(struct fleet_scenario *scenario);

/* The settings of a scenario, index from 0; NULL behind the last. Static. */
const char *fleet_setting_name(size_t index);
const char *fleet_setting_default(size_t index);
const char *fleet_setting_doc(size_t index);

/* Writes the value of a setting as it could be given. */
void fleet_setting_print(const struct fleet_scenario *scenario, size_t index, char *out, size_t out_bytes);

#endif
