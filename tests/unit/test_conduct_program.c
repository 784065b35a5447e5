/* SPDX-License-Identifier: MIT */
/* What a program may do in its callbacks while libcurl performs, and what becomes of bodies that it gives. */
#include <stdio.h>

#include "tests/unit/conduct_scene.h"

#define QUICK "backoff_base_ms = 100\n"

/* An upload of which everything that a program can be called for happens. */
#define BUSY_ATTEMPT(status, body)                                                                                     \
	{                                                                                                              \
		.events = EVENTS(SENDS, READS(4), REWINDS, READS(4), READS(9), TELLS_PROGRESS(0),                      \
		                 ANSWERS(status, body), TELLS_PROGRESS(5))                                             \
	}

static const struct fake_attempt busy[] = {BUSY_ATTEMPT("503 Busy", "sorry"), BUSY_ATTEMPT("200 OK", "hello")};

static void begin_busy(struct scene *it, const char *lines)
{
	scene_begin(it, lines);
	scene_take_progress(it);
	scene_give_upload(it, "the cargo");
	scene_give_rewind(it);
}

static void a_busy_upload_is_tried_again(void **state)
{
	struct scene it;

	(void)state;
	begin_busy(&it, QUICK);
	ASSERT_ENDED(&it, PERFORM(&it, busy), CURLE_OK, ENGINE_SUCCESS, 2);
	assert_string_equal(it.fake.sent, "the the cargo|the the cargo");
	assert_string_equal(it.body, "hello");
	scene_end(&it);
}

/* Nothing of the operation, and nothing of the handle, is touched afterwards. */
static void a_handle_can_go_in_each_callback(void **state)
{
	static const enum moment moments[] = {AT_HEADER, AT_WRITE, AT_READ, AT_SEEK, AT_PROGRESS, AT_REQUEST};

	(void)state;
	for (size_t i = 0; i < countof(moments); i++) {
		for (int perform = 1; perform <= 2; perform++) {
			bool is_held = moments[i] == AT_HEADER || moments[i] == AT_WRITE;
			struct scene it;

			begin_busy(&it, QUICK);
			it.deed = (struct deed){
			    .moment = moments[i], .perform = is_held ? 0 : perform, .act = scene_clean_up};
			assert_int_equal(PERFORM(&it, busy), CURLE_ABORTED_BY_CALLBACK);
			assert_int_equal(it.fake.performs, is_held ? 2 : perform);
			scene_end(&it);
		}
	}
}

static void a_callback_that_refuses_ends_the_operation(void **state)
{
	static const struct {
		enum moment moment;
		CURLcode result;
	} cases[] = {{AT_HEADER, CURLE_WRITE_ERROR},
	             {AT_WRITE, CURLE_WRITE_ERROR},
	             {AT_READ, CURLE_ABORTED_BY_CALLBACK},
	             {AT_PROGRESS, CURLE_ABORTED_BY_CALLBACK},
	             {AT_REQUEST, CURLE_ABORTED_BY_CALLBACK}};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		begin_busy(&it, QUICK);
		it.deed = (struct deed){.moment = cases[i].moment, .perform = 2, .refuses = true};
		ASSERT_ENDED(&it, PERFORM(&it, busy), cases[i].result, ENGINE_CANCELLED, 2);
		scene_end(&it);
	}
}

