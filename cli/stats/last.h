/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_STATS_LAST_H
#define TENACURL_CLI_STATS_LAST_H

/*
 * `tenacurl last`: the flight recorder for people, so that a failed job can be explained with nothing configured
 * beforehand. last.c finds what is asked for, last_print.c says it.
 */

#include <stdio.h>

#include <jansson.h>

#include "state/flight.h"

/*
 * argv[0] is the subcommand's own name. Returns the exit status: 0 if something was found, 1 if not or if it can't be
 * read or written, 2 for usage.
 */
int last_command(int argc, char **argv);

/*
 * Prints a few lines: who asked whom, what came of it, and why nothing more was tried. user: whose it was; NULL: not to
 * be told. Errors stay on the stream.
 */
void last_print_flight(FILE *out, const struct state_flight *flight, const char *user);

/* Returns the same as an object, a new reference; NULL without memory. */
json_t *last_flight_json(const struct state_flight *flight, const char *user);

#endif
