/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SIMULATE_SIMULATION_H
#define TENACURL_CLI_SIMULATE_SIMULATION_H

/*
 * A simulation: a policy, what each attempt would come to, and the dice. Its words are those of the deadline model
 * whose runs it is compared with (tests/vectors/deadline.jsonl), and so is what it retries: time-outs, 429, 502, 503,
 * 504.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/say/error.h"

enum simulation_end { SIMULATION_STATUS, SIMULATION_TIMEOUT, SIMULATION_CANCEL };

/* What an attempt would come to if nothing cut it short. */
struct simulation_outcome {
	int64_t duration_ms;
	enum simulation_end end;
	int status;             /* SIMULATION_STATUS only */
	int64_t retry_after_ms; /* 0: no demand */
};

struct simulation {
	int64_t total_ms;
	int64_t per_try_ms;
	int64_t max_attempts;
	int64_t min_try_ms;
	int64_t base_ms;
	int64_t backoff_cap_ms;
	bool replay_safe;
	struct simulation_outcome *outcomes;
	size_t outcome_count;
	double *draws;
	size_t draw_count;
};

/*
 * Reads a simulation from JSON by a strict schema: no unknown, missing or duplicate key, integers where integers are
 * meant, everything in range. Returns false with `error` filled if the text is refused. On true the caller frees it
 * with simulation_free().
 */
bool simulation_read(const char *text, size_t text_bytes, struct simulation *simulation, struct say_error *error);

/* Frees what simulation_read() allocated. */
void simulation_free(struct simulation *simulation);

/*
 * Runs it. Returns the result as a new reference: {"ok", "stop", "attempts", "elapsed_ms", "trace"}. NULL with `error`
 * filled if the run asks for more draws than there are, or leaves some.
 */
json_t *simulation_run(const struct simulation *simulation, struct say_error *error);

#endif
