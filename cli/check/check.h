/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_CHECK_CHECK_H
#define TENACURL_CLI_CHECK_CHECK_H

/*
 * `tenacurl check`: whether tenacurl reaches a program's transfers. The three ways to find out fill the same report:
 * static.c from the files alone, run.c by running the program under watch, pid.c from a process that runs. report.c
 * draws the verdict, print.c tells it.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "cli/check/report.h"

/* What the command line asked for. */
struct check_request {
	char **command; /* NULL-terminated */
	bool no_binder;
	bool json;
	int (*run)(int argc, char **argv); /* `tenacurl run`, by which check_run() starts the program */
};

/*
 * Each fills the report but for its verdict. check_static() returns false, with the reason in errno, if there is
 * nothing to report on: ENOENT if the program isn't found, EACCES, … if it can't be executed. check_pid() has said why
 * then.
 */
bool check_static(const struct check_request *request, struct check_report *report);
bool check_pid(pid_t pid, struct check_report *report);

/* The same; returns 0, or the exit status of what failed, which it has said. */
int check_run(const struct check_request *request, struct check_report *report);

/* The exit status for a program that there is nothing to report on, by the reason in errno. */
int check_status_of(int reason);

/*
 * argv[0] is the subcommand's own name, and `run` is `tenacurl run`, for --run. Returns the verdict; SAY_EXIT_REFUSED
 * for bad use, SAY_EXIT_NOT_FOUND.
 */
int check_command(int argc, char **argv, int (*run)(int argc, char **argv));

#endif
