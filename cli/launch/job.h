/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_LAUNCH_JOB_H
#define TENACURL_CLI_LAUNCH_JOB_H

/* How `tenacurl run` names a job that nobody else named. */

/*
 * The script that a command runs, else its program, without directories: "import.sh" of ./import.sh, bash -e import.sh
 * and nice ./import.sh. To free(). NULL if TENACURL_JOB has a name, which stays, if the command has none,
 * or without memory.
 */
char *job_name(char **command);

#endif
