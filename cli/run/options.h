/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_RUN_OPTIONS_H
#define TENACURL_CLI_RUN_OPTIONS_H

/* What `tenacurl run` was asked for. */

#include <stdbool.h>

struct run_options {
	const char *policy;
	const char *mode;
	const char *log;
	const char *deadline;
	const char *job;
	bool verbose;
	bool require;
	bool no_binder;
	bool summary;
	char **command;
};

#endif
