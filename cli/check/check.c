/* SPDX-License-Identifier: MIT */
#include "cli/check/check.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check/print.h"
#include "cli/launch/job.h"
#include "cli/policy/off_switch.h"
#include "cli/say/exit.h"
#include "cli/say/options.h"
#include "cli/say/plain_text.h"

/* What the command line says. */
struct request {
	struct check_request check;
	bool run;
	int64_t pid; /* 0: none */
};

static const struct say_option OPTIONS[] = {
    SAY_ROW("run", '\0', NULL, SAY_FLAG, struct request, run,
            "run PROGRAM under tenacurl and tell which of its transfers were wrapped"),
    SAY_ROW("pid", '\0', "PID", SAY_PID, struct request, pid, "look at a process that is running"),
    SAY_ROW("no-binder", '\0', NULL, SAY_FLAG, struct request, check.no_binder,
            "without the binder, as with 'tenacurl run --no-binder'"),
    SAY_ROW("json", '\0', NULL, SAY_FLAG, struct request, check.json, "print one JSON object"),
    {0}};

static const struct say_command COMMAND = {
    .name = "tenacurl check",
    .forms = "tenacurl check [OPTION...] [--] PROGRAM [ARG...]\n"
             "tenacurl check [--json] --pid PID",
    .about = "Says whether the libcurl transfers of PROGRAM would be wrapped by 'tenacurl run', and if not, why. "
             "Nothing of\n"
             "PROGRAM is executed unless --run asks for that.",
    .options = OPTIONS,
    .notes = "Exit status: 0 covered, 1 partly covered, 2 not covered, 3 unknown (files can't tell: use --run); 125 if "
             "check\n"
             "itself fails, 126 if PROGRAM can't be executed, 127 if it isn't found.",
    .examples = "tenacurl check ./import.sh\n"
                "tenacurl check --run -- php job.php\n"
                "tenacurl check --pid 4711\n",
    .wrong_usage = SAY_EXIT_REFUSED,
    .unwritable = SAY_EXIT_REFUSED,
    .takes_command = true,
};

/* SAY_GO_ON, or the exit status of wrong usage. */
static int check_request(const struct request *request)
{
	bool has_command = request->check.command[0] != NULL;
	if (request->pid && (request->run || has_command || request->check.no_binder))
		return say_wrong_usage(&COMMAND, "--pid goes with --json alone");
	return request->pid || has_command ? SAY_GO_ON : say_wrong_usage(&COMMAND, "which program?");
}

int check_status_of(int reason)
{
	switch (reason) {
	case ENOENT:
	case ENOTDIR:
		return SAY_EXIT_NOT_FOUND;
	case EACCES:
	case EISDIR:
	case ENOEXEC:
	case ELOOP:
		return SAY_EXIT_NOT_EXECUTABLE;
	default:
		return SAY_EXIT_REFUSED;
	}
}

/* `run` would name the job, by which the policy may choose. */
static void name_job(char **command)
{
	char *name = job_name(command);
	if (name)
		setenv("TENACURL_JOB", name, 1);
	free(name);
}

/* Fills the report; returns 0, or the exit status of a failure that was told. */
static int find_out(const struct request *request, struct check_report *report)
{
	if (request->pid)
		return check_pid((pid_t)request->pid, report) ? 0 : SAY_EXIT_REFUSED;
	name_job(request->check.command);
	if (request->run)
		return check_run(&request->check, report);
	if (check_static(&request->check, report))
		return 0;
	int reason = errno;
	fprintf(stderr, "tenacurl check: can't check '%s': %s\n", plain_text(request->check.command[0]),
	        strerror(reason));
	return check_status_of(reason);
}

/* Returns the exit status. */
static int tell(const struct request *request)
{
	struct check_report report = {0};
	off_switch_tell();
	int status = find_out(request, &report);
	if (status == 0) {
		check_judge(&report);
		bool printed = request->check.json ? check_print_json(&report) : check_print_text(&report);
		status = printed ? (int)report.verdict : SAY_EXIT_REFUSED;
		if (!printed)
			fprintf(stderr, "tenacurl check: can't write: %s\n", strerror(errno));
	}
	check_report_free(&report);
	return status;
}

int check_command(int argc, char **argv, int (*run)(int argc, char **argv))
{
	struct request request = {.check = {.run = run}};
	int end = say_read_options(&COMMAND, argc, argv, &request, &request.check.command);
	if (end == SAY_GO_ON)
		end = check_request(&request);
	return end == SAY_GO_ON ? tell(&request) : end;
}
