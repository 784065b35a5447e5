/* SPDX-License-Identifier: MIT */
#include "cli/run/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/elf/binder.h"
#include "cli/elf/preload.h"
#include "cli/say/plain_text.h"

/* Sets a variable, or leaves it alone if value is NULL. */
static bool set_variable(const struct run_options *options, const char *name, const char *value)
{
	if (!value)
		return true;
	if (options->verbose)
		fprintf(stderr, "tenacurl run: %s=%s\n", name, plain_text(value));
	return setenv(name, value, 1) == 0;
}

/* Sets a list in the environment from which entries of ours may have gone; one that is empty then goes, too. */
static bool set_list(const struct run_options *options, const char *name, const char *value)
{
	const char *inherited = getenv(name);
	if (!value[0])
		return !inherited || !inherited[0] || unsetenv(name) == 0;
	return (inherited && strcmp(inherited, value) == 0 && !options->verbose) || set_variable(options, name, value);
}

static bool set_preload(const struct run_options *options, const char *object)
{
	char *preload = preload_compose(getenv("LD_PRELOAD"), object);
	char *asan_options = preload_compose_asan_options(getenv("ASAN_OPTIONS"));
	bool set = preload && asan_options && set_list(options, "LD_PRELOAD", preload) &&
	           (!object || set_variable(options, "ASAN_OPTIONS", asan_options));
	free(preload);
	free(asan_options);
	return set;
}

static bool set_audit(const struct run_options *options, const char *binder)
{
	char *audit = binder_compose_audit(getenv("LD_AUDIT"), binder);
	char *tunables = binder_compose_tunables(getenv("GLIBC_TUNABLES"));
	bool set = audit && tunables && set_list(options, "LD_AUDIT", audit) &&
	           (!binder || set_variable(options, "GLIBC_TUNABLES", tunables));
	free(audit);
	free(tunables);
	return set;
}

bool run_plan_set(const struct run_options *options, const struct run_plan *plan)
{
	if (plan->void_deadline)
		unsetenv("TENACURL_DEADLINE");
	return set_variable(options, "TENACURL_POLICY", plan->policy_path) &&
	       set_variable(options, "TENACURL_MODE", options->mode) &&
	       set_variable(options, "TENACURL_LOG", plan->log) &&
	       set_variable(options, "TENACURL_JOB", options->job) &&
	       set_variable(options, "TENACURL_RUN", plan->run_id) &&
	       set_variable(options, "TENACURL_DEADLINE", plan->deadline[0] ? plan->deadline : NULL) &&
	       set_preload(options, plan->object) && set_audit(options, plan->binder);
}