static void a_program_can_pause_and_go_on(void **state)
{
	static const enum moment moments[] = {AT_HEADER, AT_WRITE};

	(void)state;
	for (size_t i = 0; i < countof(moments); i++) {
		struct scene it;

		begin_busy(&it, QUICK);
		it.deed = (struct deed){.moment = moments[i], .turn = 1, .pauses = true};
		it.second_deed = (struct deed){.moment = AT_PROGRESS, .perform = 2, .act = scene_unpause};
		ASSERT_ENDED(&it, PERFORM(&it, busy), CURLE_OK, ENGINE_SUCCESS, 2);
		assert_string_equal(it.headers, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
		assert_string_equal(it.body, "hello");
		scene_end(&it);
	}
}

static void take_another_url(struct scene *it)
{
	scene_set(it, CURLOPT_URL, "http://elsewhere.example/");
}

static void make_it_a_get(struct scene *it)
{
	scene_set_number(it, CURLOPT_HTTPGET, 1);
}

static const struct fake_attempt busy_get[] = {
    {.events = EVENTS(SENDS, TELLS_PROGRESS(0), ANSWERS("503 Busy", "sorry"), TELLS_PROGRESS(5))}};

/* A repeat would be another request. */
static void what_shapes_the_request_ends_retries(void **state)
{
	static void (*const acts[])(struct scene *) = {take_another_url, make_it_a_get};
	static const struct deed deeds[] = {
	    {.moment = AT_REQUEST}, {.moment = AT_PROGRESS, .turn = 1}, {.moment = AT_PROGRESS, .turn = 2}};

	(void)state;
	for (size_t i = 0; i < countof(acts) * countof(deeds); i++) {
		struct scene it;

		scene_begin(&it, QUICK);
		scene_take_progress(&it);
		it.deed = deeds[i % countof(deeds)];
		it.deed.act = acts[i / countof(deeds)];
		ASSERT_ENDED(&it, PERFORM(&it, busy_get), CURLE_OK, ENGINE_REQUEST_CHANGED, 1);
		scene_end(&it);
	}
}

/* It takes our callbacks away, so that nobody knows what the program was given. */
static void a_reset_in_a_transfer_ends_retries(void **state)
{
	struct scene it;

	(void)state;
	scene_begin(&it, QUICK);
	scene_take_progress(&it);
	it.deed = (struct deed){.moment = AT_REQUEST, .act = scene_reset};
	ASSERT_ENDED(&it, PERFORM(&it, busy_get), CURLE_OK, ENGINE_DELIVERED, 1);
	scene_end(&it);
}

static void shorten_the_timeout(struct scene *it)
{
	scene_set_number(it, CURLOPT_TIMEOUT_MS, 5000);
}

/* What the program sets while an option is lent counts at once, and is what it finds afterwards. */
static void a_timeout_set_meanwhile_counts(void **state)
{
	static const struct fake_attempt slow[] = {{.events = EVENTS(SENDS, TAKES_MS(8000))}};
	struct scene it;

	(void)state;
	scene_begin(&it, "deadline_ms = 60000\n");
	it.deed = (struct deed){.moment = AT_REQUEST, .act = shorten_the_timeout};
	ASSERT_ENDED(&it, PERFORM(&it, slow), CURLE_OPERATION_TIMEDOUT, ENGINE_DEADLINE, 1);
	assert_int_equal(it.fake.begin_ms + 5000, it.now_ms);
	scene_end(&it);
}

/* Bodies. */

static const struct fake_attempt upload_bad[] = {{.events = EVENTS(SENDS, READS(4), ANSWERS("503 Busy", "sorry"))},
                                                 {.events = EVENTS(SENDS, READS(9), ANSWERS("200 OK", "hello"))}};

static void a_body_that_cannot_be_rewound_is_copied(void **state)
{
	static const struct {
		const char *lines;
		CURLcode result;
		enum engine_reason reason;
		int attempts;
		const char *sent;
	} cases[] = {
	    {QUICK, CURLE_OK, ENGINE_SUCCESS, 2, "the |the cargo"},
	    {QUICK "replay_body_bytes = 0\n", CURLE_OK, ENGINE_BODY_NOT_REPLAYABLE, 1, "the "},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;
		static const struct fake_attempt attempts[] = {
		    {.events = EVENTS(SENDS, READS(4), ANSWERS("503 Busy", "sorry"))},
		    {.events = EVENTS(SENDS, READS(4), READS(9), ANSWERS("200 OK", "hello"))}};

		scene_begin(&it, cases[i].lines);
		scene_give_upload(&it, "the cargo");
		ASSERT_ENDED(&it, PERFORM(&it, attempts), cases[i].result, cases[i].reason, cases[i].attempts);
		assert_string_equal(it.fake.sent, cases[i].sent);
		scene_end(&it);
	}
}

static void who_fails_to_rewind_gets_the_failure(void **state)
{
	struct scene it;

	(void)state;
	begin_busy(&it, QUICK);
	it.seek_fails = true;
	ASSERT_ENDED(&it, PERFORM(&it, upload_bad), CURLE_OK, ENGINE_BODY_NOT_REPLAYABLE, 1);
	assert_string_equal(it.body, "sorry");
	scene_end(&it);
}

static void a_rewind_may_end_retries(void **state)
{
	static const struct {
		void (*act)(struct scene *it);
		CURLcode result;
		enum engine_reason reason;
	} cases[] = {
	    {make_it_a_get, CURLE_OK, ENGINE_REQUEST_CHANGED},
	    {scene_fork, CURLE_OK, ENGINE_PASSED_THROUGH},
	    {scene_clean_up, CURLE_ABORTED_BY_CALLBACK, ENGINE_CANCELLED},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		begin_busy(&it, QUICK);
		it.deed = (struct deed){.moment = AT_SEEK, .act = cases[i].act};
		CURLcode result = PERFORM(&it, upload_bad);
		assert_int_equal(result, cases[i].result);
		if (!it.fake.is_gone)
			ASSERT_ENDED(&it, result, cases[i].result, cases[i].reason, 1);
		scene_end(&it);
	}
}

static void another_body_is_not_sent_for_the_first(void **state)
{
	struct scene it;

	(void)state;
	begin_busy(&it, QUICK);
	it.upload_differs_again = true;
	ASSERT_ENDED(&it, PERFORM(&it, upload_bad), CURLE_SEND_FAIL_REWIND, ENGINE_BODY_NOT_REPLAYABLE, 2);
	assert_string_equal(it.error_text,
	                    "tenacurl: the body isn't the one that was sent before, so this attempt was ended");
	assert_string_equal(it.fake.sent, "the |");
	scene_end(&it);
}

/* A stream stands where the attempt left it that read the most. */
static void a_stream_is_put_back_to_where_it_was(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, READS(9), ANSWERS("503 Busy", "sorry"))}, {.result = CURLE_COULDNT_CONNECT}};
	struct scene it;

	(void)state;
	begin_busy(&it, QUICK "max_attempts = 2\n");
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_COULDNT_CONNECT, ENGINE_ATTEMPT_CAP, 2);
	assert_int_equal(it.upload_position, 9);
	scene_end(&it);
}

