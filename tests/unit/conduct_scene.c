/* SPDX-License-Identifier: MIT */

#include "tests/unit/conduct_scene.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "interpose/drive/callbacks.h"
#include "interpose/drive/room.h"
#include "interpose/drive/sleep.h"
#include "interpose/host/policy_source.h"
#include "interpose/host/process.h"
#include "interpose/host/tell.h"
#include "interpose/parts/lend.h"
#include "interpose/parts/options.h"
#include "interpose/record/journal.h"
#include "tests/unit/test_policy_support.h"

#define BEGIN_MS    1000000
#define CALENDAR_S  1750000000
#define THREAD      4711
#define SLEEPS_MOST 10000 /* more is for ever */

static struct scene *scene; /* the one that is played */

/* The clock. */

static int64_t now_ms(void)
{
	return scene ? scene->now_ms : BEGIN_MS;
}

static void pass_ms(int64_t ms)
{
	scene->now_ms += ms;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	bool is_calendar = clock == CLOCK_REALTIME && scene;
	int64_t ms = now_ms() + (is_calendar ? scene->suspended_ms : 0);
	int64_t begin_s = is_calendar ? CALENDAR_S : 0;
	*now = (struct timespec){.tv_sec = begin_s + ms / 1000, .tv_nsec = (ms % 1000) * 1000000};
	return 0;
}

int64_t scene_calendar_s(const struct scene *it)
{
	return CALENDAR_S + (it->now_ms + it->suspended_ms) / 1000;
}

static bool is_time_for(const struct deed *deed, enum moment moment)
{
	return deed->moment == moment && (deed->turn == 0 || deed->turn == scene->turns[moment]) &&
	       (deed->perform == 0 || deed->perform == scene->fake.performs);
}

static const struct deed nothing;

/* Does what is to be done at the moment, and returns how the callback answers. */
static const struct deed *do_deed(enum moment moment)
{
	struct deed *deeds[] = {&scene->deed, &scene->second_deed};
	scene->turns[moment]++;
	for (size_t i = 0; i < countof(deeds); i++) {
		if (!is_time_for(deeds[i], moment))
			continue;
		if (deeds[i]->act)
			deeds[i]->act(scene);
		return deeds[i];
	}
	return &nothing;
}

bool sleep_until(int64_t due_ms)
{
	assert_true(scene->turns[AT_SLEEP] < SLEEPS_MOST);
	assert_int_equal(scene->handle->waiting_thread, THREAD);
	do_deed(AT_SLEEP);
	if (scene->cannot_sleep)
		return false;
	if (due_ms > scene->now_ms) {
		scene->slept_ms += due_ms - scene->now_ms;
		scene->now_ms = due_ms;
	}
	return true;
}

bool sleep_is_refused(void)
{
	errno = EPERM;
	return scene->sleep_is_refused;
}

/* The process. */

const struct process_environment *process_environment(void)
{
	static const struct process_environment environment;
	return &environment;
}

const struct log_stderr_identity *process_stderr(void)
{
	static const struct log_stderr_identity identity;
	return &identity;
}

uint32_t process_generation(void)
{
	return scene->generation;
}

int64_t process_pid(void)
{
	return THREAD;
}

bool process_is_raw_child(void)
{
	return false;
}

int64_t process_deadline_ms(void)
{
	return scene->deadline_ms;
}

const char *process_run(void)
{
	return "";
}

int64_t process_watchdog_ms(void)
{
	return scene->watchdog_ms;
}

uintptr_t process_thread_id(void)
{
	return THREAD;
}

int process_thread_number(void)
{
	return THREAD;
}

bool process_thread_has_ended(int number)
{
	(void)number;
	return false;
}

bool policy_source_is_switched_off(const struct url *url, const struct policy *policy,
                                   const struct policy_section *section)
{
	(void)url;
	assert_ptr_equal(policy, scene->policy);
	assert_ptr_equal(section, scene->policy->sections);
	return scene->is_switched_off;
}

bool tell_log(const struct policy_rules *rules, const char *text)
{
	(void)rules;
	snprintf(scene->complaint, sizeof(scene->complaint), "%s", text);
	return true;
}

