/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SIMULATE_FLEET_FLEET_H
#define TENACURL_CLI_SIMULATE_FLEET_FLEET_H

/*
 * `tenacurl simulate --fleet [--policy FILE] [--json] [--svg FILE] [FILE | NAME=VALUE]…`: many clients against a model
 * of a server, on a logical clock: without retries, with a naive loop, and with this engine, side by side.
 */

#include <stdbool.h>
#include <stdio.h>

/* What is asked for. Texts are not owned. */
struct fleet_request {
	const char *policy_path; /* NULL: the built-in one */
	const char *svg_path;    /* NULL: no picture */
	bool json;
	char **settings; /* FILE or NAME=VALUE, ended by NULL */
};

/*
 * A FILE holds NAME = VALUE lines, where # begins a comment; NAME is one of the scenario or any key of a policy, and
 * the last of several counts. Prints a table, or one JSON object. The same request gives the same bytes. Returns the
 * exit status: 0, or 2 for a value that is refused, for a file that can't be read or written.
 */
int fleet_simulate(const struct fleet_request *request);

/* The names of the scenario with their defaults, for people. */
void fleet_print_settings(FILE *out);

#endif