static void libcurls_own_failure_to_rewind_is_final(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, READS(4)), .result = CURLE_SEND_FAIL_REWIND}};
	struct scene it;

	(void)state;
	begin_busy(&it, QUICK);
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_SEND_FAIL_REWIND, ENGINE_BODY_NOT_REPLAYABLE, 1);
	scene_end(&it);
}

/* Headers while a key of ours stands among them. */

static struct curl_slist own_header = {(char *)"X-Mine: 1", NULL};

static void set_headers(struct scene *it)
{
	scene_set(it, CURLOPT_HTTPHEADER, &own_header);
}

static struct curl_slist *seen_headers;

static void look_at_headers(struct fake_libcurl *fake)
{
	seen_headers = fake->options[fake_option_number(CURLOPT_HTTPHEADER)];
}

static void a_key_makes_a_post_safe(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, CALLS(look_at_headers)), .result = CURLE_RECV_ERROR}, GOOD};
	struct scene it;

	(void)state;
	scene_begin(&it, QUICK "add_idempotency_key = yes\n");
	scene_set(&it, CURLOPT_COPYPOSTFIELDS, "a=1");
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_SUCCESS, 2);
	assert_non_null(seen_headers);
	assert_memory_equal(seen_headers->data, "Idempotency-Key: ", 17);
	scene_end(&it);
}

static void headers_set_meanwhile_stand_behind_the_key(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, CALLS(look_at_headers)), .result = CURLE_RECV_ERROR}};
	struct scene it;

	(void)state;
	scene_begin(&it, QUICK "add_idempotency_key = yes\n");
	scene_set(&it, CURLOPT_COPYPOSTFIELDS, "a=1");
	it.deed = (struct deed){.moment = AT_REQUEST, .act = set_headers};
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_RECV_ERROR, ENGINE_REQUEST_CHANGED, 1);
	assert_ptr_equal(seen_headers->next, &own_header);
	scene_end(&it);
}

