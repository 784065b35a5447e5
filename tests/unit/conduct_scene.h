/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_TESTS_UNIT_CONDUCT_SCENE_H
#define TENACURL_TESTS_UNIT_CONDUCT_SCENE_H

/*
 * A program, its handle on a fake libcurl, the process that it is, and a clock that only sleeping and the script move:
 * what the conductor's tests share. One scene at a time.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "interpose/drive/conduct.h"
#include "tests/unit/fake_libcurl.h"

#define countof(array) (sizeof(array) / sizeof((array)[0]))

#define FAKE_NEWEST 0x080E00 /* 8.14 */

/* For scripts. */
/* clang-format off */
#define EVENTS(...)           {__VA_ARGS__}
#define SENDS                 {.kind = FAKE_REQUEST}
#define HEADERS(lines)        {.kind = FAKE_HEADERS, .text = (lines)}
#define PROXY_ANSWERS(lines)  {.kind = FAKE_PROXY, .text = (lines)}
#define BODY(bytes)           {.kind = FAKE_BODY, .text = (bytes)}
#define READS(bytes)          {.kind = FAKE_READ, .number = (bytes)}
#define REWINDS               {.kind = FAKE_SEEK}
#define TELLS_PROGRESS(bytes) {.kind = FAKE_PROGRESS, .number = (bytes)}
#define TELLS_UPLOADED(bytes) {.kind = FAKE_UPLOADED, .number = (bytes)}
#define TAKES_MS(ms)          {.kind = FAKE_TIME, .number = (ms)}
#define CALLS(function)       {.kind = FAKE_CALL, .call = (function)}
#define ANSWERS(status, body) HEADERS("HTTP/1.1 " status "\r\nContent-Length: 5\r\n\r\n"), BODY(body)

#define GOOD        {.events = EVENTS(SENDS, ANSWERS("200 OK", "hello"))}
#define BAD         {.events = EVENTS(SENDS, ANSWERS("503 Busy", "sorry"))}
#define UNREACHABLE {.result = CURLE_COULDNT_CONNECT, .error = "Connection refused"}
/* clang-format on */

/* When the program does something besides taking what it is given. */
enum moment { NEVER, AT_HEADER, AT_WRITE, AT_READ, AT_SEEK, AT_PROGRESS, AT_REQUEST, AT_SLEEP };

struct scene;

struct deed {
	enum moment moment;
	int turn;                      /* the first time is 1; 0: each time */
	int perform;                   /* in or behind which perform; 0: whichever */
	void (*act)(struct scene *it); /* NULL: nothing more than the answer */
	bool refuses;                  /* the callback ends the transfer */
	bool pauses;                   /* the callback takes nothing for now */
};

/* What the log is told of an operation when it is over. */
struct ended {
	int operations; /* that were told so far */
	int attempt_records;
	int returns; /* an outer layer came back */
	enum engine_action action;
	enum engine_reason reason;
	enum engine_class failure;
	CURLcode result;
	int attempts, resends;
	int64_t sends, waited_ms;
};

struct scene {
	struct fake_libcurl fake;
	struct handle *handle;
	const struct policy *policy;
	char url[64];
	char error_text[CURL_ERROR_SIZE];
	void *expected[FAKE_OPTIONS]; /* what the program finds set, besides callbacks */

	/* The program. */
	struct deed deed, second_deed;
	int turns[AT_SLEEP + 1];
	char headers[2048], body[256]; /* that it was given */
	char order[64];                /* 'h' for each header line, 'w' for each piece of the body */
	const char *upload;            /* what its read callback gives */
	size_t upload_position;
	bool seek_fails;
	bool upload_differs_again;                 /* behind a rewind another body comes */
	curl_off_t progress_bytes, uploaded_bytes; /* that it was told last */
	CURLcode second_result;                    /* of what a deed called */

	/* The process. */
	int64_t now_ms, slept_ms;
	int64_t suspended_ms; /* the calendar went on, the clock didn't */
	int64_t deadline_ms, watchdog_ms;
	bool cannot_sleep, is_switched_off;
	bool sleep_is_refused; /* and that is known beforehand */
	uint32_t generation;
	char complaint[256];
	struct ended told_of;
};

/*
 * Begins a scene: a program of the newest libcurl, or of `version`, whose policy has these lines besides
 * `state = process` and no jitter; rules for one origin of its own, that no other scene knows.
 */
void scene_begin(struct scene *it, const char *policy_lines);
void scene_begin_with(struct scene *it, unsigned int version, const char *policy_lines);
void scene_end(struct scene *it);

/* The program sets an option, between operations or in a callback; `value` is a pointer or a long. */
void scene_set(struct scene *it, int option, const void *value);
void scene_set_number(struct scene *it, int option, long value);

/* The program has write and header callbacks, as from the begin; progress callbacks; a read callback with something to
 * give, and one to rewind it. */
void scene_listen(struct scene *it);
void scene_take_progress(struct scene *it);
void scene_give_upload(struct scene *it, const char *bytes);
void scene_give_rewind(struct scene *it);

/* The program calls curl_easy_perform(), and every option is as the program set it afterwards. */
CURLcode scene_perform(struct scene *it, const struct fake_attempt *attempts, int count);

/* The program performs with another handle, in a callback of the scene's; returns what the log was told of that. */
struct ended scene_perform_another(struct scene *it, const struct fake_attempt *only);

#define PERFORM(it, attempts) scene_perform(it, attempts, (int)countof(attempts))

/* The program cleans its handle up, unpauses, as deeds. */
void scene_clean_up(struct scene *it);
void scene_unpause(struct scene *it);

/* The calendar, in seconds since 1970. */
int64_t scene_calendar_s(const struct scene *it);

/* A child of the process goes on; tenacurl is switched off; the program resets its handle: as deeds. */
void scene_fork(struct scene *it);
void scene_switch_off(struct scene *it);
void scene_reset(struct scene *it);

/* Asserts how the last operation ended: what perform returned, why, after so many attempts. */
#define ASSERT_ENDED(it, got, result, why, count)                                                                      \
	do {                                                                                                           \
		assert_int_equal(got, result);                                                                         \
		assert_string_equal(engine_reason_name((it)->told_of.reason), engine_reason_name(why));                \
		assert_int_equal((it)->told_of.attempts, count);                                                       \
	} while (0)

#endif
