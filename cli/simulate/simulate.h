/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SIMULATE_SIMULATE_H
#define TENACURL_CLI_SIMULATE_SIMULATE_H

/*
 * `tenacurl simulate FILE…|-`: runs scripted outcomes through the engine on a logical clock, one JSON object a line.
 *
 * argv[0] is the subcommand's own name. Reads the files in order (`-`: standard input) and prints one JSON object for
 * each line that isn't empty: the run's result, or {"rejected":true,"error":"…"} for a line that it refuses; the others
 * go on. With --fleet: cli/simulate/fleet/fleet.h. Returns the exit status: 0, or 2 for usage, for a file that can't be
 * read or an output that can't be written.
 */
int simulate_command(int argc, char **argv);

#endif
