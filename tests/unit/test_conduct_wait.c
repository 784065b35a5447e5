/* SPDX-License-Identifier: MIT */
/* What can happen between two attempts, and how the operation ends by it. */
#include <errno.h>
#include <stdio.h>

#include "tests/unit/conduct_scene.h"

#define WAIT_2_S "backoff_base_ms = 2000\n"

static const struct fake_attempt bad[] = {BAD}, bad_good[] = {BAD, GOOD};
static const struct fake_attempt cut_good[] = {
    {.events = EVENTS(SENDS, HEADERS("HTTP/1.1 503 Busy\r\nContent-Length: 9999999\r\n\r\n"), BODY("much"))}, GOOD};

static void begin(struct scene *it)
{
	scene_begin(it, WAIT_2_S);
	scene_take_progress(it);
}

static void progress_goes_on_in_a_wait(void **state)
{
	struct scene it;

	(void)state;
	begin(&it);
	ASSERT_ENDED(&it, PERFORM(&it, bad_good), CURLE_OK, ENGINE_SUCCESS, 2);
	assert_int_equal(it.slept_ms, 2001);
	assert_int_equal(it.turns[AT_PROGRESS], 9);
	scene_end(&it);
}

static void an_abort_in_the_wait_ends_the_operation(void **state)
{
	struct scene it;

	(void)state;
	begin(&it);
	it.deed = (struct deed){.moment = AT_PROGRESS, .turn = 4, .refuses = true};
	ASSERT_ENDED(&it, PERFORM(&it, bad), CURLE_ABORTED_BY_CALLBACK, ENGINE_CANCELLED, 1);
	assert_int_equal(it.told_of.failure, ENGINE_CLASS_CALLER);
	assert_int_equal(it.told_of.waited_ms, 750);
	assert_string_equal(it.error_text, "Callback aborted");
	assert_string_equal(it.body, "");
	assert_int_equal(it.handle->held.event_count, 0);
	scene_end(&it);
}

static void lose_sleep(struct scene *it)
{
	it->cannot_sleep = true;
}

static void take_another_url(struct scene *it)
{
	scene_set(it, CURLOPT_URL, "http://elsewhere.example/");
}

static void make_it_a_put(struct scene *it)
{
	scene_set(it, CURLOPT_CUSTOMREQUEST, "PUT");
}

/* What failed is what the program gets, once it is known that there will be no retry. */
static void what_breaks_a_wait_off(void **state)
{
	static const struct {
		struct deed deed;
		enum engine_reason reason;
		int64_t waited_ms;
	} cases[] = {
	    {{AT_PROGRESS, 3, 0, scene_switch_off, false, false}, ENGINE_PASSED_THROUGH, 1000},
	    {{AT_SLEEP, 1, 0, scene_switch_off, false, false}, ENGINE_PASSED_THROUGH, 500},
	    {{AT_PROGRESS, 3, 0, scene_fork, false, false}, ENGINE_PASSED_THROUGH, 500},
	    {{AT_SLEEP, 3, 0, lose_sleep, false, false}, ENGINE_PASSED_THROUGH, 500},
	    {{AT_SLEEP, 9, 0, scene_fork, false, false}, ENGINE_PASSED_THROUGH, 2001},
	    {{AT_PROGRESS, 3, 0, take_another_url, false, false}, ENGINE_REQUEST_CHANGED, 2001},
	    {{AT_PROGRESS, 3, 0, make_it_a_put, false, false}, ENGINE_REQUEST_CHANGED, 2001},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		begin(&it);
		it.deed = cases[i].deed;
		ASSERT_ENDED(&it, PERFORM(&it, bad), CURLE_OK, cases[i].reason, 1);
		assert_int_equal(it.told_of.action, ENGINE_DELIVER);
		assert_int_equal(it.told_of.waited_ms, cases[i].waited_ms);
		assert_string_equal(it.body, "sorry");
		assert_string_equal(it.headers, "HTTP/1.1 503 Busy\r\nContent-Length: 5\r\n\r\n");
		scene_end(&it);
	}
}

static void reset_and_listen_again(struct scene *it)
{
	scene_reset(it);
	scene_listen(it);
}

