/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_STATS_LAST_RUNNING_H
#define TENACURL_CLI_STATS_LAST_RUNNING_H

/* `tenacurl last --running`: what waits for a further attempt or makes it, and what ended with its process. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/stats/user_state.h"

/* What is asked for; NULL and 0: any. */
struct last_running_request {
	const struct user_state_query *query;
	const char *job, *run;
	int64_t pid;
	bool json;
};

/* Prints it. Returns whether there was something; complains if the states can't be read. */
bool last_running_print(const struct last_running_request *request);

/* How many operations of a state are under way, and how many ended with their process: all, or what is asked for. */
struct last_running_counts {
	size_t running, died;
};
struct last_running_counts last_running_count(const struct user_state *user,
                                              const struct last_running_request *request);

#endif
