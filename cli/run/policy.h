/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_RUN_POLICY_H
#define TENACURL_CLI_RUN_POLICY_H

/* The policy that a program will have which is about to be started. */

#include "cli/policy/sink_trial.h"
#include "cli/say/error.h"
#include "config/load.h"

/* What the command line says of the policy; NULL where it says nothing. Nothing is owned. */
struct run_policy_request {
	const char *policy_path; /* --policy */
	const char *mode;        /* --mode */
	const char *log;         /* --log, absolute if it is a file */
	policy_warn warn;        /* gets the policy's warnings; may be NULL */
	void *warn_context;
	struct sink_trouble *log_trouble; /* gets what keeps the policy's log from being written; "": nothing does */
};

enum run_policy_state {
	RUN_POLICY_GOOD,
	RUN_POLICY_BAD_HERE,     /* by the command line's fault */
	RUN_POLICY_BAD_ELSEWHERE /* what the environment or a default path has is refused, so it will not be in force */
};

/* Reads the policy that the program will have, as the program will read it. `error` is filled unless it is good. */
enum run_policy_state run_check_policy(const struct run_policy_request *request, struct say_error *error);

#endif
