/* SPDX-License-Identifier: MIT */

/*
 * An operation's course: what is to be done next, from its begin to its result. What the verdicts themselves come to is
 * tested in test_engine_*.c.
 */

#include "tests/unit/test_engine.h"

#include <string.h>

#include "engine/course.h"

enum { ENTRY_MS = 1000000, RECV_ERROR = 56 };

struct scene {
	struct policy_rules rules;
	struct engine_request request;
	struct test_ports ports;
	struct course course;
	bool breaker_refuses;
	int breaker_asked;
};

/* No dice: the waits are 1000, 2000 and 4000 ms. */
static void set_scene(struct scene *scene)
{
	*scene = (struct scene){
	    .rules = test_rules(),
	    .request = test_request(ENGINE_METHOD_GET),
	    .ports = {.draw = 0.5, .tokens = true},
	};
	scene->rules.jitter = POLICY_JITTER_NONE;
}

static bool breaker_admits(void *context)
{
	struct scene *scene = context;

	scene->breaker_asked++;
	return !scene->breaker_refuses;
}

static enum course_step start(struct scene *scene, bool is_used_up)
{
	const struct course_admission admission = {is_used_up, breaker_admits, scene};

	course_begin(&scene->course, &scene->rules, &scene->request, ENTRY_MS);
	return course_start(&scene->course, &admission);
}

static void judge(struct scene *scene, struct engine_outcome outcome, int64_t now_ms)
{
	const struct engine_ports ports = test_engine_ports(&scene->ports);

	course_judge(&scene->course, &outcome, now_ms, &ports);
}

static void an_operation_begins_without_a_verdict(void **state)
{
	struct scene scene;

	(void)state;
	set_scene(&scene);
	assert_int_equal(start(&scene, false), COURSE_SEND);
	assert_false(scene.course.has_verdict);
	assert_false(scene.course.observes);
	assert_int_equal(scene.course.verdict.action, ENGINE_DELIVER);
	assert_int_equal(scene.course.start_ms, ENTRY_MS);
	assert_int_equal(scene.course.plan.number, 1);
}

static void failures_are_waited_for_until_the_attempts_are_used_up(void **state)
{
	static const int64_t waits_ms[] = {1000, 2000, 4000};
	struct scene scene;
	int64_t now_ms = ENTRY_MS;

	(void)state;
	set_scene(&scene);
	assert_int_equal(start(&scene, false), COURSE_SEND);
	for (size_t i = 0; i < countof(waits_ms); i++) {
		now_ms += 50;
		judge(&scene, test_status(503), now_ms);
		assert_true(scene.course.has_verdict);
		assert_int_equal(course_ended(&scene.course), COURSE_WAIT);
		assert_int_equal(course_due_ms(&scene.course), now_ms + waits_ms[i]);
		/* A wait never ends on the dot. */
		now_ms = course_due_ms(&scene.course) + 3;
		assert_int_equal(course_due(&scene.course, now_ms), COURSE_SEND);
		assert_false(scene.course.has_verdict);
		assert_int_equal(scene.course.start_ms, now_ms);
		assert_int_equal(scene.course.plan.number, (int)i + 2);
	}
	judge(&scene, test_status(503), now_ms);
	assert_int_equal(course_ended(&scene.course), COURSE_DELIVER);
	assert_reason(scene.course.verdict.reason, ENGINE_ATTEMPT_CAP);
}

static void a_success_after_a_retry_is_delivered(void **state)
{
	struct scene scene;

	(void)state;
	set_scene(&scene);
	start(&scene, false);
	judge(&scene, test_status(503), ENTRY_MS);
	course_due(&scene.course, ENTRY_MS + 1000);
	judge(&scene, test_status(200), ENTRY_MS + 1001);
	assert_int_equal(course_ended(&scene.course), COURSE_DELIVER);
	assert_reason(scene.course.verdict.reason, ENGINE_SUCCESS);
}

