/* SPDX-License-Identifier: MIT */
/* What keeps an operation from its first attempt, and what the program is told then. */
#include "interpose/handle/shared_state.h"
#include "interpose/parts/lend.h"
#include "tests/unit/conduct_scene.h"

#define OWN  "nested = own\nmax_attempts = 1\nbackoff_base_ms = 1000\n"
#define FAST "nested = off\nmax_attempts = 1\nbreaker_failures = 1\nbreaker_outage_ms = 0\nbreaker_action = fail-fast\n"

#define SAYS_NESTED   "tenacurl: this request failed a moment ago and its attempts are used up, so it was not made again"
#define SAYS_BREAKER  "tenacurl: the circuit breaker is open, so no request was made"
#define SAYS_DEADLINE "tenacurl: the deadline was over before the request was made"

static const struct fake_attempt bad[] = {BAD}, good[] = {GOOD};

static void fail_before(struct scene *it)
{
	assert_int_equal(PERFORM(it, bad), CURLE_OK);
}

static void leave_no_time(struct scene *it)
{
	it->deadline_ms = it->now_ms + 99;
}

static const struct refused {
	const char *lines;
	void (*cause)(struct scene *it);
	CURLcode result;
	enum engine_reason reason;
	enum engine_class failure;
	const char *text;
} refused[] = {
    {OWN, fail_before, CURLE_COULDNT_CONNECT, ENGINE_NESTED, ENGINE_CLASS_CONNECT, SAYS_NESTED},
    {FAST, fail_before, CURLE_COULDNT_CONNECT, ENGINE_BREAKER_OPEN, ENGINE_CLASS_CONNECT, SAYS_BREAKER},
    {"", leave_no_time, CURLE_OPERATION_TIMEDOUT, ENGINE_DEADLINE_BUDGET, ENGINE_CLASS_TIMEOUT, SAYS_DEADLINE},
};

static void begin_refused(struct scene *it, const struct refused *refusal)
{
	scene_begin(it, refusal->lines);
	refusal->cause(it);
	it->body[0] = it->headers[0] = '\0';
}

static void each_refusal_has_its_result_and_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(refused); i++) {
		struct scene it;

		begin_refused(&it, &refused[i]);
		CURLcode result = scene_perform(&it, NULL, 0);
		ASSERT_ENDED(&it, result, refused[i].result, refused[i].reason, 0);
		assert_int_equal(it.told_of.failure, refused[i].failure);
		assert_string_equal(it.error_text, refused[i].text);
		assert_string_equal(it.body, "");
		/* It leaves no info value of an older transfer behind. */
		assert_int_equal(it.fake.barren_performs, 1);
		assert_int_equal(it.fake.infos[CURLINFO_RESPONSE_CODE & 0xFFFFF], 0);
		scene_end(&it);
	}
}

/* What can't be read back isn't changed. */
static void protocols_set_by_name_stay(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(refused); i++) {
		struct scene it;

		begin_refused(&it, &refused[i]);
		scene_set(&it, OPTION_PROTOCOLS_STR, "http,https");
		ASSERT_ENDED(&it, scene_perform(&it, NULL, 0), refused[i].result, refused[i].reason, 0);
		assert_int_equal(it.fake.barren_performs, 0);
		assert_string_equal(it.error_text, refused[i].text);
		scene_end(&it);
	}
}

