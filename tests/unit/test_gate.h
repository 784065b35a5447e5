/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_TESTS_UNIT_TEST_GATE_H
#define TENACURL_TESTS_UNIT_TEST_GATE_H

/*
 * The gate between a libcurl and a program that are both played here. A case is a table: what libcurl gives, the state
 * that the gate is in afterwards, and what came of it, in order, separated by commas:
 *
 *   =                      the program was called with what libcurl gave
 *   h TEXT, w TEXT         ... with something that was held: a header line, a write
 *   judge, retract, answer, hide, limit:MS, lift   ports that do something
 *   committed, free, refused                       how the gate's state changed
 *   -> pause, -> refuse, -> N                      what libcurl is told, unless all was taken
 *   -> done, -> paused, -> refused, -> gone        what gate_finish() said
 *
 * In texts | is a line's end. What libcurl gives:
 *
 *   h TEXT, w TEXT   a header call, a write; w *N: N bytes
 *   a                the next attempt begins; f: gate_finish()
 *   t MS             so much time passes
 *   m N              there is no memory for what would be held the next N times
 *
 * Letters behind an exclamation mark (h!.p TEXT) say how the program takes the calls that come of it: . all of it, p it
 * pauses, r it refuses, s it takes a byte less, g the operation is over and its memory gone, n all of it, and turns
 * FOLLOWLOCATION off.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "interpose/gate/gate.h"

#define countof(array) (sizeof(array) / sizeof((array)[0]))

#define STEPS_MAX 24
#define PAGE      4096

struct step {
	const char *event;
	enum gate_state state;
	const char *happens;
};

/* Retried are answers from 500 on. Zero is a program with a header callback that follows redirects. */
struct gate_case {
	const char *name;
	bool observes, delivers /* the verdict never is to retry */, reads_success, hold_redirects;
	bool deaf /* no header callback */, header_in_body, stays /* doesn't follow redirects */, no_body, lends_seek;
	bool awaits_continue, may_be_taken_back;
	int proxys_blocks;  /* so many blocks are the proxy's */
	int retried_status; /* besides */
	enum base_method method;
	int64_t hold_body_bytes /* 0: plenty */, hold_success_bytes;
	const char *final_body;
	struct step steps[STEPS_MAX];
};

static struct scene {
	const struct gate_case *wanted;
	struct handle handle;
	struct policy_rules rules;
	struct gate *gate; /* on a page of its own, which goes with the operation */
	char token;        /* its address stands for the operation */
	const char *takes; /* how the program takes the next calls */
	bool is_gone;
	int proxys_left;
	int64_t now_ms;
	int lacks_memory;
	const char *event_bytes; /* what libcurl gives */
	int asked_may_retry, asked_is_proxys, asked_awaits_continue, asked_may_be_taken_back;
	char happened[2048];
} scene;

/* What happened. */

static void happen(const char *text)
{
	size_t bytes = strlen(scene.happened);

	snprintf(scene.happened + bytes, sizeof(scene.happened) - bytes, "%s%s", bytes ? ", " : "", text);
}

static void happen_number(const char *what, int64_t number)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%lld", what, (long long)number);
	happen(text);
}

static void happen_call(char kind, const char *bytes, size_t count_bytes)
{
	char text[512];
	size_t used = (size_t)snprintf(text, sizeof(text), "%c ", kind);

	if (bytes == scene.event_bytes) {
		happen("=");
		return;
	}
	if (count_bytes > 100) {
		snprintf(text + used, sizeof(text) - used, "*%zu", count_bytes);
		happen(text);
		return;
	}
	for (size_t i = 0; i < count_bytes; i++) {
		if (bytes[i] != '\r')
			text[used++] = bytes[i] == '\n' ? '|' : bytes[i];
	}
	text[used] = '\0';
	happen(text);
}

/* The program. */

static void end_operation(void)
{
	scene.handle.active = NULL;
	scene.is_gone = true;
	assert_int_equal(mprotect(scene.gate, PAGE, PROT_NONE), 0);
}

static size_t take_call(char kind, const char *bytes, size_t count_bytes)
{
	char how = *scene.takes && *scene.takes != ' ' ? *scene.takes++ : '.';

	happen_call(kind, bytes, count_bytes);
	if (how == 'g')
		end_operation();
	if (how == 'n')
		scene.handle.program.follow_location = false;
	if (how == 'p')
		return CURL_WRITEFUNC_PAUSE;
	if (how == 's')
		return count_bytes - 1;
	return how == 'r' || how == 'g' ? 0 : count_bytes;
}

