/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_STATS_LAST_WHO_H
#define TENACURL_CLI_STATS_LAST_WHO_H

/* Who asked whom, which is told of an operation that is over as of one that is under way. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Texts are those of the state, not owned. */
struct last_who {
	int64_t time_us, pid;
	const char *program, *job, *run, *method, *origin, *path, *section;
};

/* Of a struct state_flight or state_running. */
#define LAST_WHO(it)                                                                                                   \
	((struct last_who){.time_us = (it)->time_us,                                                                   \
	                   .pid = (it)->pid,                                                                           \
	                   .program = (it)->program,                                                                   \
	                   .job = (it)->job,                                                                           \
	                   .run = (it)->run,                                                                           \
	                   .method = (it)->method,                                                                     \
	                   .origin = (it)->origin,                                                                     \
	                   .path = (it)->path,                                                                         \
	                   .section = (it)->section})

/* What is asked for, by one of these at most; NULL and 0: any. */
struct last_filter {
	const char *job; /* or a program or script of this name */
	const char *run;
	int64_t pid;
};

bool last_is_asked_for(const struct last_filter *filter, struct last_who who);

/* Prints it as one line; user: whose it was, NULL: not to be told. Errors stay on the stream. */
void last_print_who(FILE *out, struct last_who who, const char *user);

#endif