static void protocols_of_the_program_are_given_back(void **state)
{
	struct scene it;

	(void)state;
	begin_refused(&it, &refused[2]);
	scene_set_number(&it, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
	assert_int_equal(scene_perform(&it, NULL, 0), CURLE_OPERATION_TIMEDOUT);
	it.fake.refused_option = fake_option_number(CURLOPT_PROTOCOLS);
	assert_int_equal(scene_perform(&it, NULL, 0), CURLE_OPERATION_TIMEDOUT);
	assert_int_equal(it.fake.barren_performs, 1);
	scene_end(&it);
}

static void without_an_error_buffer_nothing_is_said(void **state)
{
	struct scene it;

	(void)state;
	begin_refused(&it, &refused[2]);
	scene_set(&it, CURLOPT_ERRORBUFFER, NULL);
	assert_int_equal(scene_perform(&it, NULL, 0), CURLE_OPERATION_TIMEDOUT);
	assert_string_equal(it.error_text, "");
	scene_end(&it);
}

#define AUDIT "mode = audit\nlog = stderr\n"

/* Audit notes what it would refuse, and lets it go as it would without us. */
static void audit_refuses_nothing(void **state)
{
	static const struct refused cases[] = {
	    {AUDIT FAST, fail_before, CURLE_OK, ENGINE_BREAKER_OPEN, ENGINE_CLASS_CONNECT, ""},
	    {AUDIT OWN, fail_before, CURLE_OK, ENGINE_NESTED, ENGINE_CLASS_CONNECT, ""},
	    {AUDIT "nested = own\n", fail_before, CURLE_OK, ENGINE_NESTED, ENGINE_CLASS_CONNECT, ""},
	    {AUDIT, leave_no_time, CURLE_OK, ENGINE_DEADLINE_BUDGET, ENGINE_CLASS_TIMEOUT, ""},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		begin_refused(&it, &cases[i]);
		ASSERT_ENDED(&it, PERFORM(&it, good), CURLE_OK, cases[i].reason, 0);
		assert_string_equal(it.body, "hello");
		assert_int_equal(it.slept_ms, 0);
		scene_end(&it);
	}
}

static void audit_bears_that_the_handle_goes(void **state)
{
	struct scene it;

	(void)state;
	begin_refused(&it, &(struct refused){.lines = AUDIT FAST, .cause = fail_before});
	it.deed = (struct deed){.moment = AT_WRITE, .act = scene_clean_up};
	PERFORM(&it, good);
	assert_true(it.fake.is_gone);
	scene_end(&it);
}

/* A loop without a pause would spin. */
static void refusals_are_apart(void **state)
{
	struct scene it;

	(void)state;
	scene_begin(&it, OWN);
	fail_before(&it);
	ASSERT_ENDED(&it, scene_perform(&it, NULL, 0), CURLE_COULDNT_CONNECT, ENGINE_NESTED, 0);
	assert_int_equal(it.slept_ms, 0);
	it.now_ms += 300;
	ASSERT_ENDED(&it, scene_perform(&it, NULL, 0), CURLE_COULDNT_CONNECT, ENGINE_NESTED, 0);
	assert_int_equal(it.slept_ms, 701);
	scene_end(&it);
}

/* Behind the quiet time one request goes out, so that a loop which waits for a service notices it. */
static void what_was_refused_is_tried_again_in_time(void **state)
{
	struct scene it;

	(void)state;
	scene_begin(&it, OWN "nested_quiet_ms = 5000\n");
	fail_before(&it);
	assert_int_equal(scene_perform(&it, NULL, 0), CURLE_COULDNT_CONNECT);
	it.now_ms += 5000;
	ASSERT_ENDED(&it, PERFORM(&it, good), CURLE_OK, ENGINE_SUCCESS, 1);
	assert_int_equal(it.told_of.returns, 2);
	scene_end(&it);
}

/* Ready to be refused and paced. */
static void begin_paced(struct scene *it)
{
	scene_begin(it, OWN);
	scene_take_progress(it);
	fail_before(it);
	assert_int_equal(scene_perform(it, NULL, 0), CURLE_COULDNT_CONNECT);
	memset(it->turns, 0, sizeof(it->turns));
}

static void a_program_can_cancel_while_it_is_paced(void **state)
{
	struct scene it;

	(void)state;
	begin_paced(&it);
	it.deed = (struct deed){.moment = AT_PROGRESS, .turn = 2, .refuses = true};
	ASSERT_ENDED(&it, scene_perform(&it, NULL, 0), CURLE_ABORTED_BY_CALLBACK, ENGINE_CANCELLED, 0);
	assert_string_equal(it.error_text, "Callback aborted");
	scene_end(&it);
}

static void a_handle_can_go_while_it_is_paced(void **state)
{
	struct scene it;

	(void)state;
	begin_paced(&it);
	it.deed = (struct deed){.moment = AT_PROGRESS, .act = scene_clean_up};
	assert_int_equal(scene_perform(&it, NULL, 0), CURLE_ABORTED_BY_CALLBACK);
	scene_end(&it);
}

/* Who can't be paced isn't refused. */
static void who_cannot_be_paced_sends(void **state)
{
	struct scene it;

	(void)state;
	begin_paced(&it);
	it.cannot_sleep = true;
	ASSERT_ENDED(&it, PERFORM(&it, good), CURLE_OK, ENGINE_SUCCESS, 1);
	scene_end(&it);

	begin_paced(&it);
	it.watchdog_ms = 1000;
	ASSERT_ENDED(&it, PERFORM(&it, good), CURLE_OK, ENGINE_SUCCESS, 1);
	scene_end(&it);
}

/* Bodies that a callback gives. */

#define UPLOAD "nested = own\nmax_attempts = 1\n"

static const struct fake_attempt bad_upload[] = {{.events = EVENTS(SENDS, READS(9), ANSWERS("503 Busy", "sorry"))}};
static const struct fake_attempt good_upload[] = {{.events = EVENTS(SENDS, READS(9), ANSWERS("200 OK", "hello"))}};

/* An upload that failed a moment ago comes again, with this body. */
static void begin_upload_again(struct scene *it, const char *body)
{
	scene_begin(it, UPLOAD);
	scene_take_progress(it);
	scene_give_upload(it, "the cargo");
	scene_give_rewind(it);
	assert_int_equal(PERFORM(it, bad_upload), CURLE_OK);
	assert_int_equal(it->told_of.attempts, 1);
	it->upload = body;
	it->upload_position = 0;
	memset(it->turns, 0, sizeof(it->turns));
}

static void a_body_tells_what_comes_again(void **state)
{
	struct scene it;

	(void)state;
	begin_upload_again(&it, "the cargo");
	ASSERT_ENDED(&it, scene_perform(&it, NULL, 0), CURLE_COULDNT_CONNECT, ENGINE_NESTED, 0);
	assert_int_equal(it.told_of.returns, 1);
	scene_end(&it);

	begin_upload_again(&it, "new cargo");
	ASSERT_ENDED(&it, PERFORM(&it, good_upload), CURLE_OK, ENGINE_SUCCESS, 1);
	assert_string_equal(it.fake.sent, "new cargo");
	scene_end(&it);
}

/* What was read and can't be rewound can't be sent any more. */
static void lose_rewinding(struct scene *it)
{
	it->seek_fails = true;
}

static void a_body_that_was_lost_is_not_sent(void **state)
{
	struct scene it;

	(void)state;
	begin_upload_again(&it, "new cargo");
	it.deed = (struct deed){.moment = AT_SEEK, .turn = 2, .act = lose_rewinding};
	ASSERT_ENDED(&it, scene_perform(&it, NULL, 0), CURLE_COULDNT_CONNECT, ENGINE_NESTED, 0);
	scene_end(&it);
}

static void a_program_can_end_what_is_read_ahead(void **state)
{
	static const struct {
		struct deed deed;
		bool goes;
	} cases[] = {
	    {{.moment = AT_READ, .refuses = true}, false},
	    {{.moment = AT_READ, .act = scene_clean_up}, true},
	    {{.moment = AT_SEEK, .act = scene_clean_up}, true},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		begin_upload_again(&it, "the cargo");
		it.deed = cases[i].deed;
		assert_int_equal(scene_perform(&it, NULL, 0), CURLE_ABORTED_BY_CALLBACK);
		assert_int_equal(it.fake.is_gone, cases[i].goes);
		if (!cases[i].goes)
			assert_int_equal(it.told_of.reason, ENGINE_CANCELLED);
		scene_end(&it);
	}
}

/* An operation inside a callback of another's shares its deadline. */

static struct scene *outer;
static long inner_limit_ms;

static void look_at_limit(struct fake_libcurl *fake)
{
	inner_limit_ms = (long)fake->options[fake_option_number(CURLOPT_TIMEOUT_MS)];
}

static void perform_another(struct fake_libcurl *fake)
{
	static const struct fake_attempt only = {.events = EVENTS(CALLS(look_at_limit), SENDS)};
	(void)fake;
	assert_int_equal(scene_perform_another(outer, &only).result, CURLE_OK);
}

static void a_deadline_is_inherited(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, TAKES_MS(2000), CALLS(perform_another), TAKES_MS(1000), CALLS(perform_another),
	                      ANSWERS("200 OK", "hello"))}};
	struct scene it;

	(void)state;
	scene_begin(&it, "deadline_ms = 10000\n");
	outer = &it;
	assert_int_equal(PERFORM(&it, attempts), CURLE_OK);
	assert_int_equal(inner_limit_ms, 7000);
	scene_end(&it);
}

