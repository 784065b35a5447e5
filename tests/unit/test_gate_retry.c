/* SPDX-License-Identifier: MIT */
/* What becomes of the rest of a response once it is judged, and of one that is held beyond its header. */
#include "tests/unit/test_gate.h"

#define STATUS_503 "h HTTP/1.1 503 x|", GATE_HOLD, ""

/* Read so that the connection can be used again, but no more than 4 KiB or 100 ms of it. */
static const struct gate_case dropped[] = {
    {
        .name = "a short rest, kept in case the wait is broken off",
        .steps = {{STATUS_503},
                  {"h Content-Length: 4|", GATE_HOLD, ""},
                  {"h |", GATE_DROP, "judge, hide, limit:100"},
                  {"w bo", GATE_DROP, ""},
                  {"w dy", GATE_DROP, ""},
                  {"f", GATE_DROP, "h HTTP/1.1 503 x|, h Content-Length: 4|, h |, w bo, w dy, -> done"},
                  {"f", GATE_DROP, "-> done"}},
    },
    {
        .name = "a short rest before the next attempt",
        .steps = {{STATUS_503},
                  {"h |", GATE_DROP, "judge, hide, limit:100"},
                  {"w body", GATE_DROP, ""},
                  {"a", GATE_HOLD, ""},
                  {"h HTTP/1.1 200 x|", GATE_LIVE, "judge, lift, =, committed"},
                  {"f", GATE_LIVE, "-> done"}},
    },
    {
        .name = "4 KiB that are announced",
        .steps = {{STATUS_503},
                  {"h Content-Length: 4096|", GATE_HOLD, ""},
                  {"h |", GATE_DROP, "judge, hide, limit:100"},
                  {"w *4096", GATE_DROP, ""},
                  {"w x", GATE_DROP, "-> refuse"}},
    },
    {
        .name = "more that is announced",
        .steps = {{STATUS_503},
                  {"h Content-Length: 4097|", GATE_HOLD, ""},
                  {"h |", GATE_DROP, "judge, hide, -> refuse"},
                  {"f", GATE_DROP, "h HTTP/1.1 503 x|, h Content-Length: 4097|, h |, -> done"}},
    },
    {
        .name = "more than 4 KiB, piece by piece, of no announced length",
        .steps = {{STATUS_503},
                  {"h |", GATE_DROP, "judge, hide, limit:100"},
                  {"w *4000", GATE_DROP, ""},
                  {"w *96", GATE_DROP, ""},
                  {"w x", GATE_DROP, "-> refuse"},
                  {"f", GATE_DROP,
                   "h HTTP/1.1 503 x|, h |, w *4000, w xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, -> done"}},
    },
    {
        .name = "an answer to HEAD, whose length announces nothing",
        .method = BASE_HEAD,
        .steps = {{STATUS_503},
                  {"h Content-Length: 99999|", GATE_HOLD, ""},
                  {"h |", GATE_DROP, "judge, hide, limit:100"}},
    },
    {
        .name = "an answer to NOBODY, likewise",
        .no_body = true,
        .steps = {{STATUS_503},
                  {"h Content-Length: 99999|", GATE_HOLD, ""},
                  {"h |", GATE_DROP, "judge, hide, limit:100"}},
    },
    {
        .name = "a dripping rest",
        .steps = {{STATUS_503},
                  {"h |", GATE_DROP, "judge, hide, limit:100"},
                  {"t 100", GATE_DROP, ""},
                  {"w x", GATE_DROP, ""},
                  {"t 1", GATE_DROP, ""},
                  {"w x", GATE_DROP, "-> refuse"},
                  {"w ", GATE_DROP, "-> 1"}},
    },
    {
        .name = "a rest that may have to be delivered after all",
        .may_be_taken_back = true,
        .hold_body_bytes = 5000,
        .steps = {{STATUS_503},
                  {"h Content-Length: 5000|", GATE_HOLD, ""},
                  {"h |", GATE_DROP, "judge, hide, limit:1000"},
                  {"w *4999", GATE_DROP, ""},
                  {"t 1000", GATE_DROP, ""},
                  {"w x", GATE_DROP, ""},
                  {"w x", GATE_DROP, "-> refuse"}},
    },
    {
        .name = "such a rest that is too long",
        .may_be_taken_back = true,
        .hold_body_bytes = 5000,
        .steps = {{STATUS_503},
                  {"h Content-Length: 5001|", GATE_HOLD, ""},
                  {"h |", GATE_DROP, "judge, hide, -> refuse"}},
    },
    {
        .name = "such a rest that is too slow",
        .may_be_taken_back = true,
        .steps = {{STATUS_503},
                  {"h |", GATE_DROP, "judge, hide, limit:1000"},
                  {"t 1001", GATE_DROP, ""},
                  {"w x", GATE_DROP, "-> refuse"}},
    },
    {
        .name = "a rest for which there is no memory",
        .steps = {{STATUS_503},
                  {"h |", GATE_DROP, "judge, hide, limit:100"},
                  {"m 1", GATE_DROP, ""},
                  {"w body", GATE_DROP, "-> refuse"}},
    },
    {
        .name = "a blank line for which there is none",
        .steps = {{STATUS_503}, {"m 1", GATE_HOLD, ""}, {"h |", GATE_DROP, "judge, hide, limit:100, -> refuse"}},
    },
    {
        .name = "a verdict that falls at the body",
        .retried_status = 401,
        .steps = {{"h HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"w bo", GATE_DROP, "judge, hide, limit:100"},
                  {"w dy", GATE_DROP, ""},
                  {"f", GATE_DROP, "h HTTP/1.1 401 x|, h |, w bo, w dy, -> done"}},
    },
    {
        .name = "trailers",
        .steps = {{STATUS_503},
                  {"h |", GATE_DROP, "judge, hide, limit:100"},
                  {"w body", GATE_DROP, ""},
                  {"h T: x|", GATE_DROP, ""},
                  {"f", GATE_DROP, "h HTTP/1.1 503 x|, h |, w body, h T: x|, -> done"}},
    },
    {
        .name = "trailers that nobody receives",
        .deaf = true,
        .steps = {{STATUS_503},
                  {"h |", GATE_DROP, "judge, hide, limit:100"},
                  {"w body", GATE_DROP, ""},
                  {"m 1", GATE_DROP, ""},
                  {"h T: x|", GATE_DROP, ""},
                  {"w more", GATE_DROP, "-> refuse"},
                  {"f", GATE_DROP, "w body, -> done"}},
    },
    {
        .name = "an audited rest, however long and slow",
        .observes = true,
        .steps = {{"h HTTP/1.1 503 x|", GATE_HOLD, "="},
                  {"h Content-Length: 9999|", GATE_HOLD, "="},
                  {"h |", GATE_DROP, "judge, ="},
                  {"w *5000", GATE_DROP, "="},
                  {"t 500", GATE_DROP, ""},
                  {"w *4999", GATE_DROP, "="},
                  {"f", GATE_DROP, "-> done"}},
    },
};

static void the_rest_of_what_is_retried_is_read_if_it_is_short(void **state)
{
	(void)state;
	pass_cases(dropped);
}

/* final_body: for as much as hold_body_bytes and a second allow. */
static const struct gate_case searched[] = {
    {
        .name = "a text in one piece",
        .final_body = "stop",
        .steps = {{STATUS_503},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"w go on", GATE_SEARCH, ""},
                  {"w please stop now", GATE_LIVE, "retract, h HTTP/1.1 503 x|, h |, w go on, lift, =, committed"},
                  {"w more", GATE_LIVE, "="},
                  {"f", GATE_LIVE, "-> done"}},
    },
    {
        .name = "a text across pieces",
        .final_body = "stop",
        .steps = {{STATUS_503},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"w please s", GATE_SEARCH, ""},
                  {"w t", GATE_SEARCH, ""},
                  {"w ", GATE_SEARCH, ""},
                  {"w o", GATE_SEARCH, ""},
                  {"w p", GATE_LIVE, "retract, h HTTP/1.1 503 x|, h |, w please s, w t, w , w o, lift, =, committed"}},
    },
    {
        .name = "a text of one byte",
        .final_body = "!",
        .steps = {{STATUS_503},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"w a", GATE_SEARCH, ""},
                  {"w !", GATE_LIVE, "retract, h HTTP/1.1 503 x|, h |, w a, lift, =, committed"}},
    },
    {
        .name = "a text that isn't there",
        .final_body = "stop",
        .steps = {{STATUS_503},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"w sto", GATE_SEARCH, ""},
                  {"w top", GATE_SEARCH, ""},
                  {"f", GATE_SEARCH, "h HTTP/1.1 503 x|, h |, w sto, w top, -> done"}},
    },
    {
        .name = "a text in header, trailers, or around one of them",
        .final_body = "stop",
        .steps = {{STATUS_503},
                  {"h A: stop|", GATE_HOLD, ""},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"w st", GATE_SEARCH, ""},
                  {"h T: stop|", GATE_SEARCH, ""},
                  {"w op", GATE_SEARCH, ""}},
    },
    {
        .name = "a text that was in an earlier attempt",
        .final_body = "stop",
        .steps = {{STATUS_503},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"w st", GATE_SEARCH, ""},
                  {"a", GATE_HOLD, ""},
                  {STATUS_503},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"w op", GATE_SEARCH, ""},
                  {"w stop", GATE_LIVE, "retract, h HTTP/1.1 503 x|, h |, w op, lift, =, committed"}},
    },
    {
        .name = "a text behind as much as may be held",
        .final_body = "stop",
        .hold_body_bytes = 24,
        .steps = {{STATUS_503},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"w six   ", GATE_SEARCH, ""},
                  {"w stop", GATE_DROP, "hide, limit:100"},
                  {"w x", GATE_DROP, ""},
                  {"f", GATE_DROP, "h HTTP/1.1 503 x|, h |, w six   , w stop, w x, -> done"}},
    },
    {
        .name = "a text at the end of what may be held",
        .final_body = "stop",
        .hold_body_bytes = 24,
        .steps = {{STATUS_503},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"w a stop", GATE_LIVE, "retract, h HTTP/1.1 503 x|, h |, lift, =, committed"}},
    },
    {
        .name = "a text after a second",
        .final_body = "stop",
        .steps = {{STATUS_503},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"t 1001", GATE_SEARCH, ""},
                  {"w stop", GATE_DROP, "hide, limit:100"},
                  {"f", GATE_DROP, "h HTTP/1.1 503 x|, h |, w stop, -> done"}},
    },
    {
        .name = "a text at the end of the second",
        .final_body = "stop",
        .steps = {{STATUS_503},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"t 1000", GATE_SEARCH, ""},
                  {"w stop", GATE_LIVE, "retract, h HTTP/1.1 503 x|, h |, lift, =, committed"}},
    },
    {
        .name = "a long body whose search is given up",
        .final_body = "stop",
        .hold_body_bytes = 5050,
        .steps = {{STATUS_503},
                  {"h Content-Length: 5000|", GATE_HOLD, ""},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"w *4000", GATE_SEARCH, ""},
                  {"w *1011", GATE_DROP, "hide, -> refuse"}},
    },
    {
        .name = "a text where the verdict falls at the body",
        .final_body = "stop",
        .retried_status = 401,
        .steps = {{"h HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"w stop", GATE_LIVE,
                   "judge, hide, limit:1000, retract, h HTTP/1.1 401 x|, h |, lift, =, committed"}},
    },
    {
        .name = "a text in the header, where it falls at the body",
        .final_body = "stop",
        .retried_status = 401,
        .steps = {{"h HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"h A: stop|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"w body", GATE_SEARCH, "judge, hide, limit:1000"}},
    },
    {
        .name = "a text that begins in the header",
        .final_body = "\nstop",
        .steps = {{STATUS_503},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"w s", GATE_SEARCH, ""},
                  {"w top", GATE_SEARCH, ""}},
    },
    {
        .name = "a text in what isn't retried",
        .final_body = "stop",
        .delivers = true,
        .steps = {{STATUS_503},
                  {"h |", GATE_LIVE, "judge, h HTTP/1.1 503 x|, lift, =, committed"},
                  {"w stop", GATE_LIVE, "="}},
    },
    {
        .name = "a text that a program finds which receives no header lines",
        .final_body = "stop",
        .deaf = true,
        .steps = {{STATUS_503},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"w st", GATE_SEARCH, ""},
                  {"w op", GATE_LIVE, "retract, w st, lift, =, committed"}},
    },
    {
        .name = "a piece for which there is no memory: a response with a hole would be searched, and delivered",
        .final_body = "stop",
        .steps = {{STATUS_503},
                  {"h |", GATE_SEARCH, "judge, hide, limit:1000"},
                  {"m 2", GATE_SEARCH, ""},
                  {"w st", GATE_DROP, "hide, limit:100, -> refuse"},
                  {"f", GATE_DROP, "h HTTP/1.1 503 x|, h |, -> done"}},
    },
    {
        .name = "a piece for which there is none in audit",
        .final_body = "stop",
        .observes = true,
        .steps = {{"h HTTP/1.1 503 x|", GATE_HOLD, "="},
                  {"h |", GATE_SEARCH, "judge, ="},
                  {"m 1", GATE_SEARCH, ""},
                  {"w st", GATE_DROP, "="},
                  {"w stop", GATE_DROP, "="},
                  {"f", GATE_DROP, "-> done"}},
    },
    {
        .name = "an audited text",
        .final_body = "stop",
        .observes = true,
        .steps = {{"h HTTP/1.1 503 x|", GATE_HOLD, "="},
                  {"h |", GATE_SEARCH, "judge, ="},
                  {"w st", GATE_SEARCH, "="},
                  {"w op", GATE_LIVE, "retract, lift, =, committed"},
                  {"f", GATE_LIVE, "-> done"}},
    },
    {
        .name = "an audited text that isn't there",
        .final_body = "stop",
        .observes = true,
        .steps = {{"h HTTP/1.1 503 x|", GATE_HOLD, "="},
                  {"h |", GATE_SEARCH, "judge, ="},
                  {"w body", GATE_SEARCH, "="},
                  {"t 1001", GATE_SEARCH, ""},
                  {"w body", GATE_DROP, "="},
                  {"f", GATE_DROP, "-> done"}},
    },
};

