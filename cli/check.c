/* SPDX-License-Identifier: MIT */
#include "cli/check.h"

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plain_text.h"
#include "cli/run.h"

static const char HELP[] =
    "Usage: tenacurl check [OPTION...] [--] PROGRAM [ARG...]\n"
    "       tenacurl check [--json] --pid PID\n"
    "Says whether the libcurl transfers of PROGRAM would be wrapped by 'tenacurl run', and if not, why. Nothing of\n"
    "PROGRAM is executed unless --run asks for that.\n"
    "\n"
    "      --run         run PROGRAM under tenacurl and tell which of its transfers were wrapped\n"
    "      --pid PID     look at a process that is running\n"
    "      --no-binder   without the binder, as with 'tenacurl run --no-binder'\n"
    "      --json        print one JSON object\n"
    "  -h, --help        print this text\n"
    "\n"
    "Exit status: 0 covered, 1 partly covered, 2 not covered; 125 if check itself fails, 126 if PROGRAM can't be\n"
    "executed, 127 if it isn't found.\n";

enum check_way { BY_FILES, BY_RUNNING, BY_PROCESS };

enum parse_result { PARSE_CHECK, PARSE_HELP, PARSE_REFUSED };

struct check_options {
	struct check_request request;
	enum check_way way;
	pid_t pid;
};

static bool refuse(const char *what, const char *culprit)
{
	fprintf(stderr, "tenacurl check: %s%s\n", what, plain_text(culprit));
	return false;
}

static bool parse_pid(const char *text, struct check_options *options)
{
	char *end;
	errno = 0;
	long pid = strtol(text, &end, 10);
	if (errno || end == text || *end || pid <= 0 || pid > INT32_MAX)
		return refuse("--pid needs the id of a process, not ", text);
	options->pid = (pid_t)pid;
	options->way = BY_PROCESS;
	return true;
}

static bool parse_option(int option, struct check_options *options)
{
	switch (option) {
	case 'r':
		options->way = BY_RUNNING;
		return true;
	case 'p':
		return parse_pid(optarg, options);
	case 'b':
		options->request.no_binder = true;
		return true;
	case 'j':
		options->request.json = true;
		return true;
	default:
		return false; /* getopt said why */
	}
}

static enum parse_result parse_options(int argc, char **argv, struct check_options *options)
{
	static const struct option LONG_OPTIONS[] = {
	    {"run", no_argument, NULL, 'r'},       {"pid", required_argument, NULL, 'p'},
	    {"no-binder", no_argument, NULL, 'b'}, {"json", no_argument, NULL, 'j'},
	    {"help", no_argument, NULL, 'h'},      {0}};
	bool asked_run = false, asked_pid = false;
	optind = 0; /* getopt was used for the command before */
	for (int option; (option = getopt_long(argc, argv, "+h", LONG_OPTIONS, NULL)) != -1;) {
		if (option == 'h')
			return PARSE_HELP;
		asked_run |= option == 'r';
		asked_pid |= option == 'p';
		if (!parse_option(option, options))
			return PARSE_REFUSED;
	}
	options->request.command = argv + optind;
	bool has_command = optind < argc;
	bool usable = asked_pid || has_command || refuse("which program?", "");
	if (asked_pid && (asked_run || has_command || options->request.no_binder))
		usable = refuse("--pid goes with --json alone", "");
	return usable ? PARSE_CHECK : PARSE_REFUSED;
}

/* The status for a program that there is nothing to say of, by the reason in errno. */
static int status_of_failure(int reason)
{
	switch (reason) {
	case ENOENT:
	case ENOTDIR:
		return RUN_EXIT_NOT_FOUND;
	case EACCES:
	case EISDIR:
	case ENOEXEC:
	case ELOOP:
		return RUN_EXIT_NOT_EXECUTABLE;
	default:
		return RUN_EXIT_REFUSED;
	}
}

/* Fills the report; returns 0, or the exit status of a failure that was told. */
static int find_out(const struct check_options *options, struct check_report *report)
{
	const char *name = options->request.command[0];
	if (options->way == BY_PROCESS)
		return check_pid(options->pid, report) ? 0 : RUN_EXIT_REFUSED;
	bool done =
	    options->way == BY_RUNNING ? check_run(&options->request, report) : check_static(&options->request, report);
	int reason = errno;
	if (done)
		return 0;
	if (options->way == BY_FILES)
		fprintf(stderr, "tenacurl check: can't check '%s': %s\n", plain_text(name), strerror(reason));
	return status_of_failure(reason);
}

static int print_help(void)
{
	fputs(HELP, stdout);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	fprintf(stderr, "tenacurl check: can't write: %s\n", strerror(errno));
	return RUN_EXIT_REFUSED;
}

int check_command(int argc, char **argv)
{
	static char name[] = "tenacurl check";
	struct check_options options = {0};
	struct check_report report = {0};
	argv[0] = name; /* getopt's messages begin with it */
	switch (parse_options(argc, argv, &options)) {
	case PARSE_HELP:
		return print_help();
	case PARSE_REFUSED:
		fputs("Try 'tenacurl check --help'.\n", stderr);
		return RUN_EXIT_REFUSED;
	default:
		break;
	}
	int status = find_out(&options, &report);
	if (status == 0) {
		check_judge(&report);
		bool printed = options.request.json ? check_print_json(&report) : check_print_text(&report);
		status = printed ? (int)report.verdict : RUN_EXIT_REFUSED;
		if (!printed)
			fprintf(stderr, "tenacurl check: can't write: %s\n", strerror(errno));
	}
	check_report_free(&report);
	return status;
}
