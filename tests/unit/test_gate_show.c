/* SPDX-License-Identifier: MIT */
/* Which responses the gate shows as they come, and which it holds until it is known what becomes of them. */
#include "tests/unit/test_gate.h"

static const struct gate_case successes[] = {
    {
        .name = "a success, shown from its status line on",
        .steps = {{"h HTTP/1.1 200 x|", GATE_LIVE, "judge, lift, =, committed"},
                  {"h A: b|", GATE_LIVE, "="},
                  {"h |", GATE_LIVE, "="},
                  {"w body", GATE_LIVE, "="},
                  {"h Trailer: x|", GATE_LIVE, "="},
                  {"f", GATE_LIVE, "-> done"}},
    },
    {
        .name = "a success whose header lines nobody receives",
        .deaf = true,
        .steps = {{"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h A: b|", GATE_HOLD, ""},
                  {"h |", GATE_LIVE, "judge, lift"},
                  {"w body", GATE_LIVE, "=, committed"},
                  {"w more", GATE_LIVE, "="}},
    },
    {
        .name = "a blank line without a carriage return",
        .deaf = true,
        .steps = {{"h HTTP/1.1 200 x\n", GATE_HOLD, ""}, {"h b\n", GATE_HOLD, ""}, {"h \n", GATE_LIVE, "judge, lift"}},
    },
    {
        .name = "a success whose fields somebody wants",
        .reads_success = true,
        .steps = {{"h HTTP/1.1 200 x|", GATE_SHOW, "lift, =, committed"},
                  {"h A: b|", GATE_SHOW, "="},
                  {"h |", GATE_LIVE, "judge, lift, ="},
                  {"w body", GATE_LIVE, "="}},
    },
    {
        .name = "a success that would be retried, but was shown",
        .reads_success = true,
        .retried_status = 204,
        .steps = {{"h HTTP/1.1 204 x|", GATE_SHOW, "lift, =, committed"},
                  {"h |", GATE_LIVE, "judge, retract, lift, ="}},
    },
    {
        .name = "HTTP/0.9, which has no header",
        .steps = {{"w body", GATE_LIVE, "judge, lift, =, committed"}, {"w more", GATE_LIVE, "="}},
    },
    {
        .name = "an audited success",
        .observes = true,
        .steps = {{"h HTTP/1.1 200 x|", GATE_LIVE, "judge, lift, =, committed"}, {"w body", GATE_LIVE, "="}},
    },
};

static void successes_are_shown_as_they_come(void **state)
{
	(void)state;
	pass_cases(successes);
}