/* The callbacks that it was for are gone, and those that are there aren't for it. */
static void after_a_reset_nothing_is_delivered(void **state)
{
	struct scene it;

	(void)state;
	begin(&it);
	it.deed = (struct deed){.moment = AT_PROGRESS, .turn = 3, .act = reset_and_listen_again};
	ASSERT_ENDED(&it, PERFORM(&it, bad), CURLE_OK, ENGINE_REQUEST_CHANGED, 1);
	assert_string_equal(it.body, "");
	scene_end(&it);
}

static void set_what_is_harmless(struct scene *it)
{
	scene_set_number(it, CURLOPT_TIMEOUT_MS, 60000);
	scene_set_number(it, CURLOPT_LOW_SPEED_LIMIT, 1);
	scene_set_number(it, CURLOPT_FRESH_CONNECT, 1);
}

static void what_asks_for_the_same_may_be_set(void **state)
{
	struct scene it;

	(void)state;
	begin(&it);
	it.deed = (struct deed){.moment = AT_PROGRESS, .turn = 3, .act = set_what_is_harmless};
	ASSERT_ENDED(&it, PERFORM(&it, bad_good), CURLE_OK, ENGINE_SUCCESS, 2);
	scene_end(&it);
}

static void a_handle_can_go_in_the_wait(void **state)
{
	struct scene it;

	(void)state;
	begin(&it);
	it.deed = (struct deed){.moment = AT_PROGRESS, .turn = 3, .act = scene_clean_up};
	assert_int_equal(PERFORM(&it, bad), CURLE_ABORTED_BY_CALLBACK);
	scene_end(&it);
}

/* We had no use for the rest of a long response: then what there is of it is told to be a part. */
static void a_response_that_was_cut_is_told_to_be_partial(void **state)
{
	static const struct {
		struct fake_attempt only;
		const char *body;
	} cases[] = {
	    {{.events = EVENTS(SENDS, HEADERS("HTTP/1.1 503 Busy\r\nContent-Length: 9999999\r\n\r\n"), BODY("much"))},
	     ""},
	    {{.events = EVENTS(SENDS, HEADERS("HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\n"), BODY("slow"),
	                       TAKES_MS(5000))},
	     "slow"},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		begin(&it);
		it.deed = (struct deed){.moment = AT_PROGRESS, .turn = 3, .act = scene_switch_off};
		ASSERT_ENDED(&it, scene_perform(&it, &cases[i].only, 1), CURLE_PARTIAL_FILE, ENGINE_PASSED_THROUGH, 1);
		assert_string_equal(
		    it.error_text,
		    "tenacurl: the wait for a retry was broken off, the rest of this response was not read");
		assert_string_equal(it.body, cases[i].body);
		scene_end(&it);
	}
}

static void a_cut_response_costs_nothing_else(void **state)
{
	struct scene it;

	(void)state;
	begin(&it);
	ASSERT_ENDED(&it, PERFORM(&it, cut_good), CURLE_OK, ENGINE_SUCCESS, 2);
	scene_end(&it);
}

/* The last look before a wait. */
static void without_a_chance_to_wait_the_failure_is_delivered(void **state)
{
	static const struct {
		struct deed deed;
		bool is_switched_off, sleep_is_refused;
	} cases[] = {
	    {{.moment = NEVER}, true, false},
	    {{.moment = NEVER}, false, true},
	    {{.moment = NEVER}, false, true},
	    {{.moment = AT_REQUEST, .act = scene_fork}, false, false},
	};
	int complaints = 0;

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		scene_begin(&it, WAIT_2_S);
		it.deed = cases[i].deed;
		it.is_switched_off = cases[i].is_switched_off;
		it.sleep_is_refused = cases[i].sleep_is_refused;
		errno = 0;
		ASSERT_ENDED(&it, PERFORM(&it, bad), CURLE_OK, ENGINE_PASSED_THROUGH, 1);
		assert_int_equal(errno, 0);
		assert_string_equal(it.body, "sorry");
		assert_int_equal(it.slept_ms, 0);
		complaints += it.complaint[0] != '\0';
		scene_end(&it);
	}
	assert_int_equal(complaints, 1);
}

/* A host that sleeps for a day wakes up with a signature that is none any more. */
static void suspend(struct scene *it)
{
	it->suspended_ms += 24 * 3600 * 1000;
}

static void what_expired_in_the_wait_is_not_tried_again(void **state)
{
	char url[128];
	struct scene it;

	(void)state;
	begin(&it);
	snprintf(url, sizeof(url), "%s?Expires=%lld&Signature=00", it.url, (long long)scene_calendar_s(&it) + 3600);
	scene_set(&it, CURLOPT_URL, url);
	it.deed = (struct deed){.moment = AT_SLEEP, .turn = 1, .act = suspend};
	ASSERT_ENDED(&it, PERFORM(&it, bad), CURLE_OK, ENGINE_REQUEST_EXPIRED, 1);
	assert_string_equal(it.body, "sorry");
	scene_end(&it);
}