static size_t take_program_header(char *bytes, size_t size, size_t count, void *data)
{
	assert_ptr_equal(data, &scene.handle);
	return take_call('h', bytes, size * count);
}

static size_t take_program_write(char *bytes, size_t size, size_t count, void *data)
{
	assert_ptr_equal(data, &scene.rules);
	return take_call('w', bytes, size * count);
}

enum body_source handle_body_source(const struct handle *handle)
{
	return handle->program.method == BASE_GET ? BODY_NONE : BODY_POSTFIELDS;
}

/* The ports. */

static bool is_retried(void)
{
	int status = scene.gate->block.status;

	return status >= 500 || (status && status == scene.wanted->retried_status);
}

static bool port_judge(void *context)
{
	assert_ptr_equal(context, &scene);
	happen("judge");
	return is_retried() && !scene.wanted->delivers;
}

static void port_retract(void *context)
{
	(void)context;
	happen("retract");
}

static bool port_may_retry_answer(void *context)
{
	(void)context;
	scene.asked_may_retry++;
	return is_retried();
}

static bool port_is_proxys(void *context)
{
	(void)context;
	scene.asked_is_proxys++;
	return scene.proxys_left-- > 0;
}

static bool port_awaits_continue(void *context)
{
	(void)context;
	scene.asked_awaits_continue++;
	return scene.wanted->awaits_continue;
}

static bool port_may_be_taken_back(void *context)
{
	(void)context;
	scene.asked_may_be_taken_back++;
	return scene.wanted->may_be_taken_back;
}

static void port_answer(void *context)
{
	(void)context;
	happen("answer");
}

static void port_hide(void *context)
{
	(void)context;
	happen("hide");
}

static void port_limit_rest(void *context, int64_t limit_ms)
{
	(void)context;
	happen_number("limit:", limit_ms);
}

static void port_lift_limits(void *context)
{
	(void)context;
	happen("lift");
}

static const struct gate_ports ports = {
    .judge = port_judge,
    .retract = port_retract,
    .may_retry_answer = port_may_retry_answer,
    .is_proxys = port_is_proxys,
    .awaits_continue = port_awaits_continue,
    .may_be_taken_back = port_may_be_taken_back,
    .answer = port_answer,
    .hide = port_hide,
    .limit_rest = port_limit_rest,
    .lift_limits = port_lift_limits,
};

/* Clock and memory: the linker puts these in the place of those that they wrap (Makefile). */

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	*now = (struct timespec){.tv_sec = scene.now_ms / 1000, .tv_nsec = (long)(scene.now_ms % 1000) * 1000000};
	return 0;
}

bool __real_held_append(struct held *held, enum held_kind kind, const char *bytes, size_t count_bytes);
bool __wrap_held_append(struct held *held, enum held_kind kind, const char *bytes, size_t count_bytes);
bool __wrap_held_append(struct held *held, enum held_kind kind, const char *bytes, size_t count_bytes)
{
	if (scene.lacks_memory == 0)
		return __real_held_append(held, kind, bytes, count_bytes);
	scene.lacks_memory--;
	return false;
}

/* The operation. */

static void set_scene(const struct gate_case *wanted)
{
	scene = (struct scene){
	    .wanted = wanted,
	    .handle.program =
	        {
	            .write_function = take_program_write,
	            .write_data = &scene.rules,
	            .write_data_set = true,
	            .header_function = wanted->deaf ? NULL : take_program_header,
	            .header_data = wanted->deaf ? NULL : &scene.handle,
	            .follow_location = !wanted->stays,
	            .header_in_body = wanted->header_in_body,
	            .no_body = wanted->no_body,
	            .method = wanted->method,
	        },
	    .handle.lent.seek = wanted->lends_seek,
	    .rules =
	        {
	            .hold_body_bytes = wanted->hold_body_bytes ? wanted->hold_body_bytes : 65536,
	            .hold_success_bytes = wanted->hold_success_bytes,
	            .hold_redirects = wanted->hold_redirects,
	            .final_body = wanted->final_body,
	        },
	    .takes = "",
	    .proxys_left = wanted->proxys_blocks,
	    .now_ms = 1000000,
	};
	scene.handle.active = (struct operation *)&scene.token;
	scene.gate = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(scene.gate != MAP_FAILED && sizeof(struct gate) <= PAGE);
	/* What an earlier operation left in the room, but for what is cleared when one begins. */
	memset(scene.gate, true, sizeof(struct gate));
	scene.gate->followed_bytes = sizeof("HTTP/1.1");
	memset(scene.gate, 0, offsetof(struct gate, delivered_step_hashes));
	scene.gate->handle = &scene.handle;
	scene.gate->rules = &scene.rules;
	scene.gate->ports = &ports;
	scene.gate->context = &scene;
	scene.gate->observes = wanted->observes;
	gate_begin_attempt(scene.gate, wanted->reads_success);
}