static const struct gate_case failures[] = {
    {
        .name = "an answer that is no reason to retry",
        .steps = {{"h HTTP/1.1 404 x|", GATE_SHOW, "lift, =, committed"},
                  {"h A: b|", GATE_SHOW, "="},
                  {"h |", GATE_LIVE, "judge, lift, ="},
                  {"w body", GATE_LIVE, "="}},
    },
    {
        .name = "an answer that is one, but isn't retried",
        .delivers = true,
        .steps = {{"h HTTP/1.1 503 x|", GATE_HOLD, ""},
                  {"h A: b|", GATE_HOLD, ""},
                  {"h |", GATE_LIVE, "judge, h HTTP/1.1 503 x|, h A: b|, lift, =, committed"},
                  {"w body", GATE_LIVE, "="},
                  {"f", GATE_LIVE, "-> done"}},
    },
    {
        .name = "... and whose header lines nobody receives",
        .delivers = true,
        .deaf = true,
        .steps = {{"h HTTP/1.1 503 x|", GATE_HOLD, ""},
                  {"h |", GATE_LIVE, "judge, lift"},
                  {"w body", GATE_LIVE, "=, committed"}},
    },
    {
        .name = "an answer that breaks off in its header and is delivered",
        .steps = {{"h HTTP/1.1 503 x|", GATE_HOLD, ""}, {"f", GATE_HOLD, "h HTTP/1.1 503 x|, -> done"}},
    },
    {
        .name = "a shown header that breaks off before another response",
        .steps = {{"h HTTP/1.1 404 x|", GATE_SHOW, "lift, =, committed"},
                  {"h HTTP/1.1 200 x|", GATE_LIVE, "lift, ="},
                  {"h A: b|", GATE_LIVE, "="}},
    },
    {
        .name = "a shown header that breaks off before a body",
        .steps = {{"h HTTP/1.1 404 x|", GATE_SHOW, "lift, =, committed"}, {"w body", GATE_LIVE, "judge, lift, ="}},
    },
    {
        .name = "an audited failure",
        .observes = true,
        .delivers = true,
        .steps = {{"h HTTP/1.1 503 x|", GATE_HOLD, "="},
                  {"h A: b|", GATE_HOLD, "="},
                  {"h |", GATE_LIVE, "judge, lift, =, committed"},
                  {"w body", GATE_LIVE, "="},
                  {"f", GATE_LIVE, "-> done"}},
    },
    {
        .name = "an audited failure whose header lines nobody receives",
        .observes = true,
        .delivers = true,
        .deaf = true,
        .steps = {{"h HTTP/1.1 503 x|", GATE_HOLD, ""}, {"h |", GATE_LIVE, "judge, lift"}},
    },
};

static void failures_are_held_if_they_may_be_retried(void **state)
{
	(void)state;
	pass_cases(failures);
}

/* What is known at the status line: each status, in each way that matters. */
static void status_lines_tell_what_is_held(void **state)
{
	static const struct {
		int status;
		bool may_be_retried, asks;
		enum gate_state at_once, at_blank_line;
	} statuses[] = {
	    {100, false, false, GATE_HOLD, GATE_HOLD}, {101, false, false, GATE_HOLD, GATE_LIVE},
	    {102, false, false, GATE_HOLD, GATE_HOLD}, {103, false, false, GATE_HOLD, GATE_HOLD},
	    {199, false, false, GATE_HOLD, GATE_HOLD}, {200, false, false, GATE_LIVE, GATE_LIVE},
	    {299, false, false, GATE_LIVE, GATE_LIVE}, {300, false, false, GATE_SHOW, GATE_LIVE},
	    {304, false, false, GATE_SHOW, GATE_LIVE}, {399, false, false, GATE_SHOW, GATE_LIVE},
	    {400, false, true, GATE_SHOW, GATE_LIVE},  {401, false, false, GATE_HOLD, GATE_HOLD},
	    {401, true, false, GATE_HOLD, GATE_HOLD},  {404, true, true, GATE_HOLD, GATE_DROP},
	    {407, false, false, GATE_HOLD, GATE_HOLD}, {408, false, true, GATE_SHOW, GATE_LIVE},
	    {417, false, false, GATE_HOLD, GATE_HOLD}, {429, true, true, GATE_HOLD, GATE_DROP},
	    {499, false, true, GATE_SHOW, GATE_LIVE},  {500, true, true, GATE_HOLD, GATE_DROP},
	    {599, true, true, GATE_HOLD, GATE_DROP},
	};

	(void)state;
	for (size_t i = 0; i < countof(statuses); i++) {
		const struct gate_case plain = {.retried_status = statuses[i].may_be_retried ? statuses[i].status : 0};
		char event[32];

		set_scene(&plain);
		snprintf(event, sizeof(event), "h HTTP/1.1 %d x|", statuses[i].status);
		pass(event);
		assert_int_equal(scene.gate->state, statuses[i].at_once);
		assert_int_equal(scene.gate->committed, statuses[i].at_once != GATE_HOLD);
		assert_int_equal(scene.asked_is_proxys, 1);
		assert_int_equal(scene.asked_may_retry, statuses[i].asks);
		assert_int_equal(scene.asked_awaits_continue, statuses[i].status == 100);
		pass("h |");
		assert_int_equal(scene.gate->state, statuses[i].at_blank_line);
		assert_false(scene.gate->block.open);
		assert_true(scene.gate->block.complete);
		leave_scene();
	}
}

