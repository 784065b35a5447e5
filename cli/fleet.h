/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_FLEET_H
#define TENACURL_CLI_FLEET_H

/*
 * `tenacurl simulate --fleet [--policy FILE] [--json] [--svg FILE] [FILE | NAME=VALUE]…`: many clients against a model
 * of a server, on a logical clock: without retries, with a naive loop, and with this engine, side by side.
 *
 * argv[0] is "--fleet". A FILE holds NAME = VALUE lines, where # begins a comment; NAME is one of the scenario or any
 * key of a policy, and the last of several counts. Prints a table, or with --json one object. The same arguments give
 * the same bytes. Returns the exit status: 0, or 2 for usage, for a value that is refused, for a file that can't be
 * read or written.
 */
int fleet_command(int argc, char **argv);

#endif
