/* SPDX-License-Identifier: MIT */
/* Redirect steps: each is shown once, before its hop is asked for, so that the program can forbid that. */
#include "tests/unit/test_gate.h"

/* A step to /a and one to /b: as shown when they are new, and as held when they may be known. */
#define SHOWN_302 "h HTTP/1.1 302 x|", GATE_SHOW, "=, committed"
#define HELD_302  "h HTTP/1.1 302 x|", GATE_HOLD, ""
#define SHOWN_A   "h Location: /a|", GATE_SHOW, "="
#define HELD_A    "h Location: /a|", GATE_HOLD, ""
#define HELD_B    "h Location: /b|", GATE_HOLD, ""
#define SHOWN_END "h |", GATE_HOLD, "=, free"
#define HELD_END  "h |", GATE_HOLD, ""
#define LATE_A    "h |", GATE_HOLD, "h HTTP/1.1 302 x|, h Location: /a|, ="
#define LATE_B    "h |", GATE_HOLD, "h HTTP/1.1 302 x|, h Location: /b|, ="
#define NEXT      "a", GATE_HOLD, ""
#define SUCCESS   "h HTTP/1.1 200 x|", GATE_LIVE, "judge, lift, =, committed"

static const struct gate_case shown[] = {
    {
        .name = "a step, and the response behind it",
        .steps = {{SHOWN_302}, {SHOWN_A}, {SHOWN_END}, {SUCCESS}},
    },
    {
        .name = "a step whose body libcurl ignores",
        .steps = {{SHOWN_302}, {SHOWN_A}, {SHOWN_END}, {"f", GATE_HOLD, "-> done"}},
    },
    {
        .name = "a step at whose status line the program pauses",
        .steps = {{"h!p HTTP/1.1 302 x|", GATE_SHOW, "=, committed, -> pause"},
                  {"h HTTP/1.1 302 x|", GATE_SHOW, "="},
                  {"h Location: /longer/than/that/line|", GATE_SHOW, "="},
                  {SHOWN_END}},
    },
    {
        .name = "a line behind a step, which is in no header",
        .steps = {{SHOWN_302}, {SHOWN_A}, {SHOWN_END}, {"h Trailer: x|", GATE_HOLD, ""}, {"h |", GATE_HOLD, ""}},
    },
    {
        .name = "an attempt that ends in a step",
        .steps = {{SHOWN_302}, {SHOWN_A}, {"f", GATE_SHOW, "-> done"}},
    },
    {
        .name = "the same step in a later attempt",
        .steps = {{SHOWN_302},
                  {SHOWN_A},
                  {SHOWN_END},
                  {"h HTTP/1.1 503 x|", GATE_HOLD, ""},
                  {"h |", GATE_DROP, "judge, hide, limit:100"},
                  {NEXT},
                  {HELD_302},
                  {HELD_A},
                  {HELD_END},
                  {"f", GATE_HOLD, "-> done"},
                  {SUCCESS}},
    },
    {
        .name = "another step in a later attempt, and then either",
        .steps = {{SHOWN_302},
                  {SHOWN_A},
                  {SHOWN_END},
                  {NEXT},
                  {HELD_302},
                  {HELD_B},
                  {LATE_B},
                  {NEXT},
                  {HELD_302},
                  {HELD_B},
                  {HELD_END},
                  {NEXT},
                  {HELD_302},
                  {HELD_A},
                  {LATE_A}},
    },
    {
        .name = "another status with the same Location",
        .steps = {{SHOWN_302},
                  {SHOWN_A},
                  {SHOWN_END},
                  {NEXT},
                  {"h HTTP/1.1 307 x|", GATE_HOLD, ""},
                  {HELD_A},
                  {"h |", GATE_HOLD, "h HTTP/1.1 307 x|, h Location: /a|, ="}},
    },
    {
        .name = "a second step behind the known one",
        .steps = {{SHOWN_302},
                  {SHOWN_A},
                  {SHOWN_END},
                  {NEXT},
                  {HELD_302},
                  {HELD_A},
                  {HELD_END},
                  {SHOWN_302},
                  {SHOWN_A},
                  {SHOWN_END},
                  {NEXT},
                  {HELD_302},
                  {HELD_A},
                  {HELD_END},
                  {HELD_302},
                  {HELD_A},
                  {HELD_END},
                  {SUCCESS}},
    },
    {
        .name = "a first step that is another one, before a second that is known",
        .steps = {{SHOWN_302},
                  {SHOWN_A},
                  {SHOWN_END},
                  {SHOWN_302},
                  {SHOWN_A},
                  {SHOWN_END},
                  {NEXT},
                  {HELD_302},
                  {HELD_B},
                  {LATE_B},
                  {SHOWN_302},
                  {SHOWN_A},
                  {SHOWN_END}},
    },
    {
        .name = "a step of a program without a header callback",
        .deaf = true,
        .steps = {{HELD_302}, {HELD_A}, {HELD_END}, {"h HTTP/1.1 200 x|", GATE_HOLD, ""}},
    },
    {
        .name = "a failure where a step was in an earlier attempt",
        .steps = {{SHOWN_302}, {SHOWN_A}, {SHOWN_END}, {NEXT}, {"h HTTP/1.1 404 x|", GATE_SHOW, "lift, =, committed"}},
    },
    {
        .name = "an audited step",
        .observes = true,
        .steps = {{SHOWN_302}, {SHOWN_A}, {SHOWN_END}, {SUCCESS}},
    },
    {
        .name = "a 401 with a Location, which is no step",
        .steps = {{"h HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {HELD_A},
                  {HELD_END},
                  {"f", GATE_HOLD, "h HTTP/1.1 401 x|, h Location: /a|, h |, -> done"}},
    },
};

static void steps_are_shown_once(void **state)
{
	(void)state;
	pass_cases(shown);
}

/* libcurl doesn't go on behind these. */
static const struct gate_case last[] = {
    {
        .name = "a redirect that isn't followed",
        .stays = true,
        .steps = {{SHOWN_302}, {SHOWN_A}, {"h |", GATE_LIVE, "judge, lift, ="}, {"w body", GATE_LIVE, "="}},
    },
    {
        .name = "a 304",
        .steps = {{"h HTTP/1.1 304 x|", GATE_SHOW, "=, committed"}, {"h |", GATE_LIVE, "judge, lift, ="}},
    },
    {
        .name = "a redirect to nowhere",
        .steps = {{SHOWN_302}, {"h Location: |", GATE_SHOW, "="}, {"h |", GATE_LIVE, "judge, lift, ="}},
    },
    {
        .name = "a hop that is forbidden at the status line",
        .steps = {{"h!n HTTP/1.1 302 x|", GATE_SHOW, "=, committed"}, {SHOWN_A}, {"h |", GATE_LIVE, "judge, lift, ="}},
    },
    {
        .name = "a hop that is forbidden at Location, too late for libcurl as well",
        .steps = {{SHOWN_302}, {"h!n Location: /a|", GATE_SHOW, "="}, {SHOWN_END}},
    },
    {
        .name = "a hop that is forbidden where the step is shown late",
        .steps = {{SHOWN_302},
                  {SHOWN_A},
                  {SHOWN_END},
                  {NEXT},
                  {HELD_302},
                  {HELD_B},
                  {"h!n |", GATE_HOLD, "h HTTP/1.1 302 x|, h Location: /b|, =, committed, -> refuse"}},
    },
    {
        .name = "... and the program pauses before",
        .steps = {{SHOWN_302},
                  {SHOWN_A},
                  {SHOWN_END},
                  {NEXT},
                  {HELD_302},
                  {HELD_B},
                  {"h!p |", GATE_SHOW, "h HTTP/1.1 302 x|, committed, -> pause"},
                  {"h!np |", GATE_SHOW, "h HTTP/1.1 302 x|, h Location: /b|, -> pause"},
                  {"h |", GATE_HOLD, "h Location: /b|, =, -> refuse"}},
    },
    {
        .name = "a hop that is forbidden behind a step that was shown late",
        .steps = {{SHOWN_302},
                  {SHOWN_A},
                  {SHOWN_END},
                  {NEXT},
                  {HELD_302},
                  {HELD_B},
                  {LATE_B},
                  {SHOWN_302},
                  {"h!n Location: /a|", GATE_SHOW, "="},
                  {SHOWN_END}},
    },
    {
        .name = "a redirect that is held and isn't followed",
        .hold_redirects = true,
        .steps = {{HELD_302},
                  {"h |", GATE_LIVE, "judge, h HTTP/1.1 302 x|, lift, =, committed"},
                  {"w body", GATE_LIVE, "="}},
    },
};

static void responses_behind_which_no_hop_comes_are_final(void **state)
{
	(void)state;
	pass_cases(last);
}

/* hold_redirects: a step is shown with the response behind it. */
static const struct gate_case held[] = {
    {
        .name = "a step before a success",
        .hold_redirects = true,
        .steps = {{HELD_302},
                  {HELD_A},
                  {HELD_END},
                  {"h HTTP/1.1 200 x|", GATE_LIVE,
                   "judge, h HTTP/1.1 302 x|, h Location: /a|, h |, lift, =, committed"}},
    },
    {
        .name = "a step in each attempt",
        .hold_redirects = true,
        .steps = {{HELD_302},
                  {HELD_A},
                  {HELD_END},
                  {"h HTTP/1.1 503 x|", GATE_HOLD, ""},
                  {"h |", GATE_DROP, "judge, hide, limit:100"},
                  {NEXT},
                  {HELD_302},
                  {HELD_A},
                  {HELD_END},
                  {"h HTTP/1.1 200 x|", GATE_LIVE,
                   "judge, h HTTP/1.1 302 x|, h Location: /a|, h |, lift, =, committed"}},
    },
    {
        .name = "a step before a 100 that an upload waits for, which shows it",
        .hold_redirects = true,
        .awaits_continue = true,
        .steps = {{HELD_302},
                  {HELD_A},
                  {HELD_END},
                  {"h HTTP/1.1 100 x|", GATE_SHOW, "h HTTP/1.1 302 x|, h Location: /a|, h |, =, committed"},
                  {SHOWN_END},
                  {NEXT},
                  {HELD_302},
                  {HELD_A},
                  {HELD_END},
                  {"h HTTP/1.1 100 x|", GATE_SHOW, "=, committed"},
                  {SHOWN_END}},
    },
    {
        .name = "another step where one was shown",
        .hold_redirects = true,
        .awaits_continue = true,
        .steps = {{HELD_302},
                  {HELD_A},
                  {HELD_END},
                  {HELD_302},
                  {HELD_A},
                  {HELD_END},
                  {"h HTTP/1.1 100 x|", GATE_SHOW,
                   "h HTTP/1.1 302 x|, h Location: /a|, h |, h HTTP/1.1 302 x|, h Location: /a|, h |, =, committed"},
                  {SHOWN_END},
                  {NEXT},
                  {HELD_302},
                  {HELD_B},
                  {HELD_END},
                  {HELD_302},
                  {HELD_A},
                  {HELD_END},
                  {"h HTTP/1.1 100 x|", GATE_SHOW,
                   "h HTTP/1.1 302 x|, h Location: /b|, h |, h HTTP/1.1 302 x|, h Location: /a|, h |, =, committed"}},
    },
    {
        .name = "an audited step",
        .hold_redirects = true,
        .observes = true,
        .steps = {{"h HTTP/1.1 302 x|", GATE_HOLD, "="},
                  {"h Location: /a|", GATE_HOLD, "="},
                  {"h |", GATE_HOLD, "="},
                  {SUCCESS}},
    },
};

static void steps_may_be_held(void **state)
{
	(void)state;
	pass_cases(held);
}

/* What was shown or forgotten isn't held any more: it takes no room from the response behind it. */
static const struct gate_case bounded[] = {
    {
        .name = "a failure behind a known step",
        .hold_body_bytes = 34,
        .steps = {{SHOWN_302},
                  {SHOWN_A},
                  {SHOWN_END},
                  {NEXT},
                  {HELD_302},
                  {HELD_A},
                  {HELD_END},
                  {"h HTTP/1.1 503 x|", GATE_HOLD, ""},
                  {"h |", GATE_DROP, "judge, hide, limit:100"}},
    },
    {
        .name = "a failure behind a step that was shown late",
        .hold_body_bytes = 34,
        .steps = {{SHOWN_302},
                  {SHOWN_A},
                  {SHOWN_END},
                  {NEXT},
                  {HELD_302},
                  {HELD_B},
                  {LATE_B},
                  {"h HTTP/1.1 503 x|", GATE_HOLD, ""},
                  {"h |", GATE_DROP, "judge, hide, limit:100"}},
    },
};

static void steps_take_no_room_once_they_are_shown(void **state)
{
	(void)state;
	pass_cases(bounded);
}

static void pass_step(const char *expected)
{
	pass("h HTTP/1.1 302 x|");
	pass("h Location: /a|");
	pass("h |");
	assert_string_equal(scene.happened, expected);
}

static void more_steps_than_are_told_apart_are_a_response(void **state)
{
	const struct gate_case plain = {.name = NULL};

	(void)state;
	set_scene(&plain);
	for (int i = 0; i < GATE_STEPS_MAX; i++)
		pass_step("=, free");
	pass_step("lift, =");
	assert_int_equal(scene.gate->state, GATE_LIVE);
	assert_true(scene.gate->committed);
	pass("h HTTP/1.1 200 x|");
	assert_string_equal(scene.happened, "=");
	leave_scene();
}

static void a_deaf_program_may_have_more_steps_too(void **state)
{
	const struct gate_case deaf = {.deaf = true};

	(void)state;
	set_scene(&deaf);
	for (int i = 0; i < GATE_STEPS_MAX; i++)
		pass_step("");
	pass_step("lift");
	assert_int_equal(scene.gate->state, GATE_LIVE);
	leave_scene();
}

static void held_steps_are_told_apart_as_far_as_there_is_room(void **state)
{
	const struct gate_case holds = {.hold_redirects = true};

	(void)state;
	set_scene(&holds);
	for (int i = 0; i < GATE_STEPS_MAX + 2; i++)
		pass_step("");
	assert_int_equal(scene.gate->state, GATE_HOLD);
	assert_int_equal(scene.gate->steps, GATE_STEPS_MAX);
	assert_int_equal(scene.gate->hops, GATE_STEPS_MAX + 2);
	leave_scene();
}

/* What is sent behind a step: whoever repeats the request has to know that it lost its body. */
static void some_steps_make_a_get(void **state)
{
	static const struct {
		enum base_method method;
		int status;
		bool makes_get;
	} cases[] = {
	    {BASE_POST, 301, true}, {BASE_POST, 302, true}, {BASE_POST, 303, true},  {BASE_POST, 307, false},
	    {BASE_PUT, 301, false}, {BASE_PUT, 302, false}, {BASE_PUT, 303, true},   {BASE_PUT, 308, false},
	    {BASE_GET, 302, false}, {BASE_GET, 303, false}, {BASE_POST, 300, false},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		const struct gate_case request = {.method = cases[i].method};
		char event[32];

		set_scene(&request);
		snprintf(event, sizeof(event), "h HTTP/1.1 %d x|", cases[i].status);
		pass(event);
		pass("h Location: /a|");
		pass("h |");
		assert_int_equal(scene.gate->became_get, cases[i].makes_get);
		/* The operation's, not the attempt's. */
		pass("a");
		assert_int_equal(scene.gate->became_get, cases[i].makes_get);
		leave_scene();
	}
}

static void hops_are_counted(void **state)
{
	const struct gate_case plain = {.name = NULL};

	(void)state;
	set_scene(&plain);
	pass_step("=, free");
	pass_step("=, free");
	/* Two values: libcurl follows the first. */
	pass("h HTTP/1.1 302 x|");
	pass("h Location: /a|");
	pass("h Location: /b|");
	assert_int_equal(scene.gate->hops, 3);
	pass("h |");
	pass("h HTTP/1.1 304 x|");
	pass("h |");
	assert_int_equal(scene.gate->hops, 3);
	pass("a");
	assert_int_equal(scene.gate->hops, 0);
	leave_scene();
}

/* The line at which libcurl decides may come with others. */
static void a_step_may_come_in_one_call(void **state)
{
	const struct gate_case plain = {.name = NULL};

	(void)state;
	set_scene(&plain);
	pass("h HTTP/1.1 302 x|Location: /a||");
	assert_int_equal(scene.gate->hops, 1);
	assert_string_equal(scene.happened, "=");
	assert_int_equal(scene.gate->state, GATE_HOLD);
	pass("a");
	pass("h HTTP/1.1 302 x|Location: /a||");
	assert_string_equal(scene.happened, "");
	/* Of two that come together the second counts. */
	pass("h HTTP/1.1 302 x|Location: /b||HTTP/1.1 302 x|Location: /c|");
	assert_int_equal(scene.gate->hops, 2);
	leave_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(steps_are_shown_once),
	    cmocka_unit_test(responses_behind_which_no_hop_comes_are_final),
	    cmocka_unit_test(steps_may_be_held),
	    cmocka_unit_test(steps_take_no_room_once_they_are_shown),
	    cmocka_unit_test(more_steps_than_are_told_apart_are_a_response),
	    cmocka_unit_test(a_deaf_program_may_have_more_steps_too),
	    cmocka_unit_test(held_steps_are_told_apart_as_far_as_there_is_room),
	    cmocka_unit_test(some_steps_make_a_get),
	    cmocka_unit_test(hops_are_counted),
	    cmocka_unit_test(a_step_may_come_in_one_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