/* What getinfo and the callbacks tell of what is withheld, and without an operation. */

static struct scene *asked;
static double asked_bytes[2];
static int asks;

static void ask_for_size(struct fake_libcurl *fake)
{
	(void)fake;
	asked_bytes[asks] = 5;
	conduct_correct_info(asked->handle->active, CURLINFO_SIZE_DOWNLOAD, &asked_bytes[asks++]);
}

static void the_size_of_what_is_withheld_is_not_told(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, ANSWERS("503 Busy", "sorry"), CALLS(ask_for_size))},
	    {.events = EVENTS(SENDS, ANSWERS("200 OK", "hello"), CALLS(ask_for_size))}};
	struct scene it;

	(void)state;
	scene_begin(&it, QUICK);
	asked = &it;
	asks = 0;
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_SUCCESS, 2);
	assert_true(asked_bytes[0] == 0);
	assert_true(asked_bytes[1] == 5);
	scene_end(&it);
}

static void without_an_operation_callbacks_are_the_programs(void **state)
{
	struct scene it;

	(void)state;
	begin_busy(&it, "");
	scene_perform(&it, &busy[1], 1);
	it.body[0] = it.headers[0] = '\0';
	fake_play(&it.fake, busy, 1);
	assert_int_equal(it.fake.functions.perform(it.handle->curl), CURLE_OK);
	assert_string_equal(it.headers, "HTTP/1.1 503 Busy\r\nContent-Length: 5\r\n\r\n");
	assert_string_equal(it.body, "sorry");
	assert_int_equal(it.progress_bytes, 5);
	scene_end(&it);
}

/* As a child finds it that goes on with its parent's transfer. */

static struct operation *forgotten;

static void forget_operation(struct fake_libcurl *fake)
{
	(void)fake;
	forgotten = asked->handle->active;
	asked->handle->active = NULL;
}

static void remember_operation(struct fake_libcurl *fake)
{
	(void)fake;
	asked->handle->active = forgotten;
}

static void a_lent_read_callback_gives_without_an_operation(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, CALLS(forget_operation), READS(9), CALLS(remember_operation),
	                      ANSWERS("200 OK", "hello"))}};
	struct scene it;

	(void)state;
	begin_busy(&it, "");
	asked = &it;
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_SUCCESS, 1);
	assert_string_equal(it.fake.sent, "the cargo");
	scene_end(&it);
}

static int told_before, told_now;

static int look_at_old_progress(void *data, double download_total, double download_now, double upload_total,
                                double upload_now)
{
	(void)data, (void)download_total, (void)upload_total, (void)upload_now;
	told_before = told_now;
	told_now = (int)download_now;
	return 0;
}

static void the_old_progress_function_is_called_alike(void **state)
{
	static const struct fake_attempt busy_good[] = {
	    {.events = EVENTS(SENDS, TELLS_PROGRESS(0), ANSWERS("200 OK", "hello"), TELLS_PROGRESS(5))}};
	struct scene it;

	(void)state;
	scene_begin(&it, QUICK);
	scene_set_number(&it, CURLOPT_NOPROGRESS, 0);
	scene_set(&it, CURLOPT_PROGRESSFUNCTION, (const void *)look_at_old_progress);
	assert_int_equal(PERFORM(&it, busy_good), CURLE_OK);
	assert_int_equal(told_before, 0);
	assert_int_equal(told_now, 5);
	scene_end(&it);
}

/* An upload that waits for a 100 is shown it as it comes; without one that waits it is held. */
static void a_100_that_an_upload_waits_for_is_shown(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, HEADERS("HTTP/1.1 100 Continue\r\n\r\n"), READS(9), ANSWERS("503 Busy", "sorry"))},
	    {.events = EVENTS(SENDS, HEADERS("HTTP/1.1 100 Continue\r\n\r\n"), READS(9), ANSWERS("200 OK", "hello"))}};
	struct scene it;

	(void)state;
	begin_busy(&it, QUICK);
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_SUCCESS, 2);
	assert_string_equal(it.headers, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
	                                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
	scene_end(&it);
}