bool tell_complaint(const char *text)
{
	return tell_log(NULL, text);
}

/* The log. */

bool journal_wants_success(const struct operation *operation)
{
	return operation->section->rules.log_events == POLICY_LOG_EVENTS_ALL;
}

void journal_attempt(struct operation *operation, CURLcode result)
{
	(void)operation, (void)result;
	scene->told_of.attempt_records++;
}

void journal_return(struct operation *operation)
{
	(void)operation;
	scene->told_of.returns++;
}

void journal_operation(struct operation *operation, CURLcode result)
{
	struct ended *told_of = &scene->told_of;
	told_of->operations++;
	told_of->action = operation->course.verdict.action;
	told_of->reason = operation->course.verdict.reason;
	told_of->failure = operation->course.verdict.failure;
	told_of->result = result;
	told_of->attempts = operation->course.engine.attempts;
	told_of->waited_ms = operation->course.engine.waited_ms;
	told_of->resends = operation->sends.resends;
	told_of->sends = sends_total(&operation->sends);
}

/* The program's callbacks. */

static size_t append(char *text, size_t room_bytes, const char *bytes, size_t count_bytes)
{
	size_t length = strlen(text);
	assert_true(length + count_bytes < room_bytes);
	memcpy(text + length, bytes, count_bytes);
	text[length + count_bytes] = '\0';
	return count_bytes;
}

static size_t take(enum moment moment, char *text, size_t room_bytes, const char *bytes, size_t count_bytes)
{
	const struct deed *deed = do_deed(moment);
	if (deed->pauses)
		return CURL_WRITEFUNC_PAUSE;
	if (deed->refuses)
		return 0;
	/* The bytes went with the handle. */
	if (scene->fake.is_gone)
		return count_bytes;
	append(scene->order, sizeof(scene->order), moment == AT_HEADER ? "h" : "w", 1);
	return append(text, room_bytes, bytes, count_bytes);
}

static size_t take_header(char *bytes, size_t size, size_t count, void *data)
{
	struct scene *it = data;
	return take(AT_HEADER, it->headers, sizeof(it->headers), bytes, size * count);
}

static size_t take_body(char *bytes, size_t size, size_t count, void *data)
{
	struct scene *it = data;
	return take(AT_WRITE, it->body, sizeof(it->body), bytes, size * count);
}

static size_t give_upload(char *out, size_t size, size_t count, void *data)
{
	struct scene *it = data;
	if (do_deed(AT_READ)->refuses)
		return CURL_READFUNC_ABORT;
	size_t left_bytes = strlen(it->upload) - it->upload_position;
	size_t bytes = size * count < left_bytes ? size * count : left_bytes;
	memcpy(out, it->upload + it->upload_position, bytes);
	it->upload_position += bytes;
	return bytes;
}

static int seek_upload(void *data, curl_off_t offset, int origin)
{
	struct scene *it = data;
	assert_int_equal(origin, SEEK_SET);
	do_deed(AT_SEEK);
	if (it->seek_fails)
		return CURL_SEEKFUNC_FAIL;
	it->upload_position = (size_t)offset;
	if (it->upload_differs_again)
		it->upload = "another body";
	return CURL_SEEKFUNC_OK;
}

static int look_at_progress(void *data, curl_off_t download_total, curl_off_t download_now, curl_off_t upload_total,
                            curl_off_t upload_now)
{
	struct scene *it = data;
	(void)download_total, (void)upload_total;
	it->progress_bytes = download_now;
	it->uploaded_bytes = upload_now;
	return do_deed(AT_PROGRESS)->refuses ? 1 : 0;
}

static int look_at_request(void *data, char *remote_address, char *local_address, int remote_port, int local_port)
{
	(void)data, (void)remote_address, (void)local_address, (void)remote_port, (void)local_port;
	return do_deed(AT_REQUEST)->refuses ? 1 : 0;
}

/* The handle. */

