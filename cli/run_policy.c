/* SPDX-License-Identifier: MIT */
#include "cli/run.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ini.h"
#include "config/find.h"

/* Applies what replaces a key of the policy: the command line's value, else the one that the environment holds. */
static bool apply_override(struct policy *policy, const char *key, const char *given, const char *variable,
                           struct run_error *error)
{
	struct policy_error reason;
	const char *value = given ? given : getenv(variable);
	if (!value || (!given && !*value) || policy_override(policy, key, value, &reason))
		return true;
	if (given)
		return run_refuse(error, "--%s", reason.text); /* which begins with "key = value: " */
	return run_refuse(error, "%s: %s", variable, reason.text);
}

/* Whether the overrides are values that `base` takes, and audit mode, if asked for, has a log. */
static enum run_policy_state check_overrides(const struct run_policy_request *request, const struct policy *base,
                                             bool base_is_known, struct run_error *error)
{
	struct policy *policy = policy_copy(base);
	if (!policy) {
		run_refuse(error, "out of memory");
		return RUN_POLICY_BAD_HERE;
	}
	enum run_policy_state state = RUN_POLICY_GOOD;
	if (!apply_override(policy, "log", request->log, "TENACURL_LOG", error))
		state = request->log ? RUN_POLICY_BAD_HERE : RUN_POLICY_BAD_ELSEWHERE;
	else if (!apply_override(policy, "mode", request->mode, "TENACURL_MODE", error))
		state = request->mode ? RUN_POLICY_BAD_HERE : RUN_POLICY_BAD_ELSEWHERE;

	bool audit = request->mode && strcmp(request->mode, "audit") == 0;
	if (state == RUN_POLICY_GOOD && audit && base_is_known && policy->sections[0].rules.log == POLICY_LOG_NONE) {
		run_refuse(error, "--mode audit changes nothing but the log, and there is none: add --log");
		state = RUN_POLICY_BAD_HERE;
	}
	policy_free(policy);
	return state;
}

/* Loads the policy that the program will find. No file at all is the built-in one. */
static bool load_found_policy(const struct run_policy_request *request, const struct policy **policy,
                              struct run_error *error)
{
	const struct policy_places places = {.named_by_command = request->policy_path,
	                                     .environment = getenv("TENACURL_POLICY"),
	                                     .home = getenv("HOME"),
	                                     .is_root = geteuid() == 0};
	char path[PATH_MAX];
	enum policy_found how;
	struct policy_error reason;
	*policy = policy_builtin();
	if (!policy_find(&places, path, sizeof(path), &how)) {
		if (how == POLICY_FOUND_TOO_LONG)
			return run_refuse(error, "the path of the policy is too long");
		return true;
	}
	if (policy_load(path, cli_ini_functions(), request->warn, request->warn_context, policy, &reason) ==
	    POLICY_LOADED)
		return true;
	return run_refuse(error, "%s", reason.text);
}

enum run_policy_state run_check_policy(const struct run_policy_request *request, struct run_error *error)
{
	const struct policy *policy;
	struct run_error load_error = {""};
	bool loaded = load_found_policy(request, &policy, &load_error);
	if (!loaded && request->policy_path) {
		*error = load_error;
		return RUN_POLICY_BAD_HERE;
	}
	enum run_policy_state state = check_overrides(request, policy, loaded, error);
	policy_free(policy);
	if (loaded || state == RUN_POLICY_BAD_HERE)
		return state;
	*error = load_error;
	return RUN_POLICY_BAD_ELSEWHERE;
}
