/* SPDX-License-Identifier: MIT */
/*
 * What the program does in its callbacks: it pauses, refuses, or cleans its handle up, wherever it may be called from.
 * After the last one nothing of the operation may be touched: its memory can't be read.
 */
#include "tests/unit/test_gate.h"

#define HELD_503 "h HTTP/1.1 503 x|", GATE_HOLD, ""
#define HELD_302 "h HTTP/1.1 302 x|", GATE_HOLD, ""
#define HELD_A   "h Location: /a|", GATE_HOLD, ""
#define HELD_B   "h Location: /b|", GATE_HOLD, ""
#define SHOW_302 "h HTTP/1.1 302 x|", GATE_SHOW, "=, committed"
#define SHOW_A   "h Location: /a|", GATE_SHOW, "="
#define END_STEP "h |", GATE_HOLD, "=, free"
#define NEXT     "a", GATE_HOLD, ""

/* libcurl keeps what it gave and brings it again; what was held goes on where the program stopped. */
static const struct gate_case pauses[] = {
    {
        .name = "in what is shown as it comes",
        .steps = {{"h!p HTTP/1.1 200 x|", GATE_LIVE, "judge, lift, =, committed, -> pause"},
                  {"h HTTP/1.1 200 x|", GATE_LIVE, "="},
                  {"w!p body", GATE_LIVE, "=, -> pause"},
                  {"w!p body", GATE_LIVE, "=, -> pause"},
                  {"w body", GATE_LIVE, "="}},
    },
    {
        .name = "in what was held",
        .delivers = true,
        .steps = {{HELD_503},
                  {"h A: b|", GATE_HOLD, ""},
                  {"h!.p |", GATE_FLUSH, "judge, h HTTP/1.1 503 x|, h A: b|, committed, -> pause"},
                  {"h!p |", GATE_FLUSH, "h A: b|, -> pause"},
                  {"h!.p |", GATE_LIVE, "h A: b|, lift, =, -> pause"},
                  {"h |", GATE_LIVE, "="},
                  {"w body", GATE_LIVE, "="}},
    },
    {
        .name = "in what was held, until the transfer ends",
        .delivers = true,
        .steps = {{HELD_503},
                  {"h!p |", GATE_FLUSH, "judge, h HTTP/1.1 503 x|, committed, -> pause"},
                  {"f", GATE_FLUSH, "-> done"}},
    },
    {
        .name = "in what was held, with a verdict that is taken back",
        .final_body = "stop",
        .steps = {{HELD_503},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"w!p stop", GATE_FLUSH, "retract, h HTTP/1.1 503 x|, committed, -> pause"},
                  {"w stop", GATE_LIVE, "h HTTP/1.1 503 x|, h |, lift, ="}},
    },
    {
        .name = "in what was held and went past the bound",
        .hold_body_bytes = 20,
        .steps = {{HELD_503},
                  {"h!p A: b|", GATE_FLUSH, "h HTTP/1.1 503 x|, committed, -> pause"},
                  {"h A: b|", GATE_LIVE, "h HTTP/1.1 503 x|, lift, ="}},
    },
    {
        .name = "when perform has returned",
        .hold_success_bytes = 100,
        .steps = {{"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD_SUCCESS, "lift"},
                  {"w body", GATE_HOLD_SUCCESS, ""},
                  {"f!.p", GATE_HOLD_SUCCESS, "h HTTP/1.1 200 x|, h |, -> paused"},
                  {"f!.p", GATE_HOLD_SUCCESS, "h |, w body, -> paused"},
                  {"f", GATE_HOLD_SUCCESS, "w body, -> done"}},
    },
    {
        .name = "in a header that is shown behind what was held",
        .steps = {{"h HTTP/1.1 103 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"h!.p HTTP/1.1 404 x|", GATE_SHOW, "lift, h HTTP/1.1 103 x|, h |, committed, -> pause"},
                  {"h!.p HTTP/1.1 404 x|A: b|", GATE_SHOW, "h |, =, -> pause"},
                  {"h HTTP/1.1 404 x|A: b|", GATE_SHOW, "="},
                  {"h |", GATE_LIVE, "judge, lift, ="}},
    },
    {
        .name = "at the end of a step",
        .steps = {{SHOW_302},
                  {SHOW_A},
                  {"h!p |", GATE_SHOW, "=, -> pause"},
                  {END_STEP},
                  {NEXT},
                  {HELD_302},
                  {HELD_A},
                  {"h |", GATE_HOLD, ""},
                  {SHOW_302}},
    },
    {
        .name = "in a step that is shown late",
        .steps = {{SHOW_302},
                  {SHOW_A},
                  {END_STEP},
                  {NEXT},
                  {HELD_302},
                  {HELD_B},
                  {"h!.p |", GATE_SHOW, "h HTTP/1.1 302 x|, h Location: /b|, committed, -> pause"},
                  {"h |", GATE_HOLD, "h Location: /b|, =, free"},
                  {NEXT},
                  {HELD_302},
                  {HELD_B},
                  {"h |", GATE_HOLD, ""}},
    },
    {
        .name = "in a write that is a header line",
        .header_in_body = true,
        .steps = {{"w HTTP/1.1 404 x|", GATE_HOLD, ""},
                  {"h HTTP/1.1 404 x|", GATE_SHOW, "lift, w HTTP/1.1 404 x|, =, committed"},
                  {"w!p A: b|", GATE_SHOW, "=, -> pause"},
                  {"w A: b|", GATE_SHOW, "="},
                  {"h A: b|", GATE_SHOW, "="}},
    },
    {
        .name = "in audit",
        .observes = true,
        .steps = {{"h!p HTTP/1.1 503 x|", GATE_HOLD, "=, -> pause"},
                  {"h HTTP/1.1 503 x|", GATE_HOLD, "="},
                  {"h!p |", GATE_DROP, "judge, =, -> pause"},
                  {"h |", GATE_DROP, "="},
                  {"w!p body", GATE_DROP, "=, -> pause"},
                  {"w body", GATE_DROP, "="}},
    },
};

static void a_program_may_pause_wherever_it_is_called(void **state)
{
	(void)state;
	pass_cases(pauses);
}

/* The transfer ends, and the program isn't called again. */
static const struct gate_case refusals[] = {
    {
        .name = "of what is shown as it comes",
        .steps = {{"h HTTP/1.1 200 x|", GATE_LIVE, "judge, lift, =, committed"},
                  {"w!r body", GATE_LIVE, "=, refused, -> refuse"},
                  {"f", GATE_LIVE, "-> done"}},
    },
    {
        .name = "of a part of it: libcurl is told how much was taken",
        .steps = {{"h HTTP/1.1 200 x|", GATE_LIVE, "judge, lift, =, committed"},
                  {"w!s body", GATE_LIVE, "=, refused, -> 3"}},
    },
    {
        .name = "of what was held",
        .delivers = true,
        .steps = {{HELD_503},
                  {"h A: b|", GATE_HOLD, ""},
                  {"h!r |", GATE_FLUSH, "judge, h HTTP/1.1 503 x|, committed, refused, -> refuse"},
                  {"f", GATE_FLUSH, "-> done"}},
    },
    {
        .name = "of the last that was held",
        .delivers = true,
        .steps = {{HELD_503},
                  {"h!s |", GATE_FLUSH, "judge, h HTTP/1.1 503 x|, committed, refused, -> refuse"},
                  {"f", GATE_FLUSH, "-> done"}},
    },
    {
        .name = "of what is behind it",
        .delivers = true,
        .steps = {{HELD_503},
                  {"h!.r |", GATE_LIVE, "judge, h HTTP/1.1 503 x|, lift, =, committed, refused, -> refuse"}},
    },
    {
        .name = "of what was held before an empty write",
        .steps = {{"h HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"w!r ", GATE_FLUSH, "judge, h HTTP/1.1 401 x|, committed, refused, -> 1"}},
    },
    {
        .name = "when perform has returned",
        .hold_success_bytes = 100,
        .steps = {{"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD_SUCCESS, "lift"},
                  {"w body", GATE_HOLD_SUCCESS, ""},
                  {"f!..s", GATE_HOLD_SUCCESS, "h HTTP/1.1 200 x|, h |, w body, refused, -> refused"},
                  {"f", GATE_HOLD_SUCCESS, "-> done"}},
    },
    {
        .name = "of a header that is shown",
        .steps = {{"h!r HTTP/1.1 404 x|", GATE_SHOW, "lift, =, committed, refused, -> refuse"},
                  {"f", GATE_SHOW, "-> done"}},
    },
    {
        .name = "of what was held before a header that is shown",
        .steps = {{"h HTTP/1.1 103 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"h!r HTTP/1.1 404 x|", GATE_SHOW, "lift, h HTTP/1.1 103 x|, committed, refused, -> refuse"},
                  {"f", GATE_SHOW, "-> done"}},
    },
    {
        .name = "of a step's end",
        .steps = {{SHOW_302}, {SHOW_A}, {"h!r |", GATE_SHOW, "=, refused, -> refuse"}},
    },
    {
        .name = "of a step that is shown late",
        .steps = {{SHOW_302},
                  {SHOW_A},
                  {END_STEP},
                  {NEXT},
                  {HELD_302},
                  {HELD_B},
                  {"h!.r |", GATE_SHOW, "h HTTP/1.1 302 x|, h Location: /b|, committed, refused, -> refuse"}},
    },
    {
        .name = "in audit, of what would be held",
        .observes = true,
        .steps = {{"h!r HTTP/1.1 503 x|", GATE_HOLD, "=, refused, -> refuse"}, {"f", GATE_HOLD, "-> done"}},
    },
    {
        .name = "in audit, of what would be dropped",
        .observes = true,
        .steps = {{"h HTTP/1.1 503 x|", GATE_HOLD, "="},
                  {"h!s |", GATE_DROP, "judge, =, refused, -> 1"},
                  {"w!r body", GATE_DROP, "=, -> refuse"}},
    },
};

static void a_program_may_refuse_wherever_it_is_called(void **state)
{
	(void)state;
	pass_cases(refusals);
}

/* The states are those in which the program was called. */
static const struct gate_case ends[] = {
    {
        .name = "in what is shown as it comes",
        .steps = {{"h!g HTTP/1.1 200 x|", GATE_LIVE, "judge, lift, =, committed, -> refuse"}},
    },
    {
        .name = "in a body",
        .steps = {{"h HTTP/1.1 200 x|", GATE_LIVE, "judge, lift, =, committed"},
                  {"w!g body", GATE_LIVE, "=, -> refuse"}},
    },
    {
        .name = "in what was held",
        .delivers = true,
        .steps = {{HELD_503},
                  {"h A: b|", GATE_HOLD, ""},
                  {"h!.g |", GATE_FLUSH, "judge, h HTTP/1.1 503 x|, h A: b|, committed, -> refuse"}},
    },
    {
        .name = "behind what was held",
        .delivers = true,
        .steps = {{HELD_503}, {"h!.g |", GATE_LIVE, "judge, h HTTP/1.1 503 x|, lift, =, committed, -> refuse"}},
    },
    {
        .name = "in what was held, with a verdict that is taken back",
        .final_body = "stop",
        .steps = {{HELD_503},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"w!g stop", GATE_FLUSH, "retract, h HTTP/1.1 503 x|, committed, -> refuse"}},
    },
    {
        .name = "when perform has returned",
        .steps = {{HELD_503}, {"f!g", GATE_HOLD, "h HTTP/1.1 503 x|, -> gone"}},
    },
    {
        .name = "at a status line that is shown",
        .steps = {{"h!g HTTP/1.1 404 x|", GATE_SHOW, "lift, =, committed, -> refuse"}},
    },
    {
        .name = "at a field that is shown",
        .steps = {{SHOW_302}, {"h!g Location: /a|", GATE_SHOW, "=, -> refuse"}},
    },
    {
        .name = "at the end of a header that is shown",
        .steps = {{"h HTTP/1.1 404 x|", GATE_SHOW, "lift, =, committed"},
                  {"h!g |", GATE_LIVE, "judge, lift, =, -> refuse"}},
    },
    {
        .name = "at the end of a 100",
        .awaits_continue = true,
        .steps = {{"h HTTP/1.1 100 x|", GATE_SHOW, "=, committed"}, {"h!g |", GATE_SHOW, "=, -> refuse"}},
    },
    {
        .name = "at the end of a step",
        .steps = {{SHOW_302}, {SHOW_A}, {"h!g |", GATE_SHOW, "=, -> refuse"}},
    },
    {
        .name = "in a step that is shown late",
        .steps = {{SHOW_302},
                  {SHOW_A},
                  {END_STEP},
                  {NEXT},
                  {HELD_302},
                  {HELD_B},
                  {"h!.g |", GATE_SHOW, "h HTTP/1.1 302 x|, h Location: /b|, committed, -> refuse"}},
    },
    {
        .name = "at the end of one",
        .steps = {{SHOW_302},
                  {SHOW_A},
                  {END_STEP},
                  {NEXT},
                  {HELD_302},
                  {HELD_B},
                  {"h!..g |", GATE_SHOW, "h HTTP/1.1 302 x|, h Location: /b|, =, committed, -> refuse"}},
    },
    {
        .name = "in audit, in what would be held",
        .observes = true,
        .steps = {{"h!g HTTP/1.1 503 x|", GATE_HOLD, "=, -> refuse"}},
    },
    {
        .name = "in audit, where it would be searched",
        .observes = true,
        .final_body = "stop",
        .steps = {{"h HTTP/1.1 503 x|", GATE_HOLD, "="}, {"h!g |", GATE_SEARCH, "judge, =, -> refuse"}},
    },
    {
        .name = "in audit, in what would be dropped",
        .observes = true,
        .steps = {{"h HTTP/1.1 503 x|", GATE_HOLD, "="},
                  {"h |", GATE_DROP, "judge, ="},
                  {"w!g body", GATE_DROP, "=, -> refuse"}},
    },
    {
        .name = "in audit, where it would begin to be dropped",
        .observes = true,
        .steps = {{"h HTTP/1.1 503 x|", GATE_HOLD, "="}, {"h!g |", GATE_DROP, "judge, =, -> refuse"}},
    },
    {
        .name = "in audit, in a success that would be held",
        .observes = true,
        .hold_success_bytes = 100,
        .steps = {{"h HTTP/1.1 200 x|", GATE_HOLD, "="}, {"h!g |", GATE_HOLD_SUCCESS, "lift, =, -> refuse"}},
    },
};

static void a_program_may_end_the_operation_wherever_it_is_called(void **state)
{
	(void)state;
	pass_cases(ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_program_may_pause_wherever_it_is_called),
	    cmocka_unit_test(a_program_may_refuse_wherever_it_is_called),
	    cmocka_unit_test(a_program_may_end_the_operation_wherever_it_is_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
