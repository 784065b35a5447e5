/* SPDX-License-Identifier: MIT */
#include "cli/run/plan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launcher.h"
#include "cli/check/target.h"
#include "cli/elf/object.h"
#include "cli/elf/preload.h"
#include "cli/policy/off_switch.h"
#include "cli/run/deadline.h"
#include "cli/run/policy.h"
#include "cli/run/tell.h"
#include "config/variable.h"

static void warn_if_verbose(void *context, const char *text)
{
	run_tell(context, RUN_TELL_VERBOSE, "%s", text);
}

/* Returns `path` made absolute but not resolved, since links are switched to change what they name. To free(). */
static char *absolute_path(const char *path, struct say_error *error)
{
	char *absolute = NULL;
	char directory[PATH_MAX];
	if (path[0] == '/')
		absolute = strdup(path);
	else if (!getcwd(directory, sizeof(directory)))
		say_refuse(error, "can't make '%s' absolute: %s", path, strerror(errno));
	else if (asprintf(&absolute, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, path) < 0)
		absolute = NULL;
	if (!absolute && !error->text[0])
		say_refuse(error, "out of memory");
	return absolute;
}

static bool is_sink_word(const char *log)
{
	return strcmp(log, "none") == 0 || strcmp(log, "stderr") == 0 || strcmp(log, "stderr-json") == 0 ||
	       strcmp(log, "syslog") == 0;
}

/* "STDERR", "stdout", "-": whoever writes that doesn't mean a file of this name. */
static bool is_near_sink_word(const char *log)
{
	static const char *const words[] = {"none", "stderr", "stderr-json", "syslog", "stdout", "-"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(log, words[i]) == 0)
			return true;
	return false;
}

static bool plan_log(const struct run_options *options, struct run_plan *plan, struct say_error *error)
{
	if (!options->log)
		return true;
	if (!options->log[0])
		return say_refuse(error, "--log needs none, stderr, stderr-json, syslog or a file");
	if (is_sink_word(options->log)) {
		plan->log = strdup(options->log);
		return plan->log || say_refuse(error, "out of memory");
	}
	if (is_near_sink_word(options->log))
		return say_refuse(error, "--log %s: allowed: none, stderr, stderr-json, syslog or a file (./%s)",
		                  options->log, options->log);
	plan->log = absolute_path(options->log, error);
	return plan->log != NULL;
}

/*
 * A file that was asked for here and can't be written is a mistake to be told now, not to be lost record by record; one
 * that somebody else asked for is told, too.
 */
static bool heed_log(const struct run_options *options, const struct sink_trouble *trouble, struct say_error *error)
{
	if (!trouble->text[0])
		return true;
	if (options->log && trouble->is_of_file)
		return say_refuse(error, "--log %s", trouble->text);
	if (options->require)
		return say_refuse(error, "--require: the log can't be written: %s", trouble->text);
	run_tell(options, RUN_TELL_ANYBODY, "the log can't be written, so records will be lost: %s", trouble->text);
	return true;
}

static bool plan_policy(const struct run_options *options, struct run_plan *plan, struct say_error *error)
{
	if (options->policy) {
		plan->policy_path = absolute_path(options->policy, error);
		if (!plan->policy_path)
			return false;
	}
	struct sink_trouble trouble = {0};
	const struct run_policy_request request = {.log_trouble = &trouble,
	                                           .policy_path = plan->policy_path,
	                                           .mode = options->mode,
	                                           .log = plan->log,
	                                           .warn = warn_if_verbose,
	                                           .warn_context = (void *)(uintptr_t)options};
	enum run_policy_state state = run_check_policy(&request, error);
	if (state == RUN_POLICY_GOOD)
		return heed_log(options, &trouble, error);
	if (state == RUN_POLICY_BAD_ELSEWHERE && !options->require)
		run_tell(options, RUN_TELL_ANYBODY, "%s; running without tenacurl's help", error->text);
	return state != RUN_POLICY_BAD_HERE && !options->require;
}

static bool is_run_id(const char *text)
{
	return strlen(text) == RUN_ID_DIGITS && strspn(text, "0123456789abcdef") == RUN_ID_DIGITS;
}