static void make_it_304(struct fake_libcurl *fake)
{
	fake->infos[CURLINFO_RESPONSE_CODE & 0xFFFFF] = 304;
}

/* libcurl makes a 304 of an answer that doesn't meet it, which is no proxy's for that. */
static void an_unmet_time_condition_is_no_proxys_answer(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, CALLS(make_it_304), HEADERS("HTTP/1.1 200 OK\r\n"), CALLS(make_it_304),
	                      HEADERS("\r\n"))}};
	struct scene it;

	(void)state;
	scene_begin(&it, QUICK "hold_success_bytes = 100\n");
	scene_set_number(&it, CURLOPT_TIMECONDITION, CURL_TIMECOND_IFMODSINCE);
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_SUCCESS, 1);
	assert_string_equal(it.headers, "HTTP/1.1 200 OK\r\n\r\n");
	scene_end(&it);
}

/* What libcurl reads from the program's memory may change under it. */

static char form[] = "a=1";

static void write_to_the_form(struct scene *it)
{
	(void)it;
	form[2] = '2';
}

static void a_form_that_changes_is_another_request(void **state)
{
	struct scene it;

	(void)state;
	form[2] = '1';
	scene_begin(&it, QUICK "replay = all\n");
	scene_take_progress(&it);
	scene_set(&it, CURLOPT_POSTFIELDS, form);
	it.deed = (struct deed){.moment = AT_PROGRESS, .turn = 1, .act = write_to_the_form};
	ASSERT_ENDED(&it, PERFORM(&it, busy_get), CURLE_OK, ENGINE_REQUEST_CHANGED, 1);
	scene_end(&it);
}

/* libcurl's own reading from a FILE*, which stands somewhere in the middle. */

static FILE *begin_file(struct scene *it, const char *lines)
{
	FILE *file = tmpfile();
	assert_non_null(file);
	fputs("before the cargo", file);
	assert_int_equal(fseek(file, strlen("before "), SEEK_SET), 0);
	scene_begin(it, lines);
	scene_set_number(it, CURLOPT_UPLOAD, 1);
	scene_set(it, CURLOPT_READDATA, file);
	return file;
}

static void a_file_is_sought_back_to_where_it_stood(void **state)
{
	struct scene it;
	FILE *file = begin_file(&it, QUICK);

	(void)state;
	ASSERT_ENDED(&it, PERFORM(&it, upload_bad), CURLE_OK, ENGINE_SUCCESS, 2);
	assert_string_equal(it.fake.sent, "the |the cargo");
	scene_end(&it);
	fclose(file);
}

/* libcurl may take it to its very begin after a failure, and sends that then. */
static void a_file_of_a_failed_transfer_is_sent_once(void **state)
{
	static const struct fake_attempt cut[] = {{.events = EVENTS(SENDS, READS(4)), .result = CURLE_RECV_ERROR}};
	struct scene it;
	FILE *file = begin_file(&it, QUICK "max_attempts = 2\nnested = off\n");

	(void)state;
	it.is_switched_off = true;
	ASSERT_ENDED(&it, PERFORM(&it, cut), CURLE_RECV_ERROR, ENGINE_PASSED_THROUGH, 1);
	it.is_switched_off = false;
	ASSERT_ENDED(&it, PERFORM(&it, cut), CURLE_RECV_ERROR, ENGINE_BODY_NOT_REPLAYABLE, 1);
	scene_end(&it);
	fclose(file);
}

static void audit_knows_where_a_file_stood(void **state)
{
	struct scene it;
	FILE *file = begin_file(&it, "mode = audit\nlog = stderr\n");

	(void)state;
	ASSERT_ENDED(&it, PERFORM(&it, upload_bad), CURLE_OK, ENGINE_TRANSIENT_FAILURE, 1);
	scene_end(&it);
	fclose(file);
}

