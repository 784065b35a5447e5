/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check.h"
#include "cli/forget.h"
#include "cli/last.h"
#include "cli/log.h"
#include "cli/plain_text.h"
#include "cli/policy.h"
#include "cli/report.h"
#include "cli/run.h"
#include "cli/simulate.h"
#include "cli/stats.h"
#include "config/variable.h"

#define EXIT_USAGE 2

struct command {
	const char *name;
	int (*start)(int argc, char **argv); /* argv[0] is the command's name */
	const char *summary;
};

static const struct command COMMANDS[] = {
    {"run", run_command, "start a program whose libcurl requests are retried"},
    {"check", check_command, "say whether a program's libcurl requests would be retried"},
    {"policy", policy_command, "check a policy file, explain what applies"},
    {"simulate", simulate_command, "run scripted outcomes through the retry engine"},
    {"log", log_command, "print log records for people"},
    {"report", report_command, "add up what logs tell of each program, origin and job"},
    {"stats", stats_command, "tell what this host's programs got from each origin"},
    {"forget", forget_command, "forget what was learned of programs that retry by themselves"},
    {"last", last_command, "tell why requests failed or were retried lately"},
};

static void print_help(FILE *out)
{
	fputs("Usage: tenacurl COMMAND [ARGUMENT...]\n"
	      "Transparent retries for programs that use libcurl.\n"
	      "\n",
	      out);
	for (size_t i = 0; i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++)
		fprintf(out, "  %-10s %s\n", COMMANDS[i].name, COMMANDS[i].summary);
	fputs("  help       print the help of a command\n"
	      "\n"
	      "  -h, --help      print this text\n"
	      "  -V, --version   print the version\n"
	      "\n"
	      "'tenacurl help COMMAND' says more; so does tenacurl(1).\n",
	      out);
}

static int fail_usage(const char *what, const char *culprit)
{
	fprintf(stderr, "tenacurl: %s '%s'\nTry 'tenacurl --help'.\n", what, plain_text(culprit));
	return EXIT_USAGE;
}

/* Returns the exit status of a text that was printed: it may not have arrived. */
static int finish_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	fprintf(stderr, "tenacurl: can't write: %s\n", strerror(errno));
	return 1;
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++)
		if (strcmp(COMMANDS[i].name, name) == 0)
			return &COMMANDS[i];
	return NULL;
}

static int print_help_of(const char *name)
{
	const struct command *command = find_command(name);
	if (!command)
		return fail_usage("no command", name);
	char command_name[32], help[] = "--help";
	snprintf(command_name, sizeof(command_name), "%s", name);
	char *arguments[] = {command_name, help, NULL};
	return command->start(2, arguments);
}

static int dispatch(int argc, char **argv)
{
	if (strcmp(argv[0], "help") == 0) {
		if (argc > 1)
			return print_help_of(argv[1]);
		print_help(stdout);
		return finish_output();
	}
	const struct command *command = find_command(argv[0]);
	return command ? command->start(argc, argv) : fail_usage("no command", argv[0]);
}

/* Our variables as the preloaded object reads them: what a file of variables keeps of quotes is no part of a value. */
static void tidy_environment(void)
{
	static const char *const names[] = {"TENACURL_POLICY", "TENACURL_MODE", "TENACURL_LOG",     "TENACURL_STATE",
	                                    "TENACURL_JOB",    "TENACURL_RUN",  "TENACURL_DEADLINE"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = getenv(names[i]);
		struct variable_span value = variable_value(text);
		char *tidy = text && text[value.count] ? strndup(value.bytes, value.count) : NULL;
		if (tidy)
			setenv(names[i], tidy, 1);
		free(tidy);
	}
}

int main(int argc, char **argv)
{
	static const struct option OPTIONS[] = {
	    {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {0}};
	static char name[] = "tenacurl";
	tidy_environment();
	if (argc > 0)
		argv[0] = name; /* getopt's messages begin with it */

	/* "+": what follows the command is the command's. */
	switch (getopt_long(argc, argv, "+hV", OPTIONS, NULL)) {
	case 'h':
		print_help(stdout);
		return finish_output();
	case 'V':
		puts("tenacurl " TENACURL_VERSION);
		return finish_output();
	case -1:
		break;
	default:
		fputs("Try 'tenacurl --help'.\n", stderr);
		return EXIT_USAGE;
	}
	if (optind >= argc) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	return dispatch(argc - optind, argv + optind);
}