/* What is delivered when perform has returned. */

static void pause_at_first_header(struct scene *it)
{
	it->deed = (struct deed){.moment = AT_HEADER, .turn = 1, .pauses = true};
}

/* One attempt, whose failure is held to its end: it is delivered by us, and the program pauses. */
static void begin_paused(struct scene *it, const char *lines)
{
	scene_begin(it, lines);
	scene_take_progress(it);
	pause_at_first_header(it);
}

/* Auth rounds are held on: perform's return settles them. */
static const struct fake_attempt held[] = {{.events = EVENTS(SENDS, HEADERS("HTTP/1.1 401 Who\r\n\r\n"))}};

static void what_is_paused_goes_on_when_it_is_unpaused(void **state)
{
	static const enum moment moments[] = {AT_PROGRESS, AT_SLEEP};

	(void)state;
	for (size_t i = 0; i < countof(moments); i++) {
		struct scene it;

		begin_paused(&it, "");
		it.second_deed = (struct deed){.moment = moments[i], .turn = 3, .act = scene_unpause};
		ASSERT_ENDED(&it, PERFORM(&it, held), CURLE_OK, ENGINE_TERMINAL_ERROR, 1);
		assert_string_equal(it.headers, "HTTP/1.1 401 Who\r\n\r\n");
		assert_in_range(it.slept_ms, 500, 750);
		scene_end(&it);
	}
}

static void unpause_sending(struct scene *it)
{
	conduct_note_unpause(it->handle->active, false);
}

static void how_a_pause_can_end(void **state)
{
	static const struct {
		const char *lines;
		struct deed deed;
		CURLcode result;
	} cases[] = {
	    {"deadline_ms = 3000\n", {.moment = NEVER}, CURLE_OPERATION_TIMEDOUT},
	    {"deadline_ms = 3000\n", {.moment = AT_PROGRESS, .act = unpause_sending}, CURLE_OPERATION_TIMEDOUT},
	    {"", {.moment = AT_PROGRESS, .turn = 2, .refuses = true}, CURLE_ABORTED_BY_CALLBACK},
	    {"", {.moment = AT_PROGRESS, .turn = 2, .act = scene_clean_up}, CURLE_ABORTED_BY_CALLBACK},
	    {"", {.moment = AT_SLEEP, .turn = 2, .act = lose_sleep}, CURLE_OPERATION_TIMEDOUT},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		begin_paused(&it, cases[i].lines);
		it.second_deed = cases[i].deed;
		CURLcode result = PERFORM(&it, held);
		assert_int_equal(result, cases[i].result);
		if (!it.fake.is_gone)
			ASSERT_ENDED(&it, result, cases[i].result, ENGINE_CANCELLED, 1);
		assert_string_equal(it.headers, "");
		scene_end(&it);
	}
}

static void a_program_can_refuse_what_was_held(void **state)
{
	struct scene it;

	(void)state;
	scene_begin(&it, "");
	it.deed = (struct deed){.moment = AT_HEADER, .refuses = true};
	ASSERT_ENDED(&it, PERFORM(&it, held), CURLE_WRITE_ERROR, ENGINE_CANCELLED, 1);
	assert_string_equal(it.error_text, "Failed writing the response to the program");
	assert_int_equal(it.told_of.failure, ENGINE_CLASS_CALLER);
	scene_end(&it);
}

static void a_handle_can_go_while_what_was_held_is_delivered(void **state)
{
	struct scene it;

	(void)state;
	scene_begin(&it, "");
	it.deed = (struct deed){.moment = AT_HEADER, .act = scene_clean_up};
	assert_int_equal(PERFORM(&it, held), CURLE_ABORTED_BY_CALLBACK);
	scene_end(&it);
}

/* Its numbers are shown when it is: libcurl's came while it was withheld. */
static const struct fake_attempt shown_late[] = {
    {.events = EVENTS(SENDS, ANSWERS("503 Busy", "sorry"), TELLS_PROGRESS(5))}};

/* Behind the attempt's own call and two of the wait, which is broken off then. */
#define LATE_TURN 4

