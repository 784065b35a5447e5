/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_STATS_GATHER_H
#define TENACURL_CLI_STATS_GATHER_H

/* What the host remembers of each origin, put together from the states of its users. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/stats/user_state.h"
#include "state/learned.h"

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

/* What was learned of a caller: what it was seen to repeat by itself. */
struct stats_caller {
	size_t user; /* index of struct stats' users */
	struct state_learned learned;
	int64_t age_ms; /* since the first repeat was seen */
	int64_t expires_in_ms;
	int64_t promised_ms; /* for how long it has been expected back; negative: it isn't */
};

struct stats {
	struct stats_user *users;
	size_t user_count;
	struct stats_row *rows; /* by user, origin, section; each of them once */
	size_t row_count;
	struct stats_caller *callers; /* by user, program, origin */
	size_t caller_count;
	bool all_users; /* rows are told apart by user */
};

/* Adds what a user's state holds. A user_state_visitor; context: struct stats. Returns false without memory. */
bool stats_gather(void *context, const struct user_state *user);

/* Sorts rows and callers, and makes one of rows with the same name. */
void stats_arrange(struct stats *stats);

/* Frees what stats_gather() allocated. */
void stats_free(struct stats *stats);

/* "open" and so on. Never NULL. */
const char *stats_breaker_name(enum stats_breaker breaker);

/* All operations of a row. Pure. */
uint64_t stats_operations(const struct stats_row *row);

/* Operations of a row that got no retry of ours, since an outer layer retries. Pure. */
uint64_t stats_left(const struct stats_row *row);

/* Operations of a row that were refused, since we retry and the intent had used up its limits. Pure. */
uint64_t stats_refused(const struct stats_row *row);

#endif
