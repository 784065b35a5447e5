/* SPDX-License-Identifier: MIT */
/* What is tried again, how often and when, and what the handle is set to for it. */
#include <stdio.h>

#include "tests/unit/conduct_scene.h"

#define QUICK "backoff_base_ms = 100\n"

static const struct fake_attempt good[] = {GOOD};

/* Plays one script for one operation, and says how it ended. */
static CURLcode play(struct scene *it, const char *lines, const struct fake_attempt *attempts, int count)
{
	scene_begin(it, lines);
	return scene_perform(it, attempts, count);
}

static void a_success_is_passed_on_at_once(void **state)
{
	struct scene it;

	(void)state;
	CURLcode result = play(&it, "", good, 1);
	ASSERT_ENDED(&it, result, CURLE_OK, ENGINE_SUCCESS, 1);
	assert_string_equal(it.body, "hello");
	assert_string_equal(it.headers, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
	assert_int_equal(it.slept_ms, 0);
	scene_end(&it);
}

static void what_may_pass_is_tried_again(void **state)
{
	static const struct fake_attempt asked = {
	    .events = EVENTS(SENDS, HEADERS("HTTP/1.1 429 Slow\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n"))};
	static const struct fake_attempt cut = {.events = EVENTS(SENDS), .result = CURLE_RECV_ERROR};
	static const struct fake_attempt empty = {.events = EVENTS(SENDS), .result = CURLE_GOT_NOTHING};
	const struct {
		struct fake_attempt first;
		int64_t wait_ms;
	} cases[] = {{BAD, 101}, {asked, 3001}, {UNREACHABLE, 101}, {cut, 101}, {empty, 101}};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;
		const struct fake_attempt attempts[] = {cases[i].first, GOOD};
		CURLcode result = play(&it, QUICK, attempts, 2);
		ASSERT_ENDED(&it, result, CURLE_OK, ENGINE_SUCCESS, 2);
		assert_string_equal(it.body, "hello");
		assert_string_equal(it.headers, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
		assert_string_equal(it.error_text, "");
		assert_int_equal(it.slept_ms, cases[i].wait_ms);
		scene_end(&it);
	}
}

static void what_is_final_is_delivered(void **state)
{
	static const struct {
		struct fake_attempt only;
		CURLcode result;
		enum engine_reason reason;
		const char *body;
	} cases[] = {
	    {{.events = EVENTS(SENDS, ANSWERS("404 None", "empty"))}, CURLE_OK, ENGINE_TERMINAL_ERROR, "empty"},
	    {{.result = CURLE_URL_MALFORMAT}, CURLE_URL_MALFORMAT, ENGINE_TERMINAL_ERROR, ""},
	    {{.events = EVENTS(SENDS, ANSWERS("200 OK", "he")), .result = CURLE_PARTIAL_FILE},
	     CURLE_PARTIAL_FILE,
	     ENGINE_DELIVERED,
	     "he"},
	    {{.events = EVENTS(SENDS), .result = CURLE_ABORTED_BY_CALLBACK},
	     CURLE_ABORTED_BY_CALLBACK,
	     ENGINE_CANCELLED,
	     ""},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;
		CURLcode result = play(&it, QUICK, &cases[i].only, 1);
		ASSERT_ENDED(&it, result, cases[i].result, cases[i].reason, 1);
		assert_string_equal(it.body, cases[i].body);
		scene_end(&it);
	}
}

static void the_last_failure_is_what_the_program_gets(void **state)
{
	static const struct fake_attempt last = {.events = EVENTS(SENDS, ANSWERS("502 Bad", "third"))};
	const struct fake_attempt attempts[] = {BAD, UNREACHABLE, last};
	struct scene it;

	(void)state;
	CURLcode result = play(&it, QUICK "max_attempts = 3\n", attempts, 3);
	ASSERT_ENDED(&it, result, CURLE_OK, ENGINE_ATTEMPT_CAP, 3);
	assert_string_equal(it.body, "third");
	assert_string_equal(it.headers, "HTTP/1.1 502 Bad\r\nContent-Length: 5\r\n\r\n");
	assert_int_equal(it.told_of.waited_ms, 300);
	scene_end(&it);
}

/* A wait that doesn't fit: the answer at hand is the result, whole and at once. */
static void a_demand_that_does_not_fit_is_handed_over(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, HEADERS("HTTP/1.1 503 Busy\r\nRetry-After: 20\r\n\r\n"), BODY("later"))}};
	struct scene it;

	(void)state;
	CURLcode result = play(&it, "deadline_ms = 5000\n", attempts, 1);
	ASSERT_ENDED(&it, result, CURLE_OK, ENGINE_WAIT_EXCEEDS_DEADLINE, 1);
	assert_string_equal(it.body, "later");
	assert_int_equal(it.slept_ms, 0);
	scene_end(&it);
}

