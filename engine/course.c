/* SPDX-License-Identifier: MIT */

#include "engine/course.h"

void course_begin(struct course *course, const struct policy_rules *rules, const struct engine_request *request,
                  int64_t now_ms)
{
	engine_begin(&course->engine, rules, request, now_ms);
	course->verdict = (struct engine_verdict){.action = ENGINE_DELIVER};
	course->has_verdict = false;
	course->observes = rules->mode == POLICY_MODE_AUDIT;
	course->start_ms = now_ms;
}

/* ENGINE_SUCCESS: there is none. */
static enum engine_reason reason_to_refuse(struct course *course, const struct course_admission *admission)
{
	if (admission->is_used_up)
		return ENGINE_NESTED;
	if (admission->breaker_admits && !admission->breaker_admits(admission->context))
		return ENGINE_BREAKER_OPEN;
	return engine_plan(&course->engine, course->start_ms, &course->plan) ? ENGINE_SUCCESS : ENGINE_DEADLINE_BUDGET;
}

enum course_step course_start(struct course *course, const struct course_admission *admission)
{
	enum engine_reason reason = reason_to_refuse(course, admission);
	if (reason == ENGINE_SUCCESS)
		return COURSE_SEND;
	course->verdict = (struct engine_verdict){.action = ENGINE_DELIVER, .reason = reason};
	course->plan = (struct engine_plan){
	    .limit_ms = ENGINE_NEVER, .connect_limit_ms = ENGINE_NEVER, .header_limit_ms = ENGINE_NEVER};
	return COURSE_REFUSE;
}

void course_judge(struct course *course, const struct engine_outcome *outcome, int64_t now_ms,
                  const struct engine_ports *ports)
{
	course->verdict_ms = now_ms;
	course->verdict = engine_judge(&course->engine, outcome, now_ms, ports);
	course->has_verdict = true;
}

void course_succeed(struct course *course)
{
	course->verdict = (struct engine_verdict){.action = ENGINE_DELIVER, .reason = ENGINE_SUCCESS};
	course->has_verdict = true;
}

enum course_step course_ended(const struct course *course)
{
	return course->observes || course->verdict.action == ENGINE_DELIVER ? COURSE_DELIVER : COURSE_WAIT;
}

int64_t course_due_ms(const struct course *course)
{
	return course->verdict_ms + course->verdict.wait_ms;
}

enum course_step course_due(struct course *course, int64_t now_ms)
{
	course->start_ms = now_ms;
	course->has_verdict = false;
	engine_plan(&course->engine, now_ms, &course->plan);
	return COURSE_SEND;
}

void course_break_off(struct course *course, enum engine_reason reason, int64_t waited_ms)
{
	engine_break_off(&course->engine, &course->verdict, reason, waited_ms);
}

void course_retract(struct course *course)
{
	engine_retract(&course->engine, &course->verdict);
}

void course_replan(struct course *course, int64_t program_timeout_ms)
{
	engine_replan(&course->engine, program_timeout_ms, course->start_ms, &course->plan);
}

int64_t course_end_ms(const struct course *course)
{
	return engine_end_ms(&course->engine);
}