/* A run within a run belongs to it: same id, and its own deadline can only be earlier. */
static bool plan_run(const struct run_options *options, struct run_plan *plan, struct say_error *error)
{
	const char *inherited_text = getenv("TENACURL_DEADLINE"), *inherited_id = getenv("TENACURL_RUN");
	struct deadline_text inherited;
	bool is_read = inherited_text && deadline_text_parse(inherited_text, &inherited);
	if (is_read)
		launcher_take_over(&inherited);
	bool live = is_read && run_deadline_is_live(&inherited);
	plan->void_deadline = inherited_text && !live;

	if (inherited_id && is_run_id(inherited_id) && !plan->void_deadline) {
		memcpy(plan->run_id, inherited_id, sizeof(plan->run_id));
	} else {
		uint64_t id;
		if (getrandom(&id, sizeof(id), 0) != (ssize_t)sizeof(id))
			return say_refuse(error, "no random numbers: %s", strerror(errno));
		snprintf(plan->run_id, sizeof(plan->run_id), "%016llx", (unsigned long long)id);
	}

	int64_t duration_ms;
	if (!options->deadline)
		return true;
	if (!run_parse_duration(options->deadline, &duration_ms))
		return say_refuse(error,
		                  "--deadline %s: not a time like 30s, 1500ms, 2m or 0.5h, above 0 and up to 365d",
		                  options->deadline);
	return run_make_deadline(duration_ms, live ? &inherited : NULL, plan->deadline, error);
}

/* Names the object as there is a file for each architecture, if the program's dynamic linker finds it so. */
static bool plan_name(const struct run_options *options, const char *object, struct target *target,
                      struct run_plan *plan)
{
	char *general = object_name_by_architecture(object);
	char *preload = preload_compose(getenv("LD_PRELOAD"), general ? general : object);
	if (preload) {
		target_read(options->command, preload, object, target);
		plan->object = strdup(general && target->takes_preload ? general : object);
	}
	free(general);
	free(preload);
	return plan->object != NULL;
}

static bool is_disabled(void)
{
	return variable_read_switch(getenv("TENACURL_DISABLE")) != VARIABLE_OFF;
}

/* `object` is the real one. */
static void plan_binder(const struct run_options *options, const struct target *target, const char *object,
                        struct run_plan *plan)
{
	const char *reason = target_binder_obstacle(target);
	if (options->no_binder)
		return;
	if (is_disabled())
		reason = "TENACURL_DISABLE switches tenacurl off";
	plan->binder = reason[0] ? NULL : object_find_binder(object, plan->object);
	if (!reason[0] && !plan->binder)
		reason = "it isn't there beside libtenacurl.so";
	if (!plan->binder)
		run_tell(options, RUN_TELL_VERBOSE, "without the binder for %s: %s", options->command[0], reason);
}

/* Returns false if the host's switch is a reason to refuse. */
static bool heed_switch(const struct run_options *options, struct say_error *error)
{
	char text[OFF_SWITCH_TEXT_BYTES];
	enum kill_switch seen = off_switch_describe(text);
	if (options->require && (seen == KILL_SWITCH_SET || seen == KILL_SWITCH_UNKNOWN))
		return say_refuse(error, "--require: %s", text);
	if (seen != KILL_SWITCH_OPEN)
		run_tell(options, RUN_TELL_ANYBODY, "%s", text);
	return true;
}

/* What is known for sure to keep tenacurl out of the program. Returns false if that is a reason to refuse. */
static bool heed_obstacle(const struct run_options *options, const struct target *target, struct run_plan *plan,
                          struct say_error *error)
{
	struct say_error text = {""};
	enum target_obstacle obstacle = target_find_obstacle(target, &text);
	if (options->require && is_disabled())
		return say_refuse(error, "--require: TENACURL_DISABLE switches tenacurl off");
	if (!heed_switch(options, error))
		return false;
	if (obstacle == TARGET_OBSTACLE_NONE)
		return true;
	if (options->require)
		return say_refuse(error, "--require: %s", text.text);
	if (obstacle != TARGET_OBSTACLE_DOUBT)
		run_tell(options, RUN_TELL_TERMINAL, "%s", text.text);
	if (obstacle == TARGET_OBSTACLE_UNLOADABLE) {
		free(plan->object);
		plan->object = NULL;
	}
	return true;
}

static bool plan_object(const struct run_options *options, struct run_plan *plan, struct say_error *error)
{
	struct target target = {0};
	char *object = object_find(error);
	if (!object)
		return false;
	if (variable_read_switch(getenv("TENACURL_DISABLE")) == VARIABLE_ON_BY_ODD_WORD)
		run_tell(options, RUN_TELL_TERMINAL, "TENACURL_DISABLE isn't a known word, so tenacurl is off");
	bool done = plan_name(options, object, &target, plan) || say_refuse(error, "out of memory");
	done = done && heed_obstacle(options, &target, plan, error);
	if (done && plan->object)
		plan_binder(options, &target, object, plan);
	target_free(&target);
	free(object);
	return done;
}

bool run_plan_make(const struct run_options *options, struct run_plan *plan, struct say_error *error)
{
	if (options->job && !options->job[0])
		return say_refuse(error, "--job needs a name");
	return plan_log(options, plan, error) && plan_policy(options, plan, error) && plan_run(options, plan, error) &&
	       plan_object(options, plan, error);
}

void run_plan_free(struct run_plan *plan)
{
	free(plan->object);
	free(plan->binder);
	free(plan->policy_path);
	free(plan->log);
}