static long seen_timeout_ms[3], seen_fresh[3], seen_lookup[3], seen_quick[3], seen_connect_ms[3];
static int seen;

static void look_at_options(struct fake_libcurl *fake)
{
	seen_timeout_ms[seen] = (long)fake->options[fake_option_number(CURLOPT_TIMEOUT_MS)];
	seen_connect_ms[seen] = (long)fake->options[fake_option_number(CURLOPT_CONNECTTIMEOUT_MS)];
	seen_fresh[seen] = (long)fake->options[fake_option_number(CURLOPT_FRESH_CONNECT)];
	seen_lookup[seen] = (long)fake->options[fake_option_number(CURLOPT_DNS_CACHE_TIMEOUT)];
	seen_quick[seen] = (long)fake->options[fake_option_number((CURLoption)OPTION_QUICK_EXIT)];
	seen++;
}

/* libcurl keeps to what is left of the deadline; a failed connection or look-up isn't used again. */
static void each_attempt_has_its_limits(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(CALLS(look_at_options), TAKES_MS(1000)), .result = CURLE_COULDNT_RESOLVE_HOST},
	    {.events = EVENTS(CALLS(look_at_options), SENDS, TAKES_MS(500)), .result = CURLE_RECV_ERROR},
	    {.events = EVENTS(CALLS(look_at_options), SENDS, ANSWERS("200 OK", "hello"))}};
	struct scene it;

	(void)state;
	seen = 0;
	scene_begin(&it, QUICK "deadline_ms = 10000\nconnect_timeout_ms = 700\nbackoff_multiplier = 1\n");
	scene_set_number(&it, CURLOPT_TIMEOUT, 60);
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_SUCCESS, 3);
	assert_int_equal(seen_timeout_ms[0], 10000);
	assert_int_equal(seen_timeout_ms[1], 8899);
	assert_int_equal(seen_timeout_ms[2], 8298);
	assert_int_equal(seen_connect_ms[0], 700);
	assert_int_equal(seen_quick[0], 1);
	assert_int_equal(seen_lookup[0], 60);
	assert_int_equal(seen_lookup[1], 0);
	assert_int_equal(seen_fresh[0], 0);
	assert_int_equal(seen_fresh[2], 1);
	scene_end(&it);
}

/* retry_max_time_ms bounds the arrival of a retry's headers, not its body. */
static void a_slow_body_of_a_retry_may_take_its_time(void **state)
{
	static const struct fake_attempt attempts[] = {
	    BAD, {.events = EVENTS(SENDS, HEADERS("HTTP/1.1 200 OK\r\n\r\n"), TAKES_MS(60000), BODY("hello"))}};
	struct scene it;

	(void)state;
	CURLcode result = play(&it, QUICK "retry_max_time_ms = 5000\n", attempts, 2);
	ASSERT_ENDED(&it, result, CURLE_OK, ENGINE_SUCCESS, 2);
	assert_string_equal(it.body, "hello");
	scene_end(&it);
}