/* libcurl may go on behind these: the next callback tells. */
static const struct gate_case undecided[] = {
    {
        .name = "an auth round",
        .steps = {{"h HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"h HTTP/1.1 200 x|", GATE_LIVE, "judge, h HTTP/1.1 401 x|, h |, lift, =, committed"}},
    },
    {
        .name = "a 401 that is final",
        .steps = {{"h HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"w body", GATE_LIVE, "judge, h HTTP/1.1 401 x|, h |, lift, =, committed"}},
    },
    {
        .name = "a 401 that is final and has no body",
        .steps = {{"h HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"f", GATE_HOLD, "h HTTP/1.1 401 x|, h |, -> done"}},
    },
    {
        .name = "a 417 before the request without Expect",
        .steps = {{"h HTTP/1.1 417 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"h HTTP/1.1 503 x|", GATE_HOLD, ""},
                  {"h |", GATE_DROP, "judge, hide, limit:100"}},
    },
    {
        .name = "an early hint before an answer that isn't retried",
        .steps = {{"h HTTP/1.1 103 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"h HTTP/1.1 404 x|", GATE_SHOW, "lift, h HTTP/1.1 103 x|, h |, =, committed"},
                  {"h |", GATE_LIVE, "judge, lift, ="}},
    },
    {
        .name = "an early hint whose program receives no header lines",
        .deaf = true,
        .steps = {{"h HTTP/1.1 103 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h |", GATE_LIVE, "judge, lift"}},
    },
    {
        .name = "a switch to another protocol, which answers no more",
        .steps = {{"h HTTP/1.1 101 x|", GATE_HOLD, ""},
                  {"h |", GATE_LIVE, "judge, h HTTP/1.1 101 x|, lift, =, committed"}},
    },
    {
        .name = "a switch to HTTP/2, which answers again",
        .steps = {{"h HTTP/1.1 101 x|", GATE_HOLD, ""},
                  {"h Upgrade: h2c|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"h HTTP/2 200|", GATE_LIVE, "judge, h HTTP/1.1 101 x|, h Upgrade: h2c|, h |, lift, =, committed"}},
    },
    {
        .name = "a proxy's answer to CONNECT before a success",
        .proxys_blocks = 1,
        .lends_seek = true,
        .steps = {{"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"h HTTP/1.1 200 y|", GATE_LIVE, "answer, judge, h HTTP/1.1 200 x|, h |, lift, =, committed"}},
    },
    {
        .name = "... whose program receives no header lines",
        .proxys_blocks = 1,
        .deaf = true,
        .steps = {{"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h |", GATE_LIVE, "judge, lift"}},
    },
    {
        .name = "a proxy that refuses CONNECT",
        .proxys_blocks = 1,
        .steps = {{"h HTTP/1.1 503 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"f", GATE_HOLD, "h HTTP/1.1 503 x|, h |, -> done"}},
    },
    {
        .name = "an audited auth round",
        .observes = true,
        .steps = {{"h HTTP/1.1 401 x|", GATE_HOLD, "="},
                  {"h |", GATE_HOLD, "="},
                  {"h HTTP/1.1 200 x|", GATE_LIVE, "judge, lift, =, committed"}},
    },
};

static void what_libcurl_may_go_on_after_is_held_until_it_is_known(void **state)
{
	(void)state;
	pass_cases(undecided);
}

/* The program sends its body when it sees the 100, in each attempt. */
static const struct gate_case continues[] = {
    {
        .name = "a 100 that an upload waits for, shown in each attempt",
        .awaits_continue = true,
        .steps = {{"h HTTP/1.1 100 x|", GATE_SHOW, "=, committed"},
                  {"h |", GATE_HOLD, "=, free"},
                  {"h HTTP/1.1 503 x|", GATE_HOLD, ""},
                  {"h |", GATE_DROP, "judge, hide, limit:100"},
                  {"a", GATE_HOLD, ""},
                  {"h HTTP/1.1 100 x|", GATE_SHOW, "=, committed"},
                  {"h |", GATE_HOLD, "=, free"},
                  {"h HTTP/1.1 200 x|", GATE_LIVE, "judge, lift, =, committed"}},
    },
    {
        .name = "a 100 that nobody waits for",
        .steps = {{"h HTTP/1.1 100 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"h HTTP/1.1 200 x|", GATE_LIVE, "judge, h HTTP/1.1 100 x|, h |, lift, =, committed"}},
    },
    {
        .name = "a hint is no 100",
        .awaits_continue = true,
        .steps = {{"h HTTP/1.1 102 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"h HTTP/1.1 100 x|", GATE_SHOW, "h HTTP/1.1 102 x|, h |, =, committed"},
                  {"h |", GATE_HOLD, "=, free"}},
    },
    {
        .name = "a 100 that a program without a header callback doesn't see",
        .awaits_continue = true,
        .deaf = true,
        .steps = {{"h HTTP/1.1 100 x|", GATE_HOLD, ""}, {"h |", GATE_HOLD, ""}},
    },
    {
        .name = "an attempt that ends in a shown 100",
        .awaits_continue = true,
        .steps = {{"h HTTP/1.1 100 x|", GATE_SHOW, "=, committed"}, {"f", GATE_SHOW, "-> done"}},
    },
};

static void a_100_is_shown_to_an_upload_that_waits_for_it(void **state)
{
	(void)state;
	pass_cases(continues);
}

/* With CURLOPT_HEADER each header line comes as a write first. */
static const struct gate_case header_in_body[] = {
    {
        .name = "a success",
        .header_in_body = true,
        .steps = {{"w HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h HTTP/1.1 200 x|", GATE_LIVE, "judge, w HTTP/1.1 200 x|, lift, =, committed"},
                  {"w A: b|", GATE_LIVE, "="},
                  {"h A: b|", GATE_LIVE, "="}},
    },
    {
        .name = "a success of a program without a header callback",
        .header_in_body = true,
        .deaf = true,
        .steps = {{"w HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h HTTP/1.1 200 x|", GATE_LIVE, "judge, w HTTP/1.1 200 x|, lift, committed"},
                  {"w A: b|", GATE_LIVE, "="}},
    },
    {
        .name = "an answer that isn't retried",
        .header_in_body = true,
        .steps = {{"w HTTP/1.1 404 x|", GATE_HOLD, ""},
                  {"h HTTP/1.1 404 x|", GATE_SHOW, "lift, w HTTP/1.1 404 x|, =, committed"},
                  {"w A: b|", GATE_SHOW, "="},
                  {"h A: b|", GATE_SHOW, "="},
                  {"w |", GATE_SHOW, "="},
                  {"h |", GATE_LIVE, "judge, lift, ="},
                  {"w body", GATE_LIVE, "="}},
    },
    {
        .name = "a failure that is delivered",
        .header_in_body = true,
        .delivers = true,
        .steps = {{"w HTTP/1.1 503 x|", GATE_HOLD, ""},
                  {"h HTTP/1.1 503 x|", GATE_HOLD, ""},
                  {"w |", GATE_HOLD, ""},
                  {"h |", GATE_LIVE, "judge, w HTTP/1.1 503 x|, h HTTP/1.1 503 x|, w |, lift, =, committed"},
                  {"w body", GATE_LIVE, "="}},
    },
    {
        .name = "a body that doesn't begin as a status line",
        .header_in_body = true,
        .steps = {{"h HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"w somebody", GATE_LIVE, "judge, h HTTP/1.1 401 x|, h |, lift, =, committed"}},
    },
    {
        .name = "a body that begins as a status line does",
        .header_in_body = true,
        .steps = {{"h HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"w HTTP/ is", GATE_HOLD, ""},
                  {"w a protocol", GATE_LIVE, "judge, h HTTP/1.1 401 x|, h |, w HTTP/ is, lift, =, committed"}},
    },
    {
        .name = "a body that does so twice",
        .header_in_body = true,
        .steps = {{"h HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"w HTTP/", GATE_HOLD, ""},
                  {"w HTTP/", GATE_LIVE, "judge, h HTTP/1.1 401 x|, h |, w HTTP/, lift, =, committed"}},
    },
    {
        .name = "a body after an auth round",
        .header_in_body = true,
        .steps = {{"w HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"h HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"w |", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"w HTTP", GATE_LIVE, "judge, w HTTP/1.1 401 x|, h HTTP/1.1 401 x|, w |, h |, lift, =, committed"}},
    },
    {
        .name = "the next response after an auth round",
        .header_in_body = true,
        .steps = {{"w HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"h HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"w |", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"w HTTP/1.1 503 x|", GATE_HOLD, ""},
                  {"h HTTP/1.1 503 x|", GATE_HOLD, ""},
                  {"w |", GATE_HOLD, ""},
                  {"h |", GATE_DROP, "judge, hide, limit:100"}},
    },
};

static void header_lines_that_are_written_belong_to_their_header(void **state)
{
	(void)state;
	pass_cases(header_in_body);
}

/* After a pause libcurl before 8.7 brings what came meanwhile together with the line at which the program paused. */
static const struct gate_case several_lines[] = {
    {
        .name = "the whole header at once",
        .steps = {{"h HTTP/1.1 503 x|A: b||", GATE_DROP, "judge, hide, limit:100"}},
    },
    {
        .name = "the end of one and the begin of another",
        .steps = {{"h HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"h |HTTP/1.1 503 x|", GATE_HOLD, ""},
                  {"h |", GATE_DROP, "judge, hide, limit:100"}},
    },
    {
        .name = "the same line again",
        .steps = {{"h!p HTTP/1.1 404 x|", GATE_SHOW, "lift, =, committed, -> pause"},
                  {"h!p HTTP/1.1 404 x|", GATE_SHOW, "=, -> pause"},
                  {"h HTTP/1.1 404 x|", GATE_SHOW, "="},
                  {"h |", GATE_LIVE, "judge, lift, ="}},
    },
    {
        .name = "the same line with all that follow",
        .steps = {{"h!p HTTP/1.1 404 x|", GATE_SHOW, "lift, =, committed, -> pause"},
                  {"h HTTP/1.1 404 x|A: b||", GATE_LIVE, "judge, lift, ="}},
    },
    {
        .name = "the same line with some that follow, at which the program pauses again",
        .steps = {{"h!p HTTP/1.1 404 x|", GATE_SHOW, "lift, =, committed, -> pause"},
                  {"h!p HTTP/1.1 404 x|A: b|", GATE_SHOW, "=, -> pause"},
                  {"h HTTP/1.1 404 x|A: b|C: d|", GATE_SHOW, "="},
                  {"h |", GATE_LIVE, "judge, lift, ="}},
    },
    {
        .name = "the blank line again",
        .awaits_continue = true,
        .steps = {{"h HTTP/1.1 100 x|", GATE_SHOW, "=, committed"},
                  {"h!p |", GATE_SHOW, "=, -> pause"},
                  {"h |", GATE_HOLD, "=, free"}},
    },
    {
        .name = "the blank line with the next header's status line",
        .awaits_continue = true,
        .steps = {{"h HTTP/1.1 100 x|", GATE_SHOW, "=, committed"},
                  {"h!p |", GATE_SHOW, "=, -> pause"},
                  {"h |HTTP/1.1 404 x|", GATE_LIVE, "lift, ="}},
    },
    {
        .name = "less than at the pause",
        .steps = {{"h!p HTTP/1.1 404 x|", GATE_SHOW, "lift, =, committed, -> pause"},
                  {"h |", GATE_LIVE, "judge, lift, ="}},
    },
};

static void lines_may_come_together_after_a_pause(void **state)
{
	(void)state;
	pass_cases(several_lines);
}

/* From then on libcurl may seek the program's body by itself. */
static void an_answer_is_noted_when_it_begins(void **state)
{
	const struct gate_case lends = {.lends_seek = true, .proxys_blocks = 1};

	(void)state;
	set_scene(&lends);
	assert_false(scene.gate->saw_event);
	pass("h HTTP/1.1 200 x|");
	assert_true(scene.gate->saw_event);
	assert_false(scene.gate->answered);
	pass("h |");
	pass("h HTTP/1.1 503 x|");
	assert_true(scene.gate->answered);
	assert_string_equal(scene.happened, "answer");
	pass("a");
	assert_false(scene.gate->answered);
	assert_false(scene.gate->saw_event);
	leave_scene();
}

/* An attempt that ends in an open header is an incomplete response. */
static void a_header_is_followed_to_its_end_though_it_is_shown(void **state)
{
	const struct gate_case plain = {.name = NULL}, narrow = {.hold_body_bytes = 1};

	(void)state;
	set_scene(&plain);
	pass("h HTTP/1.1 200 x|");
	pass("h A: b|");
	assert_true(scene.gate->block.open);
	pass("h |");
	assert_false(scene.gate->block.open);
	leave_scene();

	set_scene(&narrow);
	pass("h HTTP/1.1 503 x|");
	pass("h Content-Length: 5|");
	assert_int_equal(scene.gate->state, GATE_LIVE);
	assert_true(scene.gate->block.open);
	assert_int_equal(scene.gate->block.content_length_bytes, 5);
	pass("h |");
	assert_false(scene.gate->block.open);
	leave_scene();
}

/* A request that goes out once more makes it unanswered (interpose/drive/callbacks.c). */
static void what_comes_live_is_an_answer(void **state)
{
	const struct gate_case plain = {.name = NULL};

	(void)state;
	set_scene(&plain);
	pass("h HTTP/1.1 200 x|");
	scene.gate->answered = false;
	pass("w body");
	assert_true(scene.gate->answered);
	leave_scene();
}

/* A program may take up a header callback in another one. */
static void who_receives_header_lines_is_looked_at_with_each_header(void **state)
{
	const struct gate_case deaf = {.deaf = true};

	(void)state;
	set_scene(&deaf);
	pass("h HTTP/1.1 103 x|");
	pass("h |");
	scene.handle.program.header_function = take_program_header;
	scene.handle.program.header_data = &scene.handle;
	pass("h HTTP/1.1 404 x|");
	assert_string_equal(scene.happened, "lift, =, committed");
	leave_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(successes_are_shown_as_they_come),
	    cmocka_unit_test(failures_are_held_if_they_may_be_retried),
	    cmocka_unit_test(status_lines_tell_what_is_held),
	    cmocka_unit_test(what_libcurl_may_go_on_after_is_held_until_it_is_known),
	    cmocka_unit_test(a_100_is_shown_to_an_upload_that_waits_for_it),
	    cmocka_unit_test(header_lines_that_are_written_belong_to_their_header),
	    cmocka_unit_test(lines_may_come_together_after_a_pause),
	    cmocka_unit_test(an_answer_is_noted_when_it_begins),
	    cmocka_unit_test(a_header_is_followed_to_its_end_though_it_is_shown),
	    cmocka_unit_test(what_comes_live_is_an_answer),
	    cmocka_unit_test(who_receives_header_lines_is_looked_at_with_each_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
