/* SPDX-License-Identifier: MIT */
#include "cli/run/policy.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/policy/load.h"
#include "config/find.h"

/* A key that the command line or the environment replaces. */
struct replaced_key {
	const char *key;
	const char *given;       /* on the command line; NULL: not there */
	const char *inherited;   /* in the environment; NULL: not there */
	const char *variable;    /* its name */
	const char **overridden; /* where the value in force goes */
};

/* The command line's value, else the environment's, if it is one that the key takes. */
static enum run_policy_state take_override(const struct replaced_key *replaced, struct say_error *error)
{
	const char *value = replaced->given ? replaced->given : replaced->inherited;
	struct policy_error reason;
	*replaced->overridden = value;
	if (!value || cli_check_override(replaced->key, value, &reason))
		return RUN_POLICY_GOOD;
	if (replaced->given) {
		say_refuse(error, "--%s", reason.text); /* which begins with "key = value: " */
		return RUN_POLICY_BAD_HERE;
	}
	say_refuse(error, "%s: %s", replaced->variable, reason.text);
	*replaced->overridden = NULL; /* what the command line asks for is looked at all the same */
	return RUN_POLICY_BAD_ELSEWHERE;
}

static enum run_policy_state take_overrides(const struct run_policy_request *request,
                                            struct policy_overrides *overrides, struct say_error *error)
{
	const struct policy_overrides inherited = cli_environment_overrides();
	const struct replaced_key keys[] = {
	    {"log", request->log, inherited.log, "TENACURL_LOG", &overrides->log},
	    {"mode", request->mode, inherited.mode, "TENACURL_MODE", &overrides->mode},
	};
	enum run_policy_state state = RUN_POLICY_GOOD;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && state != RUN_POLICY_BAD_HERE; i++) {
		struct say_error found = {""};
		enum run_policy_state of_key = take_override(&keys[i], &found);
		if (of_key == RUN_POLICY_GOOD)
			continue;
		*error = found;
		state = of_key;
	}
	return state;
}

/* Whether the policy would be good if the command line said nothing of mode and log. */
static bool is_good_without_the_command_line(const struct run_policy_request *request, const char *path,
                                             const struct policy_overrides *overrides)
{
	struct policy_overrides rest = *overrides;
	struct policy_error ignored;
	if (request->mode)
		rest.mode = NULL;
	if (request->log)
		rest.log = NULL;
	const struct policy *policy = cli_load_policy(path, &rest, NULL, NULL, &ignored);
	bool good = policy != NULL;
	policy_free(policy);
	return good;
}

static enum run_policy_state blame(const struct run_policy_request *request, const char *path,
                                   const struct policy_overrides *overrides, const struct policy_error *reason,
                                   struct say_error *error)
{
	bool replaces = request->mode || request->log;
	bool by_override = replaces && is_good_without_the_command_line(request, path, overrides);
	if (by_override && request->mode && strcmp(request->mode, "audit") == 0)
		say_refuse(error, "--mode audit changes nothing but the log, and there is none: add --log");
	else
		say_refuse(error, "%s", reason->text);
	return request->policy_path || by_override ? RUN_POLICY_BAD_HERE : RUN_POLICY_BAD_ELSEWHERE;
}

static enum run_policy_state check_file(const struct run_policy_request *request,
                                        const struct policy_overrides *overrides, struct say_error *error)
{
	const struct policy_places places = cli_policy_places(request->policy_path);
	struct policy_error reason;
	char found_path[PATH_MAX];
	enum policy_found how;
	const char *path = policy_find(&places, found_path, sizeof(found_path), &how) ? found_path : NULL;
	if (how == POLICY_FOUND_TOO_LONG) {
		say_refuse(error, "the path of the policy is too long");
		return request->policy_path ? RUN_POLICY_BAD_HERE : RUN_POLICY_BAD_ELSEWHERE;
	}
	const struct policy *policy = cli_load_policy(path, overrides, request->warn, request->warn_context, &reason);
	if (policy && sink_is_wanted(policy))
		sink_try(&policy->sections[0].rules, request->log_trouble);
	policy_free(policy);
	return policy ? RUN_POLICY_GOOD : blame(request, path, overrides, &reason, error);
}

enum run_policy_state run_check_policy(const struct run_policy_request *request, struct say_error *error)
{
	struct policy_overrides overrides = {NULL, NULL};
	struct say_error of_file = {""};
	enum run_policy_state state = take_overrides(request, &overrides, error);
	if (state == RUN_POLICY_BAD_HERE)
		return state;
	enum run_policy_state file_state = check_file(request, &overrides, &of_file);
	if (file_state == RUN_POLICY_BAD_HERE || state == RUN_POLICY_GOOD) {
		*error = of_file;
		return file_state;
	}
	return state;
}