static void a_retry_without_headers_is_ended(void **state)
{
	static const struct fake_attempt attempts[] = {BAD, {.events = EVENTS(SENDS, TAKES_MS(60000))}};
	struct scene it;

	(void)state;
	CURLcode result = play(&it, QUICK "retry_max_time_ms = 5000\n", attempts, 2);
	ASSERT_ENDED(&it, result, CURLE_OPERATION_TIMEDOUT, ENGINE_RETRY_MAX_TIME, 2);
	scene_end(&it);
}

/* The rest of what is tried again is read, but no more than is worth it. */
static void a_long_error_page_is_cut(void **state)
{
	static const struct fake_attempt long_page = {
	    .events = EVENTS(SENDS, HEADERS("HTTP/1.1 503 Busy\r\nContent-Length: 9999999\r\n\r\n"), BODY("much"))};
	static const struct fake_attempt slow_page = {
	    .events =
	        EVENTS(SENDS, HEADERS("HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\n"), BODY("slow"), TAKES_MS(5000))};
	const struct fake_attempt cases[] = {long_page, slow_page};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;
		const struct fake_attempt attempts[] = {cases[i], GOOD};
		CURLcode result = play(&it, QUICK, attempts, 2);
		ASSERT_ENDED(&it, result, CURLE_OK, ENGINE_SUCCESS, 2);
		assert_string_equal(it.body, "hello");
		scene_end(&it);
	}
}

/* A text in the body says that the failure is final: the verdict is taken back. */
static void a_body_can_make_a_failure_final(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, HEADERS("HTTP/1.1 503 Busy\r\n\r\n"), BODY("quota "), BODY("exhausted"))}};
	struct scene it;

	(void)state;
	CURLcode result = play(&it, "final_body = quota exhausted\n", attempts, 1);
	ASSERT_ENDED(&it, result, CURLE_OK, ENGINE_TERMINAL_ERROR, 1);
	assert_string_equal(it.body, "quota exhausted");
	scene_end(&it);
}

/* libcurl's meter shows nothing of what nobody gets, and goes on with what somebody does. */

static long seen_meter_off[3];

static void look_at_meter(struct fake_libcurl *fake)
{
	seen_meter_off[seen++] = (long)fake->options[fake_option_number(CURLOPT_NOPROGRESS)];
}

static void the_meter_is_off_for_what_is_withheld(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, HEADERS("HTTP/1.1 503 Busy\r\n\r\n"), CALLS(look_at_meter))},
	    {.events = EVENTS(CALLS(look_at_meter), SENDS, ANSWERS("200 OK", "hello"))}};
	static const struct fake_attempt taken_back[] = {
	    {.events = EVENTS(SENDS, HEADERS("HTTP/1.1 503 Busy\r\n\r\n"), BODY("quota"), CALLS(look_at_meter))}};
	struct scene it;

	(void)state;
	seen = 0;
	scene_begin(&it, QUICK "final_body = quota\n");
	scene_set_number(&it, CURLOPT_NOPROGRESS, 0);
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_SUCCESS, 2);
	ASSERT_ENDED(&it, PERFORM(&it, taken_back), CURLE_OK, ENGINE_TERMINAL_ERROR, 1);
	assert_int_equal(seen_meter_off[0], 1);
	assert_int_equal(seen_meter_off[1], 0);
	assert_int_equal(seen_meter_off[2], 0);
	scene_end(&it);
}

/* Held until it is complete: a success that breaks off is tried again. */
static void a_held_success_that_breaks_off_is_tried_again(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, ANSWERS("200 OK", "he")), .result = CURLE_PARTIAL_FILE}, GOOD};
	struct scene it;

	(void)state;
	CURLcode result = play(&it, QUICK "hold_success_bytes = 1000\n", attempts, 2);
	ASSERT_ENDED(&it, result, CURLE_OK, ENGINE_SUCCESS, 2);
	assert_string_equal(it.body, "hello");
	scene_end(&it);
}