/* What was uploaded once isn't told to be less. */
static void progress_never_goes_back(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, READS(9), TELLS_UPLOADED(9), ANSWERS("503 Busy", "sorry"))},
	    {.events = EVENTS(SENDS, READS(4), TELLS_UPLOADED(4)), .result = CURLE_ABORTED_BY_CALLBACK}};
	struct scene it;

	(void)state;
	begin_busy(&it, QUICK);
	assert_int_equal(PERFORM(&it, attempts), CURLE_ABORTED_BY_CALLBACK);
	assert_int_equal(it.uploaded_bytes, 9);
	scene_end(&it);
}

/* Cancel means cancel, whatever the verdict on the answer was. */
static void an_abort_behind_a_failure_is_one(void **state)
{
	struct scene it;

	(void)state;
	begin_busy(&it, QUICK);
	it.deed = (struct deed){.moment = AT_PROGRESS, .turn = 2, .perform = 1, .refuses = true};
	ASSERT_ENDED(&it, PERFORM(&it, busy), CURLE_ABORTED_BY_CALLBACK, ENGINE_CANCELLED, 1);
	scene_end(&it);
}

static void *seen_seek[2];
static int seeks_seen;

static void look_at_seek(struct fake_libcurl *fake)
{
	seen_seek[seeks_seen++] = fake->options[fake_option_number(CURLOPT_SEEKFUNCTION)];
}

/* Until the answer begins libcurl asks us: what it rewinds then, it does as without us. */
static void the_seek_function_is_lent_until_an_answer(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(SENDS, READS(9), ANSWERS("503 Busy", "sorry"))},
	    {.events = EVENTS(SENDS, REWINDS, READS(9), CALLS(look_at_seek), HEADERS("HTTP/1.1 200 OK\r\n"),
	                      CALLS(look_at_seek), HEADERS("\r\n"))}};
	struct scene it;

	(void)state;
	seeks_seen = 0;
	scene_begin(&it, QUICK);
	scene_give_upload(&it, "the cargo");
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_SUCCESS, 2);
	assert_string_equal(it.fake.sent, "the cargo|the cargo");
	assert_non_null(seen_seek[0]);
	assert_null(seen_seek[1]);
	scene_end(&it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_busy_upload_is_tried_again),
	    cmocka_unit_test(a_handle_can_go_in_each_callback),
	    cmocka_unit_test(a_callback_that_refuses_ends_the_operation),
	    cmocka_unit_test(a_program_can_pause_and_go_on),
	    cmocka_unit_test(what_shapes_the_request_ends_retries),
	    cmocka_unit_test(a_reset_in_a_transfer_ends_retries),
	    cmocka_unit_test(a_timeout_set_meanwhile_counts),
	    cmocka_unit_test(a_body_that_cannot_be_rewound_is_copied),
	    cmocka_unit_test(who_fails_to_rewind_gets_the_failure),
	    cmocka_unit_test(a_rewind_may_end_retries),
	    cmocka_unit_test(another_body_is_not_sent_for_the_first),
	    cmocka_unit_test(a_stream_is_put_back_to_where_it_was),
	    cmocka_unit_test(libcurls_own_failure_to_rewind_is_final),
	    cmocka_unit_test(a_key_makes_a_post_safe),
	    cmocka_unit_test(headers_set_meanwhile_stand_behind_the_key),
	    cmocka_unit_test(the_size_of_what_is_withheld_is_not_told),
	    cmocka_unit_test(without_an_operation_callbacks_are_the_programs),
	    cmocka_unit_test(a_lent_read_callback_gives_without_an_operation),
	    cmocka_unit_test(the_old_progress_function_is_called_alike),
	    cmocka_unit_test(a_100_that_an_upload_waits_for_is_shown),
	    cmocka_unit_test(an_unmet_time_condition_is_no_proxys_answer),
	    cmocka_unit_test(a_form_that_changes_is_another_request),
	    cmocka_unit_test(a_file_is_sought_back_to_where_it_stood),
	    cmocka_unit_test(a_file_of_a_failed_transfer_is_sent_once),
	    cmocka_unit_test(audit_knows_where_a_file_stood),
	    cmocka_unit_test(progress_never_goes_back),
	    cmocka_unit_test(an_abort_behind_a_failure_is_one),
	    cmocka_unit_test(the_seek_function_is_lent_until_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
