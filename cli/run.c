/* SPDX-License-Identifier: MIT */
/*
 * run refuses (125) what the user asked for on the command line and can't get, since a program that runs without its
 * protection unnoticed is the worst outcome. What is wrong elsewhere, in a policy from the environment or the default
 * place, must never keep a program from running: it is a warning, and the program runs as it would without tenacurl.
 * --require asks for more: whatever would leave the program unprotected is a refusal then.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "cli/check.h"
#include "cli/plain_text.h"
#include "cli/run_plan.h"
#include "log/sink.h"

static const char HELP[] =
    "Usage: tenacurl run [OPTION...] [--] COMMAND [ARG...]\n"
    "Starts COMMAND so that its libcurl requests, and those of its children, are retried as the policy says.\n"
    "\n"
    "      --policy FILE    use this policy; otherwise $TENACURL_POLICY, ~/.config/tenacurl/policy.ini (not root),\n"
    "                       /etc/tenacurl/policy.ini, the built-in one\n"
    "      --mode MODE      enforce, audit (log what would be done, change nothing) or off\n"
    "      --log SINK       none, stderr, syslog or a file (%u: user id)\n"
    "      --deadline TIME  end all retrying of COMMAND and its children after TIME: 30s, 1500ms, 2m, 1h; s if no "
    "unit\n"
    "      --job NAME       name this job for the log and for the policy's `programs`\n"
    "      --require        start COMMAND only if tenacurl can help it and the policy is good; otherwise 125\n"
    "      --no-binder      leave out what reaches programs that look up libcurl's functions themselves (PHP, FFI)\n"
    "  -v, --verbose        say on stderr what is set\n"
    "  -h, --help           print this text\n"
    "\n"
    "Exit status: that of COMMAND; 125 if run itself fails, 126 if COMMAND can't be executed, 127 if it isn't found.\n";

enum parse_result { PARSE_RUN, PARSE_HELP, PARSE_REFUSED };

bool run_refuse(struct run_error *error, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return false;
}

void run_tell(const struct run_options *options, enum run_audience audience, const char *format, ...)
{
	char text[1024] = "";
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (options->verbose || (audience != RUN_TELL_VERBOSE && isatty(STDERR_FILENO)))
		fprintf(stderr, "tenacurl run: warning: %s\n", plain_text(text));
	else if (audience == RUN_TELL_ANYBODY)
		log_syslog(LOG_WARNING, text, strlen(text));
}

static enum parse_result parse_options(int argc, char **argv, struct run_options *options)
{
	enum { POLICY = 256, MODE, LOG, DEADLINE, JOB, REQUIRE, NO_BINDER };
	static const struct option LONG_OPTIONS[] = {{"policy", required_argument, NULL, POLICY},
	                                             {"mode", required_argument, NULL, MODE},
	                                             {"log", required_argument, NULL, LOG},
	                                             {"deadline", required_argument, NULL, DEADLINE},
	                                             {"job", required_argument, NULL, JOB},
	                                             {"require", no_argument, NULL, REQUIRE},
	                                             {"no-binder", no_argument, NULL, NO_BINDER},
	                                             {"verbose", no_argument, NULL, 'v'},
	                                             {"help", no_argument, NULL, 'h'},
	                                             {0}};
	optind = 0; /* getopt was used for the command before */
	for (int option; (option = getopt_long(argc, argv, "+vh", LONG_OPTIONS, NULL)) != -1;) {
		switch (option) {
		case POLICY:
			options->policy = optarg;
			break;
		case MODE:
			options->mode = optarg;
			break;
		case LOG:
			options->log = optarg;
			break;
		case DEADLINE:
			options->deadline = optarg;
			break;
		case JOB:
			options->job = optarg;
			break;
		case REQUIRE:
			options->require = true;
			break;
		case NO_BINDER:
			options->no_binder = true;
			break;
		case 'v':
			options->verbose = true;
			break;
		case 'h':
			return PARSE_HELP;
		default:
			return PARSE_REFUSED; /* getopt said why */
		}
	}
	options->command = argv + optind;
	if (optind < argc)
		return PARSE_RUN;
	fputs("tenacurl run: which command?\n", stderr);
	return PARSE_REFUSED;
}

/*
 * Refuses a program none of whose uses of libcurl is wrapped. Where nothing of libcurl is seen in the files, as with
 * most scripts, that proves nothing; and what can't be started fails by itself.
 */
static bool check_requirement(const struct run_options *options, struct run_error *error)
{
	const struct check_request request = {.command = options->command, .no_binder = options->no_binder};
	struct check_report report = {0};
	bool met = true;
	if (check_static(&request, &report)) {
		check_judge(&report);
		met = report.verdict != CHECK_NOT || report.reason == CHECK_REASON_NO_LIBCURL;
	}
	if (!met)
		run_refuse(
		    error, "--require: %s can't be helped: %s ('tenacurl check' tells more)", options->command[0],
		    report.reason == CHECK_REASON_NONE ? "for several reasons" : check_reason_text(report.reason));
	check_report_free(&report);
	return met;
}

/* Returns only if the program can't be executed, with the status that a shell would give. */
static int execute(char **command)
{
	run_execute_program(command);
	int reason = errno;
	fprintf(stderr, "tenacurl run: can't run '%s': %s\n", plain_text(command[0]), strerror(reason));
	return reason == ENOENT ? RUN_EXIT_NOT_FOUND : RUN_EXIT_NOT_EXECUTABLE;
}

static int print_help(void)
{
	fputs(HELP, stdout);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : RUN_EXIT_REFUSED;
}

int run_command(int argc, char **argv)
{
	static char name[] = "tenacurl run";
	struct run_options options = {0};
	struct run_plan plan = {0};
	struct run_error error = {""};
	argv[0] = name; /* getopt's messages begin with it */

	switch (parse_options(argc, argv, &options)) {
	case PARSE_HELP:
		return print_help();
	case PARSE_REFUSED:
		fputs("Try 'tenacurl run --help'.\n", stderr);
		return RUN_EXIT_REFUSED;
	case PARSE_RUN:
		break;
	}

	bool ready = run_plan_make(&options, &plan, &error);
	if (ready && !run_plan_set(&options, &plan))
		ready = run_refuse(&error, "can't set the environment: %s", strerror(errno));
	run_plan_free(&plan);
	if (ready && options.require)
		ready = check_requirement(&options, &error);
	if (!ready) {
		fprintf(stderr, "tenacurl run: %s\n", plain_text(error.text));
		return RUN_EXIT_REFUSED;
	}
	return execute(options.command);
}
