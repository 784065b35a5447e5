/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_STATS_H
#define TENACURL_CLI_STATS_H

/*
 * `tenacurl stats`: what the host remembers of each origin. stats.c understands the command line, stats_gather.c puts
 * the numbers together, the others print them: for people, as JSON, for Prometheus.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/user_state.h"

/*
 * argv[0] is the subcommand's own name. Returns the exit status: 0; 1 if no state can be read though there is one, or
 * nothing can be written; 2 for usage.
 */
int stats_command(int argc, char **argv);

enum stats_breaker {
	STATS_BREAKER_UNKNOWN, /* no policy has a section of that name */
	STATS_BREAKER_OFF,
	STATS_BREAKER_CLOSED,
	STATS_BREAKER_HALF_OPEN,
	STATS_BREAKER_OPEN
};

/* An origin in the view of a policy section of a user. */
struct stats_row {
	size_t user; /* index of struct stats' users */
	struct state_view view;
	enum stats_breaker breaker;
	int64_t breaker_age_ms; /* half-open and open only */
	int64_t tokens_max;     /* of the retry budget; 0: there is none, or it isn't known */
	int64_t millitokens;    /* left of it now */
	uint64_t retries;       /* of all failure classes */
};

struct stats_user {
	uid_t uid;
	char name[USER_NAME_BYTES];
	uint64_t table_full;
	uint64_t origins_dropped;
	uint64_t resets;
	uint64_t lost_records;
	uint64_t running, died; /* operations under way after a failure; that ended with their process */
};

struct stats {
	struct stats_user *users;
	size_t user_count;
	struct stats_row *rows; /* by user, origin, section; each of them once */
	size_t row_count;
	bool all_users; /* rows are told apart by user */
};

/* Adds what a user's state holds. A user_state_visitor; context: struct stats. Returns false without memory. */
bool stats_gather(void *context, const struct user_state *user);

/* Sorts the rows, and makes one of those with the same name. */
void stats_arrange(struct stats *stats);

/* Frees what stats_gather() allocated. */
void stats_free(struct stats *stats);

/* "open" and so on. Never NULL. */
const char *stats_breaker_name(enum stats_breaker breaker);

/* All operations of a row. Pure. */
uint64_t stats_operations(const struct stats_row *row);

/* Prints a table for people. Errors stay on the stream, also below. */
void stats_print_table(FILE *out, const struct stats *stats);

/* Prints one JSON object. Returns false without memory. */
bool stats_print_json(FILE *out, const struct stats *stats);

/* Prints the text exposition format 0.0.4 of Prometheus. */
void stats_print_prometheus(FILE *out, const struct stats *stats);

#endif
