/* SPDX-License-Identifier: MIT */
/*
 * run refuses (125) what the user asked for on the command line and can't get, since a program that runs without its
 * protection unnoticed is the worst outcome. What is wrong elsewhere, in a policy from the environment or the default
 * place, must never keep a program from running: it is a warning, and the program runs as it would without tenacurl.
 * --require asks for more: whatever would leave the program unprotected is a refusal then.
 */
#include "cli/run/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check/check.h"
#include "cli/launch/job.h"
#include "cli/run/execute.h"
#include "cli/run/foreign.h"
#include "cli/run/plan.h"
#include "cli/run/summary.h"
#include "cli/run/tell.h"
#include "cli/say/exit.h"
#include "cli/say/options.h"
#include "cli/say/plain_text.h"

static const struct say_option OPTIONS[] = {
    SAY_ROW("policy", '\0', "FILE", SAY_TEXT, struct run_options, policy,
            "use this policy; otherwise $TENACURL_POLICY, ~/.config/tenacurl/policy.ini (not root),\n"
            "/etc/tenacurl/policy.ini, the built-in one"),
    SAY_ROW("mode", '\0', "MODE", SAY_TEXT, struct run_options, mode,
            "enforce, audit (log what would be done, change nothing) or off"),
    SAY_ROW("log", '\0', "SINK", SAY_TEXT, struct run_options, log,
            "none, stderr, stderr-json, syslog or a file (%u: user id)"),
    SAY_ROW("deadline", '\0', "TIME", SAY_TEXT, struct run_options, deadline,
            "end all retrying of COMMAND and its children after TIME: 30s, 1500ms, 2m, 1h; s if no\n"
            "unit"),
    SAY_ROW("job", '\0', "NAME", SAY_TEXT, struct run_options, job,
            "name this job for the log, `last` and the policy's `programs`; otherwise $TENACURL_JOB,\n"
            "the script that COMMAND runs, or its program"),
    SAY_ROW("require", '\0', NULL, SAY_FLAG, struct run_options, require,
            "start COMMAND only if tenacurl can help it and the policy is good; otherwise 125"),
    SAY_ROW("no-binder", '\0', NULL, SAY_FLAG, struct run_options, no_binder,
            "leave out what reaches programs that look up libcurl's functions themselves (PHP, FFI)"),
    SAY_ROW("summary", '\0', NULL, SAY_FLAG, struct run_options, summary,
            "say on stderr in the end what tenacurl did: requests, saved, retries, waited, given up and why"),
    SAY_ROW("verbose", 'v', NULL, SAY_FLAG, struct run_options, verbose, "say on stderr what is set"),
    {0}};

static const struct say_command COMMAND = {
    .name = "tenacurl run",
    .forms = "tenacurl run [OPTION...] [--] COMMAND [ARG...]",
    .about = "Starts COMMAND so that its libcurl requests, and those of its children, are retried as the policy says.",
    .options = OPTIONS,
    .notes =
        "Exit status: that of COMMAND; 125 if run itself fails, 126 if COMMAND can't be executed, 127 if it isn't\n"
        "found.",
    .examples = "tenacurl run -- curl -sSf https://example.org/\n"
                "tenacurl run --deadline 30m --job nightly -- ./import.sh\n"
                "tenacurl run --summary -- ./import.sh\n"
                "tenacurl run --mode audit --log audit.jsonl -- php job.php\n",
    .needs = "which command?",
    .wrong_usage = SAY_EXIT_REFUSED,
    .unwritable = SAY_EXIT_REFUSED,
    .takes_command = true,
};

/*
 * Whether the program may be helped; if it is known not to be, `text` says why: it doesn't use libcurl, or none of its
 * uses is wrapped. Where nothing of libcurl is seen in the files, as with most scripts, that proves nothing; and what
 * can't be started fails by itself.
 */
static bool may_be_helped(const struct run_options *options, struct say_error *text)
{
	const struct check_request request = {.command = options->command, .no_binder = options->no_binder};
	struct check_report report = {0};
	bool may_be = true;
	if (run_is_foreign(options->command, text))
		return false;
	if (check_static(&request, &report)) {
		check_judge(&report);
		may_be = report.verdict != CHECK_NOT || report.reason == CHECK_REASON_NO_LIBCURL;
	}
	if (!may_be)
		say_refuse(text, "%s can't be helped: %s ('tenacurl check' tells more)", options->command[0],
		           report.reason == CHECK_REASON_NONE ? "for several reasons"
		                                              : check_reason_text(report.reason));
	check_report_free(&report);
	return may_be;
}

/* Looks at the program if anybody wants to know. Returns false if that is a reason to refuse. */
static bool heed_program(const struct run_options *options, struct say_error *error)
{
	struct say_error text = {""};
	/* One line is enough: what was told already is more than this. */
	if ((!options->require && (run_has_told() || !run_is_read(options))) || may_be_helped(options, &text))
		return true;
	if (options->require)
		return say_refuse(error, "--require: %s", text.text);
	run_tell(options, RUN_TELL_TERMINAL, "%s", text.text);
	return true;
}

int run_command(int argc, char **argv)
{
	struct run_options options = {0};
	struct run_plan plan = {0};
	struct say_error error = {""};
	int end = say_read_options(&COMMAND, argc, argv, &options, &options.command);
	if (end != SAY_GO_ON)
		return end;

	char *name = options.job ? NULL : job_name(options.command);
	if (name)
		options.job = name;
	bool ready = run_plan_make(&options, &plan, &error);
	if (ready && !run_plan_set(&options, &plan))
		ready = say_refuse(&error, "can't set the environment: %s", strerror(errno));
	run_plan_free(&plan);
	free(name);
	ready = ready && heed_program(&options, &error);
	if (!ready) {
		fprintf(stderr, "tenacurl run: %s\n", plain_text(error.text));
		return SAY_EXIT_REFUSED;
	}
	return options.summary ? run_with_summary(&options) : run_execute(options.command);
}
