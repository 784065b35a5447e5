/* SPDX-License-Identifier: MIT */
#include "cli/policy/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/policy/ini.h"
#include "config/check.h"

static const char *variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

struct policy_overrides cli_environment_overrides(void)
{
	return (struct policy_overrides){.mode = variable("TENACURL_MODE"), .log = variable("TENACURL_LOG")};
}

struct policy_places cli_policy_places(const char *named)
{
	return (struct policy_places){.named_by_command = named,
	                              .environment = getenv("TENACURL_POLICY"),
	                              .home = getenv("HOME"),
	                              .is_root = geteuid() == 0};
}

static struct policy *copy_builtin(struct policy_error *error)
{
	struct policy *policy = policy_copy(policy_builtin());
	if (!policy)
		snprintf(error->text, sizeof(error->text), "out of memory");
	return policy;
}

bool cli_check_override(const char *key, const char *value, struct policy_error *error)
{
	struct policy *policy = copy_builtin(error);
	bool taken = policy && policy_override(policy, key, value, error);
	policy_free(policy);
	return taken;
}

static const struct policy *override_builtin(const struct policy_overrides *overrides, struct policy_error *error)
{
	struct policy *policy = copy_builtin(error);
	if (policy && (!overrides->mode || policy_override(policy, "mode", overrides->mode, error)) &&
	    (!overrides->log || policy_override(policy, "log", overrides->log, error)) && policy_check(policy, error))
		return policy;
	policy_free(policy);
	return NULL;
}

const struct policy *cli_load_policy(const char *path, const struct policy_overrides *overrides, policy_warn warn,
                                     void *warn_context, struct policy_error *error)
{
	const struct policy *policy = NULL;
	if (!path)
		return override_builtin(overrides, error);
	if (policy_load_with(path, cli_ini_functions(), overrides, warn, warn_context, &policy, error) == POLICY_LOADED)
		return policy;
	return NULL;
}
