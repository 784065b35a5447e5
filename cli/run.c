/* SPDX-License-Identifier: MIT */
/*
 * run refuses (125) what the user asked for on the command line and can't get, since a program that runs without its
 * protection unnoticed is the worst outcome. What is wrong elsewhere, in a policy from the environment or the default
 * place, must never keep a program from running: it is a warning, and the program runs as it would without tenacurl.
 */
#include "cli/run.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "log/sink.h"

#define RUN_ID_DIGITS 16

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
    "  -v, --verbose        say on stderr what is set\n"
    "  -h, --help           print this text\n"
    "\n"
    "Exit status: that of COMMAND; 125 if run itself fails, 126 if COMMAND can't be executed, 127 if it isn't found.\n";

struct run_options {
	const char *policy;
	const char *mode;
	const char *log;
	const char *deadline;
	const char *job;
	bool verbose;
	char **command;
};

/* What the program's environment will hold; NULL: left as it is. */
struct run_plan {
	char *object; /* NULL: no preloading */
	char *policy_path;
	char *log;
	char run_id[RUN_ID_DIGITS + 1];
	char deadline[DEADLINE_TEXT_BYTES_MAX]; /* empty: none of our own */
	bool void_deadline;                     /* the inherited one is to go */
};

enum parse_result { PARSE_RUN, PARSE_HELP, PARSE_REFUSED };

bool run_refuse(struct run_error *error, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return false;
}

/* Says something that doesn't keep the program from running: to people if there are any, else to syslog. */
__attribute__((format(printf, 2, 3))) static void warn_user(const struct run_options *options, const char *format, ...)
{
	char text[1024] = "";
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (options->verbose || isatty(STDERR_FILENO))
		fprintf(stderr, "tenacurl run: warning: %s\n", text);
	else
		log_syslog(LOG_WARNING, text, strlen(text));
}

static void warn_if_verbose(void *context, const char *text)
{
	const struct run_options *options = context;
	if (options->verbose)
		warn_user(options, "%s", text);
}

