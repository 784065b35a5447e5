/* SPDX-License-Identifier: MIT */
/* What libcurls of before leave behind in a handle, and lack. */
#include <errno.h>

#include "interpose/parts/os_errno.h"
#include "tests/unit/conduct_scene.h"

#define QUICK  "backoff_base_ms = 100\n"
#define FORBID QUICK "resend = forbid\n"

static long seen_fresh[2];
static int seen;

static void look_at_fresh(struct fake_libcurl *fake)
{
	seen_fresh[seen++] = (long)fake->options[fake_option_number(CURLOPT_FRESH_CONNECT)];
}

/* Without a prereq function a resend is forbidden by a connection that can't be dead. */
static void before_7_80_each_connection_is_fresh(void **state)
{
	static const struct fake_attempt attempts[] = {
	    {.events = EVENTS(CALLS(look_at_fresh), SENDS, ANSWERS("200 OK", "hello")), .connects = 1}};
	struct scene it;

	(void)state;
	seen = 0;
	scene_begin_with(&it, 0x074F00, FORBID);
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_SUCCESS, 1);
	assert_int_equal(seen_fresh[0], 1);
	assert_int_equal(it.told_of.sends, 1);
	scene_end(&it);
}

/* The text of a failed attempt isn't that of the operation. */
static void before_7_60_the_error_buffer_is_restored(void **state)
{
	static const struct fake_attempt attempts[] = {UNREACHABLE, GOOD};
	struct scene it;

	(void)state;
	scene_begin_with(&it, 0x073B00, QUICK);
	strcpy(it.error_text, "the program's own");
	ASSERT_ENDED(&it, PERFORM(&it, attempts), CURLE_OK, ENGINE_SUCCESS, 2);
	assert_string_equal(it.error_text, "the program's own");
	scene_end(&it);
}

static const struct fake_attempt redirected_bad_good[] = {
    {.events = EVENTS(SENDS, HEADERS("HTTP/1.1 302 Go\r\nLocation: /b\r\n\r\n"), SENDS, ANSWERS("503 Busy", "sorry")),
     .redirects = 1},
    GOOD};

static void before_7_55_the_url_is_set_again(void **state)
{
	static const struct {
		unsigned int version;
		bool is_set;
	} cases[] = {{0x073600, true}, {0x073700, false}};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		scene_begin_with(&it, cases[i].version, QUICK);
		scene_set_number(&it, CURLOPT_FOLLOWLOCATION, 1);
		const void *program_url = it.url;
		ASSERT_ENDED(&it, PERFORM(&it, redirected_bad_good), CURLE_OK, ENGINE_SUCCESS, 2);
		const void *set_url = it.fake.options[fake_option_number(CURLOPT_URL)];
		assert_int_equal(set_url != program_url, cases[i].is_set);
		assert_string_equal(set_url, it.url);
		scene_end(&it);
	}
}

/* A redirect that makes a GET of the request does so for good: the next perform would leave the body out. */
static void before_7_71_a_lost_body_ends_retries(void **state)
{
	static const struct {
		unsigned int version;
		enum engine_reason reason;
		int attempts;
	} cases[] = {{0x074600, ENGINE_BODY_NOT_REPLAYABLE, 1}, {0x074700, ENGINE_SUCCESS, 2}};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;

		scene_begin_with(&it, cases[i].version, QUICK "replay = all\n");
		scene_set_number(&it, CURLOPT_FOLLOWLOCATION, 1);
		scene_set(&it, CURLOPT_COPYPOSTFIELDS, "a=1");
		CURLcode result = PERFORM(&it, redirected_bad_good);
		ASSERT_ENDED(&it, result, CURLE_OK, cases[i].reason, cases[i].attempts);
		scene_end(&it);
	}
}

/* libcurl before 8.8 keeps the errno of a failed attempt: the operation that succeeds has none. */
static void before_8_8_an_errno_of_a_failed_attempt_is_disowned(void **state)
{
	static const struct fake_attempt refused = {.result = CURLE_COULDNT_CONNECT, .os_errno = ECONNREFUSED};
	static const struct fake_attempt unreachable = {.result = CURLE_COULDNT_CONNECT, .os_errno = EHOSTUNREACH};
	static const struct fake_attempt good = GOOD;
	const struct {
		unsigned int version;
		struct fake_attempt last;
		CURLcode result;
		long os_errno;
	} cases[] = {
	    {0x080700, good, CURLE_OK, 0},
	    {0x080700, refused, CURLE_COULDNT_CONNECT, ECONNREFUSED},
	    {0x080700, unreachable, CURLE_COULDNT_CONNECT, EHOSTUNREACH},
	    {0x080800, unreachable, CURLE_COULDNT_CONNECT, EHOSTUNREACH},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene it;
		const struct fake_attempt attempts[] = {refused, cases[i].last};
		long os_errno = 0;

		scene_begin_with(&it, cases[i].version, QUICK "max_attempts = 2\n");
		assert_int_equal(PERFORM(&it, attempts), cases[i].result);
		assert_int_equal(it.fake.functions.getinfo(it.handle->curl, CURLINFO_OS_ERRNO, &os_errno), CURLE_OK);
		os_errno_correct(it.handle, CURLINFO_OS_ERRNO, &os_errno);
		assert_int_equal(os_errno, cases[i].os_errno);
		scene_end(&it);
	}
}

/* A referrer that a redirect left would tell the first host the URL of another. */
static void before_8_20_the_referrer_is_set_again(void **state)
{
	static const struct fake_attempt redirected_good = {
	    .events =
	        EVENTS(SENDS, HEADERS("HTTP/1.1 302 Go\r\nLocation: /b\r\n\r\n"), SENDS, ANSWERS("200 OK", "hello")),
	    .redirects = 1};
	static const char referrer[] = "http://mine.example/";
	struct scene it;

	(void)state;
	scene_begin_with(&it, 0x081300, QUICK);
	scene_set_number(&it, CURLOPT_FOLLOWLOCATION, 1);
	scene_set_number(&it, CURLOPT_AUTOREFERER, 1);
	scene_set(&it, CURLOPT_REFERER, referrer);
	ASSERT_ENDED(&it, PERFORM(&it, redirected_bad_good), CURLE_OK, ENGINE_SUCCESS, 2);
	const void *set_again = it.fake.options[fake_option_number(CURLOPT_REFERER)];
	assert_ptr_not_equal(set_again, referrer);
	/* What an operation before left isn't known, so it can't be. */
	assert_int_equal(scene_perform(&it, &redirected_good, 1), CURLE_OK);
	ASSERT_ENDED(&it, scene_perform(&it, redirected_bad_good, 1), CURLE_OK, ENGINE_REQUEST_CHANGED, 1);
	scene_end(&it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(before_7_80_each_connection_is_fresh),
	    cmocka_unit_test(before_7_60_the_error_buffer_is_restored),
	    cmocka_unit_test(before_7_55_the_url_is_set_again),
	    cmocka_unit_test(before_7_71_a_lost_body_ends_retries),
	    cmocka_unit_test(before_8_8_an_errno_of_a_failed_attempt_is_disowned),
	    cmocka_unit_test(before_8_20_the_referrer_is_set_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