static void begin_shown_late(struct scene *it)
{
	begin(it);
	it->deed = (struct deed){.moment = AT_SLEEP, .turn = 1, .act = scene_switch_off};
}

static void numbers_of_what_was_held_are_shown_with_it(void **state)
{
	struct scene it;

	(void)state;
	begin_shown_late(&it);
	ASSERT_ENDED(&it, PERFORM(&it, shown_late), CURLE_OK, ENGINE_PASSED_THROUGH, 1);
	assert_string_equal(it.body, "sorry");
	assert_int_equal(it.turns[AT_PROGRESS], LATE_TURN);
	assert_int_equal(it.progress_bytes, 5);
	scene_end(&it);
}

static void late_numbers_can_be_refused(void **state)
{
	struct scene it;

	(void)state;
	begin_shown_late(&it);
	it.second_deed = (struct deed){.moment = AT_PROGRESS, .turn = LATE_TURN, .refuses = true};
	ASSERT_ENDED(&it, PERFORM(&it, shown_late), CURLE_ABORTED_BY_CALLBACK, ENGINE_CANCELLED, 1);
	scene_end(&it);

	begin_shown_late(&it);
	it.second_deed = (struct deed){.moment = AT_PROGRESS, .turn = LATE_TURN, .act = scene_clean_up};
	assert_int_equal(PERFORM(&it, shown_late), CURLE_ABORTED_BY_CALLBACK);
	scene_end(&it);
}

/* A place among those that are between attempts is held by nobody who isn't. */
static void who_stops_waiting_leaves_its_place(void **state)
{
	static const struct {
		struct deed deed;
		bool is_switched_off;
	} cases[] = {
	    {{.moment = AT_PROGRESS, .turn = 2, .refuses = true}, false},
	    {{.moment = NEVER}, true},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		scene_begin(&it, WAIT_2_S "max_retrying = 1\nnested = off\n");
		scene_take_progress(&it);
		it.deed = cases[i].deed;
		it.is_switched_off = cases[i].is_switched_off;
		PERFORM(&it, bad);
		it.deed.moment = NEVER;
		it.is_switched_off = false;
		ASSERT_ENDED(&it, PERFORM(&it, bad_good), CURLE_OK, ENGINE_SUCCESS, 2);
		scene_end(&it);
	}
}

static struct ended another;

static void perform_another(struct scene *it)
{
	static const struct fake_attempt only = {.events = EVENTS(SENDS, HEADERS("HTTP/1.1 503 Busy\r\n\r\n"))};
	another = scene_perform_another(it, &only);
}

static void only_so_many_wait_at_a_time(void **state)
{
	struct scene it;

	(void)state;
	scene_begin(&it, WAIT_2_S "max_retrying = 1\nnested = off\n");
	it.deed = (struct deed){.moment = AT_SLEEP, .turn = 1, .act = perform_another};
	ASSERT_ENDED(&it, PERFORM(&it, bad_good), CURLE_OK, ENGINE_SUCCESS, 2);
	assert_int_equal(another.reason, ENGINE_RETRY_CONCURRENCY);
	scene_end(&it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(progress_goes_on_in_a_wait),
	    cmocka_unit_test(an_abort_in_the_wait_ends_the_operation),
	    cmocka_unit_test(what_breaks_a_wait_off),
	    cmocka_unit_test(after_a_reset_nothing_is_delivered),
	    cmocka_unit_test(what_asks_for_the_same_may_be_set),
	    cmocka_unit_test(a_handle_can_go_in_the_wait),
	    cmocka_unit_test(a_response_that_was_cut_is_told_to_be_partial),
	    cmocka_unit_test(a_cut_response_costs_nothing_else),
	    cmocka_unit_test(without_a_chance_to_wait_the_failure_is_delivered),
	    cmocka_unit_test(what_expired_in_the_wait_is_not_tried_again),
	    cmocka_unit_test(what_is_paused_goes_on_when_it_is_unpaused),
	    cmocka_unit_test(how_a_pause_can_end),
	    cmocka_unit_test(a_program_can_refuse_what_was_held),
	    cmocka_unit_test(a_handle_can_go_while_what_was_held_is_delivered),
	    cmocka_unit_test(numbers_of_what_was_held_are_shown_with_it),
	    cmocka_unit_test(late_numbers_can_be_refused),
	    cmocka_unit_test(who_stops_waiting_leaves_its_place),
	    cmocka_unit_test(only_so_many_wait_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