static void a_body_is_searched_for_what_makes_it_final(void **state)
{
	(void)state;
	pass_cases(searched);
}

/* hold_success_bytes: a success that breaks off is tried again. */
static const struct gate_case held_successes[] = {
    {
        .name = "a success that is held until perform returns",
        .hold_success_bytes = 100,
        .steps = {{"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h Content-Length: 100|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD_SUCCESS, "lift"},
                  {"w bo", GATE_HOLD_SUCCESS, ""},
                  {"w dy", GATE_HOLD_SUCCESS, ""},
                  {"f", GATE_HOLD_SUCCESS, "h HTTP/1.1 200 x|, h Content-Length: 100|, h |, w bo, w dy, -> done"}},
    },
    {
        .name = "a success that breaks off",
        .hold_success_bytes = 100,
        .steps = {{"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD_SUCCESS, "lift"},
                  {"w bo", GATE_HOLD_SUCCESS, ""},
                  {"a", GATE_HOLD, ""},
                  {"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD_SUCCESS, "lift"},
                  {"w body", GATE_HOLD_SUCCESS, ""},
                  {"f", GATE_HOLD_SUCCESS, "h HTTP/1.1 200 x|, h |, w body, -> done"}},
    },
    {
        .name = "a success that is announced as too long",
        .hold_success_bytes = 100,
        .steps = {{"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h Content-Length: 101|", GATE_HOLD, ""},
                  {"h |", GATE_LIVE, "judge, h HTTP/1.1 200 x|, h Content-Length: 101|, lift, =, committed"}},
    },
    {
        .name = "a stream of events, which never ends",
        .hold_success_bytes = 100,
        .steps = {{"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h Content-Type: text/event-stream|", GATE_HOLD, ""},
                  {"h |", GATE_LIVE,
                   "judge, h HTTP/1.1 200 x|, h Content-Type: text/event-stream|, lift, =, committed"}},
    },
    {
        .name = "a success that turns out too long",
        .hold_success_bytes = 100,
        .hold_body_bytes = 18,
        .steps = {{"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD_SUCCESS, "lift"},
                  {"w *60", GATE_HOLD_SUCCESS, ""},
                  {"w *40", GATE_HOLD_SUCCESS, ""},
                  {"w y", GATE_LIVE,
                   "h HTTP/1.1 200 x|, h |, w xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, "
                   "w xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, lift, =, committed"},
                  {"f", GATE_LIVE, "-> done"}},
    },
    {
        .name = "a success for which there is no memory",
        .hold_success_bytes = 100,
        .steps = {{"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD_SUCCESS, "lift"},
                  {"m 1", GATE_HOLD_SUCCESS, ""},
                  {"w body", GATE_LIVE, "h HTTP/1.1 200 x|, h |, lift, =, committed"}},
    },
    {
        .name = "a success whose header lines nobody receives",
        .hold_success_bytes = 100,
        .deaf = true,
        .steps = {{"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD_SUCCESS, "lift"},
                  {"w body", GATE_HOLD_SUCCESS, ""},
                  {"f", GATE_HOLD_SUCCESS, "w body, -> done"}},
    },
    {
        .name = "a failure",
        .hold_success_bytes = 100,
        .steps = {{"h HTTP/1.1 404 x|", GATE_SHOW, "lift, =, committed"}},
    },
    {
        .name = "a failure that is retried",
        .hold_success_bytes = 100,
        .steps = {{STATUS_503}, {"h |", GATE_DROP, "judge, hide, limit:100"}},
    },
    {
        .name = "a 300 that nobody follows",
        .hold_success_bytes = 100,
        .deaf = true,
        .steps = {{"h HTTP/1.1 300 x|", GATE_HOLD, ""}, {"h |", GATE_LIVE, "judge, lift"}},
    },
    {
        .name = "a switch to another protocol",
        .hold_success_bytes = 100,
        .steps = {{"h HTTP/1.1 101 x|", GATE_HOLD, ""},
                  {"h |", GATE_LIVE, "judge, h HTTP/1.1 101 x|, lift, =, committed"}},
    },
    {
        .name = "a success after an auth round",
        .hold_success_bytes = 100,
        .steps = {{"h HTTP/1.1 401 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD, ""},
                  {"h HTTP/1.1 200 x|", GATE_HOLD, ""},
                  {"h |", GATE_HOLD_SUCCESS, "lift"},
                  {"f", GATE_HOLD_SUCCESS, "h HTTP/1.1 401 x|, h |, h HTTP/1.1 200 x|, h |, -> done"}},
    },
    {
        .name = "an audited success",
        .hold_success_bytes = 100,
        .hold_body_bytes = 20,
        .observes = true,
        .steps = {{"h HTTP/1.1 200 x|", GATE_HOLD, "="},
                  {"h |", GATE_HOLD_SUCCESS, "lift, ="},
                  {"w *102", GATE_HOLD_SUCCESS, "="},
                  {"w x", GATE_LIVE, "lift, =, committed"},
                  {"f", GATE_LIVE, "-> done"}},
    },
};

static void successes_may_be_held_until_they_are_complete(void **state)
{
	(void)state;
	pass_cases(held_successes);
}

/* What can't be held is let through, and not tried again. */
static const struct gate_case beyond_bounds[] = {
    {
        .name = "a header of the size that may be held",
        .hold_body_bytes = 22,
        .steps = {{STATUS_503}, {"h A: b|", GATE_HOLD, ""}, {"h |", GATE_DROP, "judge, hide, limit:100"}},
    },
    {
        .name = "a header that is larger",
        .hold_body_bytes = 21,
        .steps = {{STATUS_503},
                  {"h A: b|", GATE_LIVE, "h HTTP/1.1 503 x|, lift, =, committed"},
                  {"h |", GATE_LIVE, "="},
                  {"w body", GATE_LIVE, "="}},
    },
    {
        .name = "a larger one that nobody receives",
        .hold_body_bytes = 1,
        .deaf = true,
        .steps = {{STATUS_503}, {"h A: b|", GATE_HOLD, ""}, {"h |", GATE_DROP, "judge, hide, limit:100"}},
    },
    {
        .name = "an audited one that is larger",
        .hold_body_bytes = 21,
        .observes = true,
        .steps = {{"h HTTP/1.1 503 x|", GATE_HOLD, "="}, {"h A: b|", GATE_LIVE, "lift, =, committed"}},
    },
    {
        .name = "a status line for which there is no memory",
        .steps = {{"m 1", GATE_HOLD, ""},
                  {"h HTTP/1.1 503 x|", GATE_LIVE, "lift, =, committed"},
                  {"h |", GATE_LIVE, "="}},
    },
    {
        .name = "a field for which there is none",
        .steps = {{STATUS_503},
                  {"m 1", GATE_HOLD, ""},
                  {"h A: b|", GATE_LIVE, "h HTTP/1.1 503 x|, lift, =, committed"}},
    },
};

static void what_is_too_large_to_hold_is_let_through(void **state)
{
	(void)state;
	pass_cases(beyond_bounds);
}

/* It costs a call of the program's, perhaps; so it is asked when it matters, once. */
static void rewinding_is_asked_about_once(void **state)
{
	const struct gate_case plain = {.name = NULL};

	(void)state;
	set_scene(&plain);
	pass("h HTTP/1.1 503 x|");
	assert_int_equal(scene.asked_may_be_taken_back, 0);
	pass("h |");
	pass("w body");
	assert_int_equal(scene.asked_may_be_taken_back, 1);
	leave_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_rest_of_what_is_retried_is_read_if_it_is_short),
	    cmocka_unit_test(a_body_is_searched_for_what_makes_it_final),
	    cmocka_unit_test(successes_may_be_held_until_they_are_complete),
	    cmocka_unit_test(what_is_too_large_to_hold_is_let_through),
	    cmocka_unit_test(rewinding_is_asked_about_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
