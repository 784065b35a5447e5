/* SPDX-License-Identifier: MIT */

/*
 * Drives a course (engine/course.h) with a script instead of a server and an integer instead of a clock. Nothing here
 * decides anything; a few of the engine's words are told in the model's.
 */

#include "cli/simulate/simulation.h"

#include <stdio.h>
#include <string.h>

#include "engine/course.h"

#define countof(array) (sizeof(array) / sizeof((array)[0]))

/* The CURLcodes of the two outcomes that aren't answers. */
enum { CODE_OPERATION_TIMEDOUT = 28, CODE_ABORTED_BY_CALLBACK = 42 };

/* A simulation under way. */
struct run {
	const struct simulation *script;
	struct policy_rules rules;
	struct course course;
	json_t *trace;
	int64_t now_ms;
	size_t draws_used;
	bool wants_draw;       /* a draw was asked for that isn't there */
	bool script_exhausted; /* a retry was considered, but nothing tells what it would come to */
};

static void add_status(struct policy_status_set *set, int status)
{
	set->bits[(status - 100) / 64] |= UINT64_C(1) << (status - 100) % 64;
}

static struct policy_rules rules_of(const struct simulation *script)
{
	static const int retried[] = {429, 502, 503, 504};
	struct policy_rules rules = {
	    .deadline_ms = script->total_ms,
	    .per_try_ms = script->per_try_ms,
	    .max_attempts = script->max_attempts,
	    .min_try_ms = script->min_try_ms,
	    .jitter = POLICY_JITTER_FULL,
	    .backoff_base_ms = script->base_ms,
	    .backoff_multiplier = 2,
	    .backoff_cap_ms = script->backoff_cap_ms,
	    .retry_errors = POLICY_ERROR_TIMEOUT,
	    .replay = script->replay_safe ? POLICY_REPLAY_ALL : POLICY_REPLAY_NONE,
	};

	for (size_t i = 0; i < countof(retried); i++)
		add_status(&rules.retry_status, retried[i]);
	return rules;
}

/* The engine asks for a draw exactly when it considers a retry: the moment to notice that the script ends here. */
static double draw(void *context)
{
	struct run *run = context;

	if ((size_t)run->course.engine.attempts >= run->script->outcome_count) {
		run->script_exhausted = true;
		return 0;
	}
	if (run->draws_used >= run->script->draw_count) {
		run->wants_draw = true;
		return 0;
	}
	return run->script->draws[run->draws_used++];
}

static json_t *status_word(const struct simulation_outcome *outcome)
{
	if (outcome->end == SIMULATION_STATUS)
		return json_integer(outcome->status);
	return json_string(outcome->end == SIMULATION_TIMEOUT ? "timeout" : "cancel");
}

/* Performs the planned attempt: an answer later than the limit never arrives. */
static struct simulation_outcome attempt(struct run *run)
{
	const struct engine_plan *plan = &run->course.plan;
	struct simulation_outcome outcome = run->script->outcomes[plan->number - 1];

	if (outcome.duration_ms > plan->limit_ms)
		outcome = (struct simulation_outcome){.duration_ms = plan->limit_ms, .end = SIMULATION_TIMEOUT};
	json_array_append_new(run->trace,
	                      json_pack("{s:s, s:i, s:I, s:I, s:I, s:o}", "kind", "attempt", "number", plan->number,
	                                "start_ms", (json_int_t)run->now_ms, "limit_ms", (json_int_t)plan->limit_ms,
	                                "spent_ms", (json_int_t)outcome.duration_ms, "status", status_word(&outcome)));
	run->now_ms += outcome.duration_ms;
	return outcome;
}

static struct engine_outcome outcome_for_engine(const struct simulation_outcome *scripted)
{
	struct engine_outcome outcome = {.single = true, .header_block_complete = true};

	switch (scripted->end) {
	case SIMULATION_TIMEOUT:
		outcome.curl_code = CODE_OPERATION_TIMEDOUT;
		break;
	case SIMULATION_CANCEL:
		outcome.curl_code = CODE_ABORTED_BY_CALLBACK;
		outcome.cancelled = true;
		break;
	case SIMULATION_STATUS:
		outcome.status = scripted->status;
		if (scripted->retry_after_ms > 0)
			outcome.retry_after = (struct engine_retry_after){.kind = ENGINE_RETRY_AFTER_WAIT,
			                                                  .wait_ms = scripted->retry_after_ms};
		break;
	}
	return outcome;
}

/* The model calls only a 2xx a success, and has a name of its own for a wait that doesn't fit. */
static const char *stop_word(enum engine_reason reason, int status)
{
	if (reason == ENGINE_SUCCESS && status >= 300)
		return engine_reason_name(ENGINE_TERMINAL_ERROR);
	if (reason == ENGINE_WAIT_EXCEEDS_DEADLINE)
		return "retry_budget";
	return engine_reason_name(reason);
}

/* Makes the planned attempt. Returns why the run stops, or NULL if it goes on. */
static const char *step(struct run *run)
{
	const struct engine_ports ports = {.draw = draw, .context = run};
	const struct simulation_outcome scripted = attempt(run);
	const struct engine_outcome outcome = outcome_for_engine(&scripted);

	course_judge(&run->course, &outcome, run->now_ms, &ports);
	if (run->script_exhausted)
		return "script_exhausted";
	if (run->wants_draw)
		return "";
	if (course_ended(&run->course) == COURSE_DELIVER)
		return stop_word(run->course.verdict.reason, scripted.status);

	json_array_append_new(run->trace,
	                      json_pack("{s:s, s:I, s:I}", "kind", "wait", "start_ms", (json_int_t)run->now_ms,
	                                "wait_ms", (json_int_t)run->course.verdict.wait_ms));
	run->now_ms = course_due_ms(&run->course);
	course_due(&run->course, run->now_ms);
	return NULL;
}

static const char *run_to_end(struct run *run)
{
	const struct engine_request request = {
	    .method = ENGINE_METHOD_OTHER,
	    .body_replayable = true,
	    .inherited_deadline_ms = ENGINE_NEVER,
	};
	const struct course_admission admission = {.is_used_up = false};
	const char *stop = NULL;

	if (run->script->outcome_count == 0)
		return "script_exhausted";
	course_begin(&run->course, &run->rules, &request, run->now_ms);
	if (course_start(&run->course, &admission) == COURSE_REFUSE)
		return engine_reason_name(run->course.verdict.reason);
	while (!stop)
		stop = step(run);
	return stop;
}

json_t *simulation_run(const struct simulation *simulation, struct say_error *error)
{
	struct run run = {.script = simulation, .rules = rules_of(simulation), .trace = json_array()};
	const char *stop = run_to_end(&run);
	bool ok = strcmp(stop, engine_reason_name(ENGINE_SUCCESS)) == 0;

	if (run.wants_draw)
		say_refuse(error, "draws: attempt %d asks for another one, there are %zu", run.course.engine.attempts,
		           simulation->draw_count);
	else if (run.draws_used != simulation->draw_count)
		say_refuse(error, "draws: %zu given, %zu asked for", simulation->draw_count, run.draws_used);
	else
		return json_pack("{s:b, s:s, s:i, s:I, s:o}", "ok", ok, "stop", stop, "attempts",
		                 run.course.engine.attempts, "elapsed_ms", (json_int_t)run.now_ms, "trace", run.trace);
	json_decref(run.trace);
	return NULL;
}