/* There is nothing that could be sent instead. */
static void a_lost_body_is_refused_by_who_cannot_be_paced(void **state)
{
	struct scene it;

	(void)state;
	begin_upload_again(&it, "the cargo");
	assert_int_equal(scene_perform(&it, NULL, 0), CURLE_COULDNT_CONNECT);
	it.upload = "new cargo";
	it.upload_position = 0;
	it.cannot_sleep = true;
	it.deed = (struct deed){.moment = AT_SEEK, .turn = it.turns[AT_SEEK] + 2, .act = lose_rewinding};
	ASSERT_ENDED(&it, scene_perform(&it, NULL, 0), CURLE_COULDNT_CONNECT, ENGINE_NESTED, 0);
	scene_end(&it);
}

/* An upload that was tried once has one attempt less when it comes again. */
static void what_comes_again_shares_its_attempts(void **state)
{
	struct scene it;

	(void)state;
	scene_begin(&it, "nested = own\nmax_attempts = 2\n");
	scene_give_upload(&it, "the cargo");
	scene_give_rewind(&it);
	it.is_switched_off = true;
	ASSERT_ENDED(&it, PERFORM(&it, bad_upload), CURLE_OK, ENGINE_PASSED_THROUGH, 1);
	it.is_switched_off = false;
	it.upload_position = 0;
	ASSERT_ENDED(&it, PERFORM(&it, bad_upload), CURLE_OK, ENGINE_ATTEMPT_CAP, 1);
	scene_end(&it);
}