static bool is_lent_for_good(int option)
{
	static const int lent[] = {CURLOPT_WRITEFUNCTION, CURLOPT_WRITEDATA,        CURLOPT_HEADERFUNCTION,
	                           CURLOPT_HEADERDATA,    OPTION_PREREQFUNCTION,    OPTION_PREREQDATA,
	                           CURLOPT_PROGRESSDATA,  CURLOPT_PROGRESSFUNCTION, OPTION_XFERINFOFUNCTION};
	for (size_t i = 0; i < countof(lent); i++)
		if (lent[i] == option)
			return true;
	return false;
}

void scene_set(struct scene *it, int option, const void *value)
{
	void *given = (void *)(uintptr_t)value;
	bool is_seconds = option == CURLOPT_TIMEOUT || option == CURLOPT_CONNECTTIMEOUT;
	assert_int_equal(options_set(it->handle, (CURLoption)option, given), CURLE_OK);
	if (it->handle->active)
		conduct_note_option(it->handle->active, (CURLoption)option);
	if (!is_lent_for_good(option))
		it->expected[fake_option_number((CURLoption)option)] =
		    is_seconds ? (void *)((intptr_t)given * 1000) : given;
}

void scene_set_number(struct scene *it, int option, long value)
{
	scene_set(it, option, (const void *)value);
}

static void set_function(struct scene *it, int option, void (*function)(void))
{
	scene_set(it, option, (const void *)function);
}

void scene_take_progress(struct scene *it)
{
	scene_set_number(it, CURLOPT_NOPROGRESS, 0);
	set_function(it, OPTION_XFERINFOFUNCTION, (void (*)(void))look_at_progress);
	scene_set(it, CURLOPT_PROGRESSDATA, it);
}

void scene_give_upload(struct scene *it, const char *bytes)
{
	it->upload = bytes;
	it->upload_position = 0;
	scene_set_number(it, CURLOPT_UPLOAD, 1);
	scene_set_number(it, OPTION_INFILESIZE_LARGE, (long)strlen(bytes));
	set_function(it, CURLOPT_READFUNCTION, (void (*)(void))give_upload);
	scene_set(it, CURLOPT_READDATA, it);
}

void scene_give_rewind(struct scene *it)
{
	set_function(it, CURLOPT_SEEKFUNCTION, (void (*)(void))seek_upload);
	scene_set(it, CURLOPT_SEEKDATA, it);
}

void scene_listen(struct scene *it)
{
	set_function(it, CURLOPT_WRITEFUNCTION, (void (*)(void))take_body);
	scene_set(it, CURLOPT_WRITEDATA, it);
	set_function(it, CURLOPT_HEADERFUNCTION, (void (*)(void))take_header);
	scene_set(it, CURLOPT_HEADERDATA, it);
}

static void set_what_all_programs_set(struct scene *it)
{
	scene_listen(it);
	set_function(it, OPTION_PREREQFUNCTION, (void (*)(void))look_at_request);
	scene_set(it, CURLOPT_ERRORBUFFER, it->error_text);
	scene_set(it, CURLOPT_URL, it->url);
	it->fake.effective_url = it->url;
}

static const struct policy *load(const char *lines)
{
	char text[1024];
	snprintf(text, sizeof(text), "[policy]\nstate = process\njitter = none\nretry_after_jitter_pct = 0\n%s\n",
	         lines);
	return load_text(text);
}

void scene_begin_with(struct scene *it, unsigned int version, const char *policy_lines)
{
	static int number;
	static int64_t next_ms = BEGIN_MS;
	*it = (struct scene){.now_ms = next_ms, .deadline_ms = INT64_MAX, .generation = 1};
	/* What a scene before it left behind in state and thread is of long ago. */
	next_ms += INT64_C(10) * 24 * 3600 * 1000;
	scene = it;
	snprintf(it->url, sizeof(it->url), "http://scene-%d.example/path", ++number);
	it->policy = load(policy_lines);
	fake_init(&it->fake, version);
	it->fake.now_ms = now_ms;
	it->fake.pass_ms = pass_ms;
	memcpy(it->expected, it->fake.options, sizeof(it->expected));
	it->handle = handle_adopt((CURL *)&it->fake, &it->fake.functions, &callbacks);
	assert_non_null(it->handle);
	set_what_all_programs_set(it);
}

void scene_begin(struct scene *it, const char *policy_lines)
{
	scene_begin_with(it, FAKE_NEWEST, policy_lines);
}

