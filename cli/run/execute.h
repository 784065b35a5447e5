/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_RUN_EXECUTE_H
#define TENACURL_CLI_RUN_EXECUTE_H

/*
 * Executes the command. Returns only if that fails, which it has said then, with the exit status that a shell would
 * give.
 */
int run_execute(char **command);

#endif
