/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_STATS_STATS_H
#define TENACURL_CLI_STATS_STATS_H

/*
 * `tenacurl stats`: what the host remembers of each origin. stats.c understands the command line, gather.c puts
 * the numbers together, the others print them: for people, as JSON, for Prometheus.
 */

/*
 * argv[0] is the subcommand's own name. Returns the exit status: 0; 1 if no state can be read though there is one, or
 * nothing can be written; 2 for usage.
 */
int stats_command(int argc, char **argv);

#endif
