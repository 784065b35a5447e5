/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_RUN_TELL_H
#define TENACURL_CLI_RUN_TELL_H

#include "cli/run/options.h"

/* To whom something is told that doesn't keep the program from running. */
enum run_audience {
	RUN_TELL_VERBOSE, /* who asked for it with --verbose */
	/* … and whoever sits at a terminal or reads --summary: what the program is, and can't be changed by us */
	RUN_TELL_TERMINAL,
	RUN_TELL_ANYBODY /* … and if there is no terminal, syslog: trouble that somebody ought to end */
};

__attribute__((format(printf, 3, 4))) void run_tell(const struct run_options *options, enum run_audience audience,
                                                    const char *format, ...);

/* Whether somebody reads standard error: now, or with the line that --summary writes there. */
bool run_is_read(const struct run_options *options);

/* Whether something was told that keeps the program from being helped. */
bool run_has_told(void);

#endif