/* What a service's watchdog allows is never exceeded by waiting, over all operations of a thread. */
static void a_watchdog_bounds_what_is_added(void **state)
{
	static const struct fake_attempt attempts[] = {BAD, BAD, BAD, BAD};
	struct scene it;

	(void)state;
	scene_begin(&it, "nested = off\nbackoff_base_ms = 1000\n");
	it.watchdog_ms = 5000;
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_WATCHDOG_LIMIT, 2);
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_WATCHDOG_LIMIT, 2);
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_WATCHDOG_LIMIT, 1);
	assert_true(it.slept_ms < 2500);
	scene_end(&it);
}

static void a_probe_is_made_once(void **state)
{
	static const struct fake_attempt attempts[] = {UNREACHABLE};
	struct scene it;

	(void)state;
	scene_begin(&it, QUICK);
	scene_set(&it, CURLOPT_URL, "http://169.254.169.254/latest/meta-data/");
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_COULDNT_CONNECT, ENGINE_TERMINAL_ERROR, 1);
	scene_end(&it);
}

static void what_would_expire_in_the_wait_is_not_tried_again(void **state)
{
	static const struct fake_attempt attempts[] = {BAD};
	char url[128];
	struct scene it;

	(void)state;
	scene_begin(&it, "backoff_base_ms = 5000\n");
	snprintf(url, sizeof(url), "%s?Expires=%lld&Signature=00", it.url, (long long)scene_calendar_s(&it) + 3);
	scene_set(&it, CURLOPT_URL, url);
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_REQUEST_EXPIRED, 1);
	assert_int_equal(it.slept_ms, 0);
	scene_end(&it);
}

static void an_empty_budget_ends_retries(void **state)
{
	static const struct fake_attempt attempts[] = {BAD, BAD};
	struct scene it;

	(void)state;
	scene_begin(&it, QUICK "budget_tokens = 1\nbudget_refill_per_s = 0\nbreaker = off\nnested = off\n");
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_BUDGET_EMPTY, 2);
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_BUDGET_EMPTY, 1);
	scene_end(&it);
}

static void an_open_breaker_ends_retries(void **state)
{
	static const struct fake_attempt attempts[] = {BAD, BAD};
	struct scene it;

	(void)state;
	scene_begin(&it, QUICK "breaker_failures = 2\nbreaker_outage_ms = 0\nnested = off\n");
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_BREAKER_OPEN, 2);
	scene_end(&it);
}

/* A success earns a share of a token. */
static void successes_fill_the_budget(void **state)
{
	static const struct fake_attempt attempts[] = {BAD, GOOD, BAD, BAD};
	struct scene it;

	(void)state;
	scene_begin(&it, QUICK "budget_tokens = 1\nbudget_ratio = 1\nbudget_refill_per_s = 0\nnested = off\n");
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_SUCCESS, 2);
	ASSERT_ENDED(&it, scene_perform(&it, attempts + 2, 2), CURLE_OK, ENGINE_BUDGET_EMPTY, 2);
	scene_end(&it);
}

/* A failure that an outer layer will try again is left to it. */
static void what_an_outer_layer_retries_is_left_to_it(void **state)
{
	static const struct fake_attempt twice[] = {BAD, BAD};
	struct scene it;

	(void)state;
	scene_begin(&it, QUICK "max_attempts = 2\n");
	ASSERT_ENDED(&it, PERFORM(&it, twice), CURLE_OK, ENGINE_ATTEMPT_CAP, 2);
	ASSERT_ENDED(&it, scene_perform(&it, twice, 1), CURLE_OK, ENGINE_NESTED, 1);
	assert_int_equal(it.told_of.returns, 1);
	scene_end(&it);
}