/* At the header block a verdict falls, and another one when the attempt ends: the last one counts, the wait from it. */
static void an_attempt_may_be_judged_again_at_its_end(void **state)
{
	struct scene scene;

	(void)state;
	set_scene(&scene);
	start(&scene, false);
	judge(&scene, test_status(200), ENTRY_MS + 10);
	assert_int_equal(course_ended(&scene.course), COURSE_DELIVER);
	judge(&scene, test_code(RECV_ERROR), ENTRY_MS + 700);
	assert_int_equal(course_ended(&scene.course), COURSE_WAIT);
	assert_int_equal(course_due_ms(&scene.course), ENTRY_MS + 1700);
}

static void a_plain_success_needs_no_judgement(void **state)
{
	struct scene scene;

	(void)state;
	set_scene(&scene);
	start(&scene, false);
	course_succeed(&scene.course);
	assert_true(scene.course.has_verdict);
	assert_int_equal(course_ended(&scene.course), COURSE_DELIVER);
	assert_reason(scene.course.verdict.reason, ENGINE_SUCCESS);
	assert_class(scene.course.verdict.failure, ENGINE_CLASS_NONE);
	assert_int_equal(scene.ports.draws_asked, 0);
}

/* The same verdict is noted, and the attempt's result is the operation's. */
static void audit_never_waits(void **state)
{
	struct scene scene;

	(void)state;
	set_scene(&scene);
	scene.rules.mode = POLICY_MODE_AUDIT;
	assert_int_equal(start(&scene, false), COURSE_SEND);
	assert_true(scene.course.observes);
	judge(&scene, test_status(503), ENTRY_MS);
	assert_int_equal(scene.course.verdict.action, ENGINE_RETRY);
	assert_int_equal(scene.course.verdict.wait_ms, 1000);
	assert_int_equal(course_ended(&scene.course), COURSE_DELIVER);
}

/* What keeps an operation from its first attempt, in the order in which it is looked at. */
static void what_forbids_the_first_attempt_is_looked_at_in_order(void **state)
{
	static const struct {
		bool is_used_up, breaker_refuses, is_late;
		enum course_step step;
		enum engine_reason reason;
		int breaker_asked;
	} cases[] = {
	    {false, false, false, COURSE_SEND, ENGINE_CANCELLED, 1},
	    {true, false, false, COURSE_REFUSE, ENGINE_NESTED, 0},
	    {false, true, false, COURSE_REFUSE, ENGINE_BREAKER_OPEN, 1},
	    {false, false, true, COURSE_REFUSE, ENGINE_DEADLINE_BUDGET, 1},
	    {true, true, false, COURSE_REFUSE, ENGINE_NESTED, 0},
	    {true, false, true, COURSE_REFUSE, ENGINE_NESTED, 0},
	    {false, true, true, COURSE_REFUSE, ENGINE_BREAKER_OPEN, 1},
	    {true, true, true, COURSE_REFUSE, ENGINE_NESTED, 0},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene scene;

		set_scene(&scene);
		scene.breaker_refuses = cases[i].breaker_refuses;
		scene.request.inherited_deadline_ms = cases[i].is_late ? ENTRY_MS + 99 : ENGINE_NEVER;
		assert_int_equal(start(&scene, cases[i].is_used_up), cases[i].step);
		assert_int_equal(scene.course.verdict.action, ENGINE_DELIVER);
		assert_reason(scene.course.verdict.reason, cases[i].reason);
		assert_int_equal(scene.breaker_asked, cases[i].breaker_asked);
		assert_int_equal(scene.course.engine.attempts, cases[i].step == COURSE_SEND ? 1 : 0);
	}
}

/* Who writes the log reads the plan of an operation that made no attempt, too. */
static void a_refused_operation_has_no_bounds(void **state)
{
	struct scene scene;

	(void)state;
	set_scene(&scene);
	memset(&scene.course, 0x5a, sizeof scene.course);
	assert_int_equal(start(&scene, true), COURSE_REFUSE);
	assert_int_equal(scene.course.plan.number, 0);
	assert_true(scene.course.plan.limit_ms == ENGINE_NEVER);
	assert_true(scene.course.plan.connect_limit_ms == ENGINE_NEVER);
	assert_true(scene.course.plan.header_limit_ms == ENGINE_NEVER);
}