static enum parse_result parse_options(int argc, char **argv, struct run_options *options)
{
	enum { POLICY = 256, MODE, LOG, DEADLINE, JOB };
	static const struct option LONG_OPTIONS[] = {{"policy", required_argument, NULL, POLICY},
	                                             {"mode", required_argument, NULL, MODE},
	                                             {"log", required_argument, NULL, LOG},
	                                             {"deadline", required_argument, NULL, DEADLINE},
	                                             {"job", required_argument, NULL, JOB},
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

/* Returns `path` made absolute but not resolved, since links are switched to change what they name. To free(). */
static char *absolute_path(const char *path, struct run_error *error)
{
	char *absolute = NULL;
	char directory[PATH_MAX];
	if (path[0] == '/')
		absolute = strdup(path);
	else if (!getcwd(directory, sizeof(directory)))
		run_refuse(error, "can't make '%s' absolute: %s", path, strerror(errno));
	else if (asprintf(&absolute, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, path) < 0)
		absolute = NULL;
	if (!absolute && !error->text[0])
		run_refuse(error, "out of memory");
	return absolute;
}

static bool is_sink_word(const char *log)
{
	return strcmp(log, "none") == 0 || strcmp(log, "stderr") == 0 || strcmp(log, "syslog") == 0;
}

/* A log that was asked for and can't be written is a mistake to be told now, not to be lost record by record. */
static bool check_log_file(const char *path, struct run_error *error)
{
	struct stat file;
	if (strstr(path, "%u"))
		return true;
	if (lstat(path, &file) == 0)
		return S_ISREG(file.st_mode) || run_refuse(error, "--log %s: not a regular file", path);
	char *directory = strndup(path, (size_t)(strrchr(path, '/') - path) + 1);
	bool usable = directory && access(directory, W_OK | X_OK) == 0;
	if (!usable)
		run_refuse(error, "--log %s: %s", path, strerror(errno));
	free(directory);
	return usable;
}

static bool plan_log(const struct run_options *options, struct run_plan *plan, struct run_error *error)
{
	if (!options->log)
		return true;
	if (!options->log[0])
		return run_refuse(error, "--log needs none, stderr, syslog or a file");
	if (is_sink_word(options->log)) {
		plan->log = strdup(options->log);
		return plan->log || run_refuse(error, "out of memory");
	}
	plan->log = absolute_path(options->log, error);
	return plan->log && check_log_file(plan->log, error);
}

static bool plan_policy(const struct run_options *options, struct run_plan *plan, struct run_error *error)
{
	if (options->policy) {
		plan->policy_path = absolute_path(options->policy, error);
		if (!plan->policy_path)
			return false;
	}
	const struct run_policy_request request = {.policy_path = plan->policy_path,
	                                           .mode = options->mode,
	                                           .log = plan->log,
	                                           .warn = warn_if_verbose,
	                                           .warn_context = (void *)(uintptr_t)options};
	enum run_policy_state state = run_check_policy(&request, error);
	if (state == RUN_POLICY_BAD_ELSEWHERE)
		warn_user(options, "%s; running without tenacurl's help", error->text);
	return state != RUN_POLICY_BAD_HERE;
}

static bool is_run_id(const char *text)
{
	return strlen(text) == RUN_ID_DIGITS && strspn(text, "0123456789abcdef") == RUN_ID_DIGITS;
}

/* A run within a run belongs to it: same id, and its own deadline can only be earlier. */
static bool plan_run(const struct run_options *options, struct run_plan *plan, struct run_error *error)
{
	const char *inherited_text = getenv("TENACURL_DEADLINE"), *inherited_id = getenv("TENACURL_RUN");
	struct deadline_text inherited;
	bool live =
	    inherited_text && deadline_text_parse(inherited_text, &inherited) && run_deadline_is_live(&inherited);
	plan->void_deadline = inherited_text && !live;

	if (inherited_id && is_run_id(inherited_id) && !plan->void_deadline) {
		memcpy(plan->run_id, inherited_id, sizeof(plan->run_id));
	} else {
		uint64_t id;
		if (getrandom(&id, sizeof(id), 0) != (ssize_t)sizeof(id))
			return run_refuse(error, "no random numbers: %s", strerror(errno));
		snprintf(plan->run_id, sizeof(plan->run_id), "%016llx", (unsigned long long)id);
	}

	int64_t duration_ms;
	if (!options->deadline)
		return true;
	if (!run_parse_duration(options->deadline, &duration_ms))
		return run_refuse(error,
		                  "--deadline %s: not a time like 30s, 1500ms, 2m or 0.5h, above 0 and up to 365d",
		                  options->deadline);
	return run_make_deadline(duration_ms, live ? &inherited : NULL, plan->deadline, error);
}

static bool plan_object(const struct run_options *options, struct run_plan *plan, struct run_error *error)
{
	const char *program = options->command[0];
	plan->object = run_find_object(error);
	if (!plan->object)
		return false;
	switch (run_inspect_program(program)) {
	case RUN_PROGRAM_ORDINARY:
		break;
	case RUN_PROGRAM_STATIC:
		if (options->verbose)
			warn_user(options, "%s is statically linked: only its children can be helped", program);
		break;
	case RUN_PROGRAM_PRIVILEGED:
		warn_user(options, "%s is setuid or setgid: the dynamic linker drops tenacurl", program);
		break;
	case RUN_PROGRAM_FOREIGN:
		warn_user(options, "%s is of another architecture than tenacurl; running without its help", program);
		free(plan->object);
		plan->object = NULL;
		break;
	}
	return true;
}

static bool make_plan(const struct run_options *options, struct run_plan *plan, struct run_error *error)
{
	if (options->job && !options->job[0])
		return run_refuse(error, "--job needs a name");
	return plan_log(options, plan, error) && plan_policy(options, plan, error) && plan_run(options, plan, error) &&
	       plan_object(options, plan, error);
}

/* Sets a variable, or leaves it alone if value is NULL. */
static bool set_variable(const struct run_options *options, const char *name, const char *value)
{
	if (!value)
		return true;
	if (options->verbose)
		fprintf(stderr, "tenacurl run: %s=%s\n", name, value);
	return setenv(name, value, 1) == 0;
}

static bool set_preload(const struct run_options *options, const char *object)
{
	if (!object)
		return true;
	char *preload = run_compose_preload(getenv("LD_PRELOAD"), object);
	char *asan_options = run_compose_asan_options(getenv("ASAN_OPTIONS"));
	bool set = preload && asan_options && set_variable(options, "LD_PRELOAD", preload) &&
	           set_variable(options, "ASAN_OPTIONS", asan_options);
	free(preload);
	free(asan_options);
	return set;
}

static bool set_environment(const struct run_options *options, const struct run_plan *plan)
{
	if (plan->void_deadline)
		unsetenv("TENACURL_DEADLINE");
	return set_variable(options, "TENACURL_POLICY", plan->policy_path) &&
	       set_variable(options, "TENACURL_MODE", options->mode) &&
	       set_variable(options, "TENACURL_LOG", plan->log) &&
	       set_variable(options, "TENACURL_JOB", options->job) &&
	       set_variable(options, "TENACURL_RUN", plan->run_id) &&
	       set_variable(options, "TENACURL_DEADLINE", plan->deadline[0] ? plan->deadline : NULL) &&
	       set_preload(options, plan->object);
}

static void free_plan(struct run_plan *plan)
{
	free(plan->object);
	free(plan->policy_path);
	free(plan->log);
}

/* Returns only if the program can't be executed, with the status that a shell would give. */
static int execute(char **command)
{
	run_execute_program(command);
	int reason = errno;
	fprintf(stderr, "tenacurl run: can't run '%s': %s\n", command[0], strerror(reason));
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

	bool ready = make_plan(&options, &plan, &error);
	if (ready && !set_environment(&options, &plan))
		ready = run_refuse(&error, "can't set the environment: %s", strerror(errno));
	free_plan(&plan);
	if (!ready) {
		fprintf(stderr, "tenacurl run: %s\n", error.text);
		return RUN_EXIT_REFUSED;
	}
	return execute(options.command);
}