/* Too large to hold, so it was let through without a verdict: nothing was wrong with it. */
static void a_success_behind_what_could_not_be_held_is_one(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, HEADERS("HTTP/1.1 103 Early\r\nLink: </style.css>\r\n\r\n"),
	                      ANSWERS("200 OK", "hello"))}};
	struct scene it;

	(void)state;
	CURLcode result = play(&it, "hold_body_bytes = 0\n", attempts, 1);
	ASSERT_ENDED(&it, result, CURLE_OK, ENGINE_SUCCESS, 1);
	assert_string_equal(it.body, "hello");
	scene_end(&it);
}

static void what_we_own_is_tried_as_often_as_the_policy_says(void **state)
{
	static const struct fake_attempt attempts[] = {BAD, BAD, GOOD};
	struct scene it;

	(void)state;
	CURLcode result = play(&it, QUICK "nested = own\n", attempts, 3);
	ASSERT_ENDED(&it, result, CURLE_OK, ENGINE_SUCCESS, 3);
	scene_end(&it);
}

/* An attempt that libcurl sent to nobody isn't one that may have been executed. */
static void what_was_never_sent_may_be_tried_again_whatever_it_is(void **state)
{
	static const struct fake_attempt sent_good[] = {{.events = EVENTS(SENDS), .result = CURLE_RECV_ERROR}, GOOD};
	static const struct fake_attempt unsent_good[] = {UNREACHABLE, GOOD};
	static const struct {
		const struct fake_attempt *attempts;
		int count;
		CURLcode result;
		enum engine_reason reason;
	} cases[] = {
	    {sent_good, 1, CURLE_RECV_ERROR, ENGINE_UNSAFE_REPLAY},
	    {unsent_good, 2, CURLE_OK, ENGINE_SUCCESS},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		scene_begin(&it, QUICK);
		scene_set(&it, CURLOPT_COPYPOSTFIELDS, "a=1");
		CURLcode result = scene_perform(&it, cases[i].attempts, cases[i].count);
		ASSERT_ENDED(&it, result, cases[i].result, cases[i].reason, cases[i].count);
		scene_end(&it);
	}
}

/* Shown once, before the hop is asked for. */
static void a_redirect_step_is_shown_once(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events =
	         EVENTS(SENDS, HEADERS("HTTP/1.1 302 Go\r\nLocation: /b\r\n\r\n"), SENDS, ANSWERS("503 Busy", "sorry")),
	     .redirects = 1},
	    {.events =
	         EVENTS(SENDS, HEADERS("HTTP/1.1 302 Go\r\nLocation: /b\r\n\r\n"), SENDS, ANSWERS("200 OK", "hello")),
	     .redirects = 1}};
	struct scene it;

	(void)state;
	scene_begin(&it, QUICK);
	scene_set_number(&it, CURLOPT_FOLLOWLOCATION, 1);
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_SUCCESS, 2);
	assert_string_equal(it.headers, "HTTP/1.1 302 Go\r\nLocation: /b\r\n\r\n"
	                                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
	scene_end(&it);
}

/* Each header line goes to the write function first, and to the header function behind it, held or not. */
static void headers_in_the_body_keep_their_order(void **state)
{
#define LINE(text) BODY(text), HEADERS(text)
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, LINE("HTTP/1.1 401 Who\r\n"), LINE("\r\n"))}};
#undef LINE
	struct scene it;

	(void)state;
	scene_begin(&it, "");
	scene_set_number(&it, CURLOPT_HEADER, 1);
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_TERMINAL_ERROR, 1);
	assert_string_equal(it.order, "whwh");
	assert_string_equal(it.body, "HTTP/1.1 401 Who\r\n\r\n");
	assert_string_equal(it.headers, it.body);
	scene_end(&it);
}

/* Judged at its headers and once more at its end, an attempt is one failure. */
static void a_failure_counts_once_for_the_breaker(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, ANSWERS("503 Busy", "so")), .result = CURLE_PARTIAL_FILE}, GOOD};
	struct scene it;

	(void)state;
	scene_begin(&it, "max_attempts = 1\nbreaker_failures = 2\nbreaker_outage_ms = 0\n"
	                 "breaker_action = fail-fast\nnested = off\n");
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_PARTIAL_FILE, ENGINE_DELIVERED, 1);
	ASSERT_ENDED(&it, scene_perform(&it, attempts + 1, 1), CURLE_OK, ENGINE_SUCCESS, 1);
	scene_end(&it);
}