static void without_a_breaker_nobody_is_asked(void **state)
{
	const struct course_admission admission = {.breaker_admits = NULL};
	struct scene scene;

	(void)state;
	set_scene(&scene);
	course_begin(&scene.course, &scene.rules, &scene.request, ENTRY_MS);
	assert_int_equal(course_start(&scene.course, &admission), COURSE_SEND);
}

static void a_wait_that_is_broken_off_leaves_the_failure(void **state)
{
	struct scene scene;

	(void)state;
	set_scene(&scene);
	start(&scene, false);
	judge(&scene, test_status(503), ENTRY_MS);
	assert_int_equal(scene.course.engine.waited_ms, 1000);
	course_break_off(&scene.course, ENGINE_CANCELLED, 300);
	assert_int_equal(course_ended(&scene.course), COURSE_DELIVER);
	assert_reason(scene.course.verdict.reason, ENGINE_CANCELLED);
	assert_class(scene.course.verdict.failure, ENGINE_CLASS_STATUS);
	assert_int_equal(scene.course.verdict.wait_ms, 300);
	assert_int_equal(scene.course.engine.waited_ms, 300);
}

static void a_body_that_is_final_takes_the_retry_back(void **state)
{
	struct scene scene;

	(void)state;
	set_scene(&scene);
	start(&scene, false);
	judge(&scene, test_status(503), ENTRY_MS);
	course_retract(&scene.course);
	assert_int_equal(course_ended(&scene.course), COURSE_DELIVER);
	assert_reason(scene.course.verdict.reason, ENGINE_TERMINAL_ERROR);
	assert_int_equal(scene.course.verdict.wait_ms, 0);
	assert_int_equal(scene.course.engine.waited_ms, 0);
}

/* The timeout counts from the operation's begin, the limit from that of the attempt at hand. */
static void a_timeout_that_is_set_meanwhile_counts_from_the_begin(void **state)
{
	struct scene scene;

	(void)state;
	set_scene(&scene);
	scene.rules.deadline_ms = 20000;
	start(&scene, false);
	assert_int_equal(course_end_ms(&scene.course), ENTRY_MS + 20000);
	judge(&scene, test_status(503), ENTRY_MS);
	course_due(&scene.course, ENTRY_MS + 1000);
	assert_int_equal(scene.course.plan.limit_ms, 19000);
	course_replan(&scene.course, 5000);
	assert_int_equal(scene.course.plan.limit_ms, 4000);
	assert_int_equal(course_end_ms(&scene.course), ENTRY_MS + 5000);
	course_replan(&scene.course, 0);
	assert_int_equal(scene.course.plan.limit_ms, 19000);
	assert_int_equal(course_end_ms(&scene.course), ENTRY_MS + 20000);
}

static void an_operation_without_a_deadline_never_has_to_end(void **state)
{
	struct scene scene;

	(void)state;
	set_scene(&scene);
	start(&scene, false);
	assert_true(course_end_ms(&scene.course) == ENGINE_NEVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_operation_begins_without_a_verdict),
	    cmocka_unit_test(failures_are_waited_for_until_the_attempts_are_used_up),
	    cmocka_unit_test(a_success_after_a_retry_is_delivered),
	    cmocka_unit_test(an_attempt_may_be_judged_again_at_its_end),
	    cmocka_unit_test(a_plain_success_needs_no_judgement),
	    cmocka_unit_test(audit_never_waits),
	    cmocka_unit_test(what_forbids_the_first_attempt_is_looked_at_in_order),
	    cmocka_unit_test(a_refused_operation_has_no_bounds),
	    cmocka_unit_test(without_a_breaker_nobody_is_asked),
	    cmocka_unit_test(a_wait_that_is_broken_off_leaves_the_failure),
	    cmocka_unit_test(a_body_that_is_final_takes_the_retry_back),
	    cmocka_unit_test(a_timeout_that_is_set_meanwhile_counts_from_the_begin),
	    cmocka_unit_test(an_operation_without_a_deadline_never_has_to_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
