/* SPDX-License-Identifier: MIT */
#include "cli/check/scan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/policy/load.h"
#include "config/find.h"
#include "config/variable.h"

#define NAME_COUNT 3

void check_load_policy(struct check_scan *scan)
{
	const struct policy_places places = cli_policy_places(NULL);
	const struct policy_overrides overrides = cli_environment_overrides();
	char path[PATH_MAX];
	enum policy_found how;
	struct policy_error error = {.text = "the path of the policy is too long"};
	bool found = policy_find(&places, path, sizeof(path), &how);
	if (how != POLICY_FOUND_TOO_LONG)
		scan->policy = cli_load_policy(found ? path : NULL, &overrides, NULL, NULL, &error);
	if (!scan->policy)
		snprintf(scan->policy_error, sizeof(scan->policy_error), "%s", error.text);
}

/* The script that it runs, as far as that can be told from files: its first argument, if that is one that was read. */
static const char *script_name(const struct check_program *program)
{
	const char *script = program->launch.script;
	char **arguments = program->launch.arguments;
	if (!script && arguments[0] && subject_text_of(&program->subject, arguments[0]))
		script = arguments[0];
	return script ? basename(script) : NULL;
}

/* Sections can differ; one that lets tenacurl act is enough. */
static bool allows(const struct policy *policy, const char *const *names, bool *any_mode)
{
	bool allowed = false;
	*any_mode = false;
	for (size_t i = 0; i < policy->section_count; i++) {
		const struct policy_rules *rules = &policy->sections[i].rules;
		if (rules->mode == POLICY_MODE_OFF)
			continue;
		*any_mode = true;
		allowed |= policy_allows_program(rules, names, NAME_COUNT);
	}
	return allowed;
}

static bool is_disabled(const struct check_program *program)
{
	const char *disable = getenv("TENACURL_DISABLE");
	enum launch_switch switched = program->launch.switched;
	if (switched == LAUNCH_SWITCH_KEPT)
		switched = program->scan->switched;
	if (switched == LAUNCH_SWITCH_KEPT)
		return variable_read_switch(disable) != VARIABLE_OFF;
	return switched == LAUNCH_SWITCH_OFF;
}

bool check_is_off(const struct check_program *program, char **detail)
{
	const struct policy *policy = program->scan->policy;
	const char *job = getenv("TENACURL_JOB");
	const char *names[NAME_COUNT] = {job && *job ? job : NULL, script_name(program), program->subject.real_name};
	bool any_mode;
	*detail = NULL;
	if (is_disabled(program))
		*detail = strdup("TENACURL_DISABLE");
	else if (!program->scan->object)
		*detail = strdup(program->scan->object_error.text);
	else if (!policy)
		*detail = strdup(program->scan->policy_error);
	else if (allows(policy, names, &any_mode))
		return false;
	else if (asprintf(detail, "%s in %s", any_mode ? "programs or skip_programs" : "mode = off",
	                  policy->path ? policy->path : "the environment") < 0)
		*detail = NULL;
	return true;
}