static void leave_scene(void)
{
	held_free(&scene.handle.held);
	munmap(scene.gate, PAGE);
}

/* libcurl. */

static size_t bytes_of(const char *text, char *bytes, size_t room_bytes)
{
	size_t count = 0;

	if (*text == '*') {
		count = (size_t)atoi(text + 1);
		assert_true(count <= room_bytes);
		memset(bytes, 'x', count);
		return count;
	}
	for (; *text; text++) {
		assert_true(count + 2 <= room_bytes);
		if (*text == '|')
			bytes[count++] = '\r';
		bytes[count++] = *text == '|' ? '\n' : *text;
	}
	return count;
}

static void tell_libcurl(size_t told, size_t count_bytes)
{
	if (told == CURL_WRITEFUNC_PAUSE)
		happen("-> pause");
	else if (told == 0 && count_bytes > 0)
		happen("-> refuse");
	else if (told != count_bytes)
		happen_number("-> ", (int64_t)told);
}

static void note_changes(bool was_committed, bool was_refused)
{
	if (scene.gate->committed != was_committed)
		happen(was_committed ? "free" : "committed");
	if (scene.gate->refused && !was_refused)
		happen("refused");
}

/* A call into the gate; what goes with the operation comes back afterwards, to be looked at. */
static size_t enter_gate(char kind, char *bytes, size_t count_bytes)
{
	bool was_committed = scene.gate->committed, was_refused = scene.gate->refused;
	size_t told = kind == 'h'   ? gate_take_header(scene.gate, bytes, count_bytes)
	              : kind == 'w' ? gate_take_write(scene.gate, bytes, count_bytes)
	                            : (size_t)gate_finish(scene.gate);

	if (scene.is_gone)
		assert_int_equal(mprotect(scene.gate, PAGE, PROT_READ | PROT_WRITE), 0);
	note_changes(was_committed, was_refused);
	return told;
}

static void give(char kind, const char *text)
{
	static char room[1 << 17];
	size_t count_bytes = bytes_of(text, room, sizeof(room));
	/* Where a byte too many would be noticed. */
	char *bytes = malloc(count_bytes + 1);

	assert_non_null(bytes);
	memcpy(bytes, room, count_bytes);
	scene.event_bytes = bytes;
	tell_libcurl(enter_gate(kind, bytes, count_bytes), count_bytes);
	assert_memory_equal(bytes, room, count_bytes);
	scene.event_bytes = NULL;
	free(bytes);
}

static void finish_gate(void)
{
	static const char *const results[] = {"-> done", "-> paused", "-> refused", "-> gone"};

	happen(results[enter_gate('f', NULL, 0)]);
}

static void pass(const char *event)
{
	const char *blank = strchr(event, ' '), *text = blank ? blank + 1 : "";

	scene.happened[0] = '\0';
	scene.takes = event[1] == '!' ? event + 2 : "";
	switch (event[0]) {
	case 'a':
		gate_begin_attempt(scene.gate, scene.wanted->reads_success);
		break;
	case 'f':
		finish_gate();
		break;
	case 't':
		scene.now_ms += atoi(text);
		break;
	case 'm':
		scene.lacks_memory = atoi(text);
		break;
	default:
		give(event[0], text);
	}
}

static const char *state_name(enum gate_state state)
{
	static const char *const names[] = {"LIVE", "HOLD", "SHOW", "HOLD_SUCCESS", "SEARCH", "FLUSH", "DROP"};

	return names[state];
}

static void pass_case(const struct gate_case *wanted)
{
	set_scene(wanted);
	for (const struct step *step = wanted->steps; step->event; step++) {
		pass(step->event);
		if (scene.gate->state != step->state || strcmp(scene.happened, step->happens) != 0)
			fail_msg("%s: \"%s\" came to %s \"%s\", not to %s \"%s\"", wanted->name, step->event,
			         state_name(scene.gate->state), scene.happened, state_name(step->state), step->happens);
		if (*scene.takes && *scene.takes != ' ')
			fail_msg("%s: \"%s\": the program wasn't called so often", wanted->name, step->event);
	}
	assert_int_equal(scene.lacks_memory, 0);
	leave_scene();
}

#define pass_cases(cases)                                                                                              \
	for (size_t i = 0; i < countof(cases); i++)                                                                    \
	pass_case(&(cases)[i])

#endif
