/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_RUN_PLAN_H
#define TENACURL_CLI_RUN_PLAN_H

/*
 * Between the command line and the start: what was asked for (options), what comes of it (plan), and the program's
 * environment after that.
 */

#include "cli/run.h"

#define RUN_ID_DIGITS 16

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

/* What the program's environment will hold; NULL: left as it is. Texts are owned. */
struct run_plan {
	char *object; /* as LD_PRELOAD names it; NULL: no preloading */
	char *binder; /* as LD_AUDIT names it; NULL: no binder */
	char *policy_path;
	char *log;
	char run_id[RUN_ID_DIGITS + 1];
	char deadline[DEADLINE_TEXT_BYTES_MAX]; /* empty: none of our own */
	bool void_deadline;                     /* the inherited one is to go */
};

/* Makes the plan. Returns false with `error` filled if run has to refuse. To be freed in either case. */
bool run_plan_make(const struct run_options *options, struct run_plan *plan, struct run_error *error);
void run_plan_free(struct run_plan *plan);

/* Puts the plan into this process's environment. Returns false if that fails; errno says why. */
bool run_plan_set(const struct run_options *options, const struct run_plan *plan);

/*
 * Executes the command. Returns only if that fails, which it has said then, with the exit status that a shell would
 * give.
 */
int run_execute(char **command);

/*
 * The same in a process of its own, and says in the end on standard error, in one line, what its requests came to.
 * Returns the exit status; doesn't if a signal ended the command.
 */
int run_with_summary(const struct run_options *options);

/* Whether the command is known not to use libcurl; if so, `text` says that. */
bool run_is_foreign(char **command, struct run_error *text);

/* To whom something is told that doesn't keep the program from running. */
enum run_audience {
	RUN_TELL_VERBOSE, /* who asked for it with --verbose */
	/* … and whoever sits at a terminal or reads --summary: what the program is, and can't be changed by us */
	RUN_TELL_TERMINAL,
	RUN_TELL_ANYBODY /* … and if there is no terminal, syslog: trouble that somebody ought to end */
};

__attribute__((format(printf, 3, 4))) void run_tell(const struct run_options *options, enum run_audience audience,
                                                    const char *format, ...);

#endif
