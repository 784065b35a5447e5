/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_RUN_SUMMARY_H
#define TENACURL_CLI_RUN_SUMMARY_H

#include "cli/run/options.h"

/*
 * Executes the command in a process of its own, and says in the end on standard error, in one line, what its requests
 * came to. Returns the exit status; doesn't if a signal ended the command.
 */
int run_with_summary(const struct run_options *options);

#endif
