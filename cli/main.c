/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check/check.h"
#include "cli/log/log.h"
#include "cli/log/report.h"
#include "cli/policy/policy.h"
#include "cli/run/run.h"
#include "cli/say/options.h"
#include "cli/say/output.h"
#include "cli/simulate/simulate.h"
#include "cli/stats/forget.h"
#include "cli/stats/last.h"
#include "cli/stats/stats.h"
#include "config/variable.h"

struct command {
	const char *name;
	int (*start)(int argc, char **argv); /* argv[0] is the command's name */
	const char *summary;
};

/* The commands know nothing of each other. */
static int check(int argc, char **argv)
{
	return check_command(argc, argv, run_command);
}

static const struct command COMMANDS[] = {
    {"run", run_command, "start a program whose libcurl requests are retried"},
    {"check", check, "say whether a program's libcurl requests would be retried"},
    {"policy", policy_command, "check a policy file, explain what applies"},
    {"simulate", simulate_command, "run scripted outcomes through the retry engine"},
    {"log", log_command, "print log records for people"},
    {"report", report_command, "add up what logs tell of each program, origin and job"},
    {"stats", stats_command, "tell what this host's programs got from each origin"},
    {"forget", forget_command, "forget what was learned of programs that retry by themselves"},
    {"last", last_command, "tell why requests failed or were retried lately"},
};

/* What the command line says before the command. */
struct request {
	bool version;
};

static void print_commands(FILE *out)
{
	fputs("Commands:\n", out);
	for (size_t i = 0; i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++)
		fprintf(out, "  %-10s %s\n", COMMANDS[i].name, COMMANDS[i].summary);
	fputs("  help       print the help of a command\n"
	      "\n"
	      "'tenacurl help COMMAND' says more; so does tenacurl(1).\n",
	      out);
}

static const struct say_option OPTIONS[] = {
    SAY_ROW("version", 'V', NULL, SAY_FLAG, struct request, version, "print the version"), {0}};

static const struct say_command COMMAND = {
    .name = "tenacurl",
    .forms = "tenacurl COMMAND [ARGUMENT...]",
    .about = "Transparent retries for programs that use libcurl.",
    .options = OPTIONS,
    .more = print_commands,
    .examples = "tenacurl run -- curl -sSf https://example.org/\n"
                "tenacurl check curl\n"
                "tenacurl last\n",
    .wrong_usage = 2,
    .unwritable = 1,
    .takes_command = true,
};

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
		return say_wrong_usage(&COMMAND, "no command '%s'", name);
	char command_name[32], help[] = "--help";
	snprintf(command_name, sizeof(command_name), "%s", name);
	char *arguments[] = {command_name, help, NULL};
	return command->start(2, arguments);
}

static int dispatch(int argc, char **argv)
{
	if (strcmp(argv[0], "help") == 0) {
		bool of_all = argc == 1 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
		if (!of_all)
			return print_help_of(argv[1]);
		say_help(stdout, &COMMAND);
		return say_flush(COMMAND.name) ? 0 : COMMAND.unwritable;
	}
	const struct command *command = find_command(argv[0]);
	return command ? command->start(argc, argv) : say_wrong_usage(&COMMAND, "no command '%s'", argv[0]);
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
	struct request request = {false};
	char **words;
	tidy_environment();
	int end = say_read_options(&COMMAND, argc, argv, &request, &words);
	if (end != SAY_GO_ON)
		return end;
	if (request.version) {
		puts("tenacurl " TENACURL_VERSION);
		return say_flush(COMMAND.name) ? 0 : COMMAND.unwritable;
	}
	if (words[0]) {
		int count = 1;
		while (words[count])
			count++;
		return dispatch(count, words);
	}
	say_help(stderr, &COMMAND);
	return COMMAND.wrong_usage;
}