/* What pacing adds counts against a service's watchdog, too. */
static void pacing_is_bounded_by_a_watchdog(void **state)
{
	struct scene it;

	(void)state;
	scene_begin(&it, "nested = own\nmax_attempts = 1\nbackoff_base_ms = 600\n");
	it.watchdog_ms = 2000;
	fail_before(&it);
	ASSERT_ENDED(&it, scene_perform(&it, NULL, 0), CURLE_COULDNT_CONNECT, ENGINE_NESTED, 0);
	ASSERT_ENDED(&it, scene_perform(&it, NULL, 0), CURLE_COULDNT_CONNECT, ENGINE_NESTED, 0);
	assert_int_equal(it.slept_ms, 601);
	ASSERT_ENDED(&it, PERFORM(&it, good), CURLE_OK, ENGINE_SUCCESS, 1);
	scene_end(&it);
}

/* Without a way to rewind it is known what it was only once it was sent. */
static void what_is_known_late_shares_its_attempts(void **state)
{
	struct scene it;

	(void)state;
	scene_begin(&it, "nested = own\nmax_attempts = 2\n");
	scene_give_upload(&it, "the cargo");
	it.is_switched_off = true;
	ASSERT_ENDED(&it, PERFORM(&it, bad_upload), CURLE_OK, ENGINE_PASSED_THROUGH, 1);
	it.is_switched_off = false;
	it.upload_position = 0;
	ASSERT_ENDED(&it, PERFORM(&it, bad_upload), CURLE_OK, ENGINE_ATTEMPT_CAP, 1);
	scene_end(&it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_refusal_has_its_result_and_text),
	    cmocka_unit_test(protocols_set_by_name_stay),
	    cmocka_unit_test(protocols_of_the_program_are_given_back),
	    cmocka_unit_test(without_an_error_buffer_nothing_is_said),
	    cmocka_unit_test(audit_refuses_nothing),
	    cmocka_unit_test(audit_bears_that_the_handle_goes),
	    cmocka_unit_test(refusals_are_apart),
	    cmocka_unit_test(what_was_refused_is_tried_again_in_time),
	    cmocka_unit_test(a_program_can_cancel_while_it_is_paced),
	    cmocka_unit_test(a_handle_can_go_while_it_is_paced),
	    cmocka_unit_test(who_cannot_be_paced_sends),
	    cmocka_unit_test(a_body_tells_what_comes_again),
	    cmocka_unit_test(a_body_that_was_lost_is_not_sent),
	    cmocka_unit_test(a_program_can_end_what_is_read_ahead),
	    cmocka_unit_test(a_deadline_is_inherited),
	    cmocka_unit_test(a_lost_body_is_refused_by_who_cannot_be_paced),
	    cmocka_unit_test(what_comes_again_shares_its_attempts),
	    cmocka_unit_test(pacing_is_bounded_by_a_watchdog),
	    cmocka_unit_test(what_is_known_late_shares_its_attempts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