static struct scene *watched;
static bool was_shown;

static void look_at_what_is_shown(struct fake_libcurl *fake)
{
	(void)fake;
	was_shown = watched->headers[0] != '\0';
}

/* What isn't tried again whatever its fields say is shown from its status line on. */
static void only_what_may_be_tried_again_is_held(void **state)
{
	static const struct {
		const char *status_line;
		bool is_shown;
	} cases[] = {{"HTTP/1.1 200 OK\r\n", true}, {"HTTP/1.1 404 None\r\n", true}, {"HTTP/1.1 503 Busy\r\n", false}};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		const struct fake_attempt only = {.events = EVENTS(SENDS, HEADERS(cases[i].status_line),
		                                                   CALLS(look_at_what_is_shown), HEADERS("\r\n"))};
		struct scene it;

		scene_begin(&it, "");
		watched = &it;
		it.is_switched_off = true;
		assert_int_equal(scene_perform(&it, &only, 1), CURLE_OK);
		assert_int_equal(was_shown, cases[i].is_shown);
		scene_end(&it);
	}
}

/* The origin's comes behind it, and is the one that counts. */
static void a_proxys_answer_is_not_judged(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(PROXY_ANSWERS("HTTP/1.1 503 Perhaps\r\n\r\n"), SENDS, ANSWERS("200 OK", "hello"))}};
	struct scene it;

	(void)state;
	CURLcode result = play(&it, QUICK, attempts, 1);
	ASSERT_ENDED(&it, result, CURLE_OK, ENGINE_SUCCESS, 1);
	assert_string_equal(it.headers, "HTTP/1.1 503 Perhaps\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
	scene_end(&it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_success_is_passed_on_at_once),
	    cmocka_unit_test(what_may_pass_is_tried_again),
	    cmocka_unit_test(what_is_final_is_delivered),
	    cmocka_unit_test(the_last_failure_is_what_the_program_gets),
	    cmocka_unit_test(a_demand_that_does_not_fit_is_handed_over),
	    cmocka_unit_test(each_attempt_has_its_limits),
	    cmocka_unit_test(a_slow_body_of_a_retry_may_take_its_time),
	    cmocka_unit_test(a_retry_without_headers_is_ended),
	    cmocka_unit_test(a_long_error_page_is_cut),
	    cmocka_unit_test(a_body_can_make_a_failure_final),
	    cmocka_unit_test(the_meter_is_off_for_what_is_withheld),
	    cmocka_unit_test(a_held_success_that_breaks_off_is_tried_again),
	    cmocka_unit_test(a_watchdog_bounds_what_is_added),
	    cmocka_unit_test(a_probe_is_made_once),
	    cmocka_unit_test(what_would_expire_in_the_wait_is_not_tried_again),
	    cmocka_unit_test(an_empty_budget_ends_retries),
	    cmocka_unit_test(an_open_breaker_ends_retries),
	    cmocka_unit_test(successes_fill_the_budget),
	    cmocka_unit_test(what_an_outer_layer_retries_is_left_to_it),
	    cmocka_unit_test(a_success_behind_what_could_not_be_held_is_one),
	    cmocka_unit_test(what_we_own_is_tried_as_often_as_the_policy_says),
	    cmocka_unit_test(what_was_never_sent_may_be_tried_again_whatever_it_is),
	    cmocka_unit_test(a_redirect_step_is_shown_once),
	    cmocka_unit_test(headers_in_the_body_keep_their_order),
	    cmocka_unit_test(a_failure_counts_once_for_the_breaker),
	    cmocka_unit_test(only_what_may_be_tried_again_is_held),
	    cmocka_unit_test(a_proxys_answer_is_not_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
