/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_STATS_LAST_RUNNING_H
#define TENACURL_CLI_STATS_LAST_RUNNING_H

/* `tenacurl last --running`: what waits for a further attempt or makes it, and what ended with its process. */

#include <stdbool.h>
#include <stddef.h>

#include "cli/stats/last_who.h"
#include "cli/stats/user_state.h"

/* Prints what is asked for. Returns whether there was something; complains if the states can't be read. */
bool last_running_print(const struct user_state_query *query, const struct last_filter *filter, bool json);

/* How many operations of a state are under way, and how many ended with their process. */
struct last_running_counts {
	size_t running, died;
};
struct last_running_counts last_running_count(const struct user_state *user, const struct last_filter *filter);

#endif