void scene_end(struct scene *it)
{
	if (!it->fake.is_gone)
		scene_clean_up(it);
	policy_free(it->policy);
}

static bool is_as_expected(const struct scene *it, int option)
{
	const void *value = it->fake.options[option], *expected = it->expected[option];
	bool is_text = option == fake_option_number(CURLOPT_URL) || option == fake_option_number(CURLOPT_REFERER);
	return value == expected || (is_text && value && expected && strcmp(value, expected) == 0);
}

/* What interpose/entry/entry.c does before an operation. */
static void make_ready(struct handle *handle, const void *frame)
{
	handle->performed_generation = process_generation();
	handle->shared_entry = NULL;
	assert_true(lend_callbacks(handle));
	handle->active_frame = frame;
}

static void assert_all_is_given_back(const struct scene *it)
{
	for (int option = 0; option < FAKE_OPTIONS; option++) {
		bool is_callback = is_lent_for_good(option + CURLOPTTYPE_OBJECTPOINT) ||
		                   is_lent_for_good(option + CURLOPTTYPE_FUNCTIONPOINT);
		if (!is_callback && !is_as_expected(it, option))
			fail_msg("option %d is %p, and the program has set %p", option, it->fake.options[option],
			         it->expected[option]);
	}
}

/* What is told is what was. */
static void assert_counts_are_right(const struct scene *it)
{
	bool counts_sends = it->handle->lent.prereq;
	assert_int_equal(it->told_of.attempts, it->fake.performs);
	assert_int_equal(it->told_of.attempt_records, it->fake.performs);
	if (counts_sends)
		assert_int_equal(it->told_of.sends, it->fake.requests);
}

CURLcode scene_perform(struct scene *it, const struct fake_attempt *attempts, int count)
{
	char frame;
	int operations = it->told_of.operations;
	fake_play(&it->fake, attempts, count);
	it->told_of.attempt_records = 0;
	make_ready(it->handle, &frame);
	CURLcode result = conduct_operation(it->handle, it->policy, it->policy->sections, now_ms());
	if (it->fake.is_gone) {
		assert_int_equal(it->told_of.operations, operations);
		return result;
	}
	assert_null(it->handle->active);
	assert_false(it->handle->performs);
	assert_int_equal(it->told_of.operations, operations + 1);
	assert_all_is_given_back(it);
	if (it->policy->sections->rules.mode == POLICY_MODE_ENFORCE)
		assert_counts_are_right(it);
	return result;
}

struct ended scene_perform_another(struct scene *it, const struct fake_attempt *only)
{
	const struct ended told_of = it->told_of;
	struct fake_libcurl other;
	char frame;
	fake_init(&other, it->fake.functions.version_number);
	other.now_ms = now_ms;
	other.pass_ms = pass_ms;
	fake_play(&other, only, 1);
	struct handle *handle = handle_adopt((CURL *)&other, &other.functions, &callbacks);
	assert_non_null(handle);
	assert_true(handle_set_url(handle, it->url));
	make_ready(handle, &frame);
	conduct_operation(handle, it->policy, it->policy->sections, now_ms());
	handle_forget(handle);
	const struct ended ended = it->told_of;
	it->told_of = told_of;
	return ended;
}

/* As interpose/entry/entry.c does it. */
void scene_clean_up(struct scene *it)
{
	handle_hide(it->handle);
	it->fake.is_gone = true;
	room_abandon(it->handle);
	handle_forget(it->handle);
}

void scene_unpause(struct scene *it)
{
	struct handle *handle = it->handle;
	if (handle->active && !handle->performs)
		conduct_note_unpause(handle->active, true);
	else
		it->fake.functions.pause(handle->curl, CURLPAUSE_CONT);
}

void scene_fork(struct scene *it)
{
	it->generation++;
}

void scene_switch_off(struct scene *it)
{
	it->is_switched_off = true;
}

void scene_reset(struct scene *it)
{
	fake_set_defaults(&it->fake);
	memcpy(it->expected, it->fake.options, sizeof(it->expected));
	handle_reset(it->handle);
	if (it->handle->active)
		conduct_note_reset(it->handle->active);
}
