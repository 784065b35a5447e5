/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_STATS_OWNERS_H
#define TENACURL_CLI_STATS_OWNERS_H

/*
 * `tenacurl stats --owners`: whose retries they are. What callers were seen to repeat by themselves, and how many
 * operations were left to them. owners.c gathers, the others print.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/stats/gather.h"
#include "state/learned.h"

/* What was learned of a caller. */
struct owners_caller {
	size_t user; /* index of struct stats' users */
	struct state_learned learned;
	int64_t age_ms; /* since the first repeat was seen */
	int64_t expires_in_ms;
	int64_t promised_ms; /* for how long it has been expected back; negative: it isn't */
};

struct owners {
	struct stats stats; /* the users, and the operations of each origin */
	struct owners_caller *callers;
	size_t caller_count;
};

/* Adds what a user's state holds. A user_state_visitor; context: struct owners. Returns false without memory. */
bool owners_gather(void *context, const struct user_state *user);

/* Sorts callers by user, program, origin; rows as stats_arrange() does. */
void owners_arrange(struct owners *owners);

/* Frees what owners_gather() allocated. */
void owners_free(struct owners *owners);

/* Operations of a row that got no retry of ours, since an outer layer retries. Pure. */
uint64_t owners_left(const struct stats_row *row);

/* Operations of a row that were refused, since we retry and the intent had used up its limits. Pure. */
uint64_t owners_refused(const struct stats_row *row);

/* Prints tables for people. Errors stay on the stream, also below. */
void owners_print_table(FILE *out, const struct owners *owners);

/* Prints one JSON object. Returns false without memory. */
bool owners_print_json(FILE *out, const struct owners *owners);

#endif
