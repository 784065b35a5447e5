/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_STATS_FORGET_H
#define TENACURL_CLI_STATS_FORGET_H

/*
 * `tenacurl forget`: drops what was learned of callers, so that their requests are retried again until it is learned
 * anew. argv[0] is the subcommand's own name. Returns the exit status: 0, also if there was nothing to forget; 1 if the
 * state can't be reached or nothing can be written; 2 for usage.
 */
int forget_command(int argc, char **argv);

#endif
