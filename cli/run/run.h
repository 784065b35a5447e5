/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_RUN_RUN_H
#define TENACURL_CLI_RUN_RUN_H

/*
 * `tenacurl run [OPTION…] [--] COMMAND [ARG…]`: starts a program with the preloaded object in its environment. run.c
 * reads the options and decides, the others here each know one thing about the environment or the program.
 */

/* argv[0] is the subcommand's own name. Returns an exit status, and only if no program was started. */
int run_command(int argc, char **argv);

#endif
