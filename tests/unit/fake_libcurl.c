/* SPDX-License-Identifier: MIT */

#include "tests/unit/fake_libcurl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define OPTION_BASE     10000
#define INFO_MASK       0xFFFFF
#define INFO_TYPE_MASK  0xF00000
#define INFO_STRING     0x100000
#define INFO_LONG       0x200000
#define INFO_DOUBLE     0x300000
#define REQUEST_BYTES   100
#define PROGRESS_MS     250
#define PAUSED_TURNS    100 /* longer is for ever */
#define CLEARS_TEXT     0x073C00
#define INFO_SCHEME_NUM (INFO_SCHEME & INFO_MASK)

static struct fake_libcurl *fake_of(CURL *curl)
{
	return (struct fake_libcurl *)curl;
}

static void *option(const struct fake_libcurl *fake, int number)
{
	return fake->options[number % OPTION_BASE];
}

int fake_option_number(CURLoption option)
{
	if (option == CURLOPT_TIMEOUT)
		return CURLOPT_TIMEOUT_MS % OPTION_BASE;
	if (option == CURLOPT_CONNECTTIMEOUT)
		return CURLOPT_CONNECTTIMEOUT_MS % OPTION_BASE;
	return (int)option % OPTION_BASE;
}

static CURLcode fake_setopt(CURL *curl, CURLoption option, ...)
{
	struct fake_libcurl *fake = fake_of(curl);
	int number = fake_option_number(option);
	va_list arguments;
	va_start(arguments, option);
	void *value = va_arg(arguments, void *);
	va_end(arguments);
	assert_false(fake->is_gone);
	assert_in_range(number, 0, FAKE_OPTIONS - 1);
	if (fake->refused_option == number)
		return CURLE_UNKNOWN_OPTION;
	if (option == CURLOPT_TIMEOUT || option == CURLOPT_CONNECTTIMEOUT)
		value = (void *)((intptr_t)value * 1000);
	fake->options[number] = value;
	fake->setopts++;
	return CURLE_OK;
}

static const char *text_info(const struct fake_libcurl *fake, int number)
{
	if (number == INFO_SCHEME_NUM)
		return fake->scheme;
	return number == (CURLINFO_EFFECTIVE_URL & INFO_MASK) ? fake->effective_url : NULL;
}

static CURLcode fake_getinfo(CURL *curl, CURLINFO info, ...)
{
	const struct fake_libcurl *fake = fake_of(curl);
	int number = (int)info & INFO_MASK;
	va_list arguments;
	va_start(arguments, info);
	void *out = va_arg(arguments, void *);
	va_end(arguments);
	assert_false(fake->is_gone);
	assert_in_range(number, 0, FAKE_INFOS - 1);
	switch ((int)info & INFO_TYPE_MASK) {
	case INFO_LONG:
		*(long *)out = fake->infos[number];
		return CURLE_OK;
	case INFO_DOUBLE:
		*(double *)out = (double)fake->infos[number];
		return CURLE_OK;
	case INFO_STRING:
		*(const char **)out = text_info(fake, number);
		return CURLE_OK;
	default:
		return CURLE_UNKNOWN_OPTION;
	}
}

static long *info(struct fake_libcurl *fake, CURLINFO which)
{
	return &fake->infos[(int)which & INFO_MASK];
}

static void end(struct fake_libcurl *fake, CURLcode result)
{
	if (fake->callback_result == CURLE_OK)
		fake->callback_result = result;
}

static void note_time(struct fake_libcurl *fake, int64_t ms)
{
	int64_t limit_ms = (int64_t)(intptr_t)option(fake, CURLOPT_TIMEOUT_MS);
	int64_t left_ms = fake->begin_ms + limit_ms - fake->now_ms();
	bool is_late = limit_ms > 0 && left_ms < ms;
	fake->pass_ms(is_late ? (left_ms > 0 ? left_ms : 0) : ms);
	if (is_late)
		end(fake, CURLE_OPERATION_TIMEDOUT);
}

static void call_progress(struct fake_libcurl *fake, long downloaded, long uploaded)
{
	xferinfo_function xferinfo = (xferinfo_function)option(fake, OPTION_XFERINFOFUNCTION);
	curl_progress_callback progress = (curl_progress_callback)option(fake, CURLOPT_PROGRESSFUNCTION);
	void *data = option(fake, CURLOPT_PROGRESSDATA);
	int answer = 0;
	if (option(fake, CURLOPT_NOPROGRESS))
		return;
	if (xferinfo)
		answer = xferinfo(data, 0, downloaded, 0, uploaded);
	else if (progress)
		answer = progress(data, 0, (double)downloaded, 0, (double)uploaded);
	if (answer != 0)
		end(fake, CURLE_ABORTED_BY_CALLBACK);
}

/* As libcurl does: what was given when the program paused is given again. */
static void give(struct fake_libcurl *fake, int function, int data, const char *text, size_t bytes)
{
	char copy[1024];
	assert_true(bytes < sizeof(copy));
	for (int turn = 0; turn < PAUSED_TURNS && fake->callback_result == CURLE_OK; turn++) {
		data_function take = (data_function)option(fake, function);
		if (!fake->is_paused) {
			memcpy(copy, text, bytes);
			fake->is_paused = true; /* an unpause may come inside the callback */
			size_t taken = take ? take(copy, 1, bytes, option(fake, data)) : bytes;
			bool pauses = taken == CURL_WRITEFUNC_PAUSE;
			if (!pauses)
				fake->is_paused = false;
			if (fake->is_gone || (!pauses && taken != bytes))
				end(fake, CURLE_WRITE_ERROR);
			if (!pauses)
				return;
		} else {
			call_progress(fake, 0, 0);
			note_time(fake, PROGRESS_MS);
		}
	}
	if (fake->callback_result == CURLE_OK)
		fail_msg("the transfer stays paused");
}

static void note_status(struct fake_libcurl *fake, const char *line)
{
	long status;
	if (sscanf(line, "HTTP/%*s %ld", &status) == 1)
		*info(fake, CURLINFO_RESPONSE_CODE) = status;
}

static void give_headers(struct fake_libcurl *fake, const char *text, bool is_proxys)
{
	while (*text && fake->callback_result == CURLE_OK) {
		const char *end_of_line = strstr(text, "\r\n");
		assert_non_null(end_of_line);
		size_t bytes = (size_t)(end_of_line + 2 - text);
		if (!is_proxys)
			note_status(fake, text);
		*info(fake, CURLINFO_HEADER_SIZE) += (long)bytes;
		give(fake, CURLOPT_HEADERFUNCTION, CURLOPT_HEADERDATA, text, bytes);
		text += bytes;
	}
}

static void send_request(struct fake_libcurl *fake)
{
	prereq_function prereq = (prereq_function)option(fake, OPTION_PREREQFUNCTION);
	char address[] = "192.0.2.1";
	int answer = prereq ? prereq(option(fake, OPTION_PREREQDATA), address, address, 80, 50000) : 0;
	if (answer != 0) {
		end(fake, CURLE_ABORTED_BY_CALLBACK);
		return;
	}
	fake->requests++;
	*info(fake, CURLINFO_REQUEST_SIZE) += REQUEST_BYTES;
}

static void note_sent(struct fake_libcurl *fake, const char *bytes, size_t count)
{
	size_t length = strlen(fake->sent);
	assert_true(length + count < sizeof(fake->sent));
	memcpy(fake->sent + length, bytes, count);
	fake->sent[length + count] = '\0';
}

static void read_body(struct fake_libcurl *fake, long bytes)
{
	curl_read_callback read = (curl_read_callback)option(fake, CURLOPT_READFUNCTION);
	char room[64];
	assert_in_range(bytes, 1, sizeof(room));
	if (!read)
		read = (curl_read_callback)(void (*)(void))fread;
	size_t given = read(room, 1, (size_t)bytes, option(fake, CURLOPT_READDATA));
	if (fake->is_gone || given > (size_t)bytes)
		end(fake, CURLE_ABORTED_BY_CALLBACK);
	else
		note_sent(fake, room, given);
}

static void rewind_body(struct fake_libcurl *fake)
{
	curl_seek_callback seek = (curl_seek_callback)option(fake, CURLOPT_SEEKFUNCTION);
	if (!seek || seek(option(fake, CURLOPT_SEEKDATA), 0, SEEK_SET) != CURL_SEEKFUNC_OK)
		end(fake, CURLE_SEND_FAIL_REWIND);
}

static void play_event(struct fake_libcurl *fake, const struct fake_event *event)
{
	switch (event->kind) {
	case FAKE_REQUEST:
		send_request(fake);
		break;
	case FAKE_HEADERS:
	case FAKE_PROXY:
		give_headers(fake, event->text, event->kind == FAKE_PROXY);
		break;
	case FAKE_BODY:
		give(fake, CURLOPT_WRITEFUNCTION, CURLOPT_WRITEDATA, event->text, strlen(event->text));
		break;
	case FAKE_READ:
		read_body(fake, event->number);
		break;
	case FAKE_SEEK:
		rewind_body(fake);
		break;
	case FAKE_PROGRESS:
		call_progress(fake, event->number, 0);
		break;
	case FAKE_UPLOADED:
		call_progress(fake, 0, event->number);
		break;
	case FAKE_TIME:
		note_time(fake, event->number);
		break;
	case FAKE_CALL:
		event->call(fake);
		break;
	case FAKE_END:
		break;
	}
}

static void begin(struct fake_libcurl *fake)
{
	char *text = option(fake, CURLOPT_ERRORBUFFER);
	long os_errno = *info(fake, CURLINFO_OS_ERRNO);
	memset(fake->infos, 0, sizeof(fake->infos));
	*info(fake, CURLINFO_OS_ERRNO) = os_errno;
	if (text && fake->functions.version_number >= CLEARS_TEXT)
		text[0] = '\0';
	fake->callback_result = CURLE_OK;
	fake->is_paused = false;
	fake->begin_ms = fake->now_ms();
}

static CURLcode settle(struct fake_libcurl *fake, const struct fake_attempt *attempt)
{
	CURLcode result = fake->callback_result != CURLE_OK ? fake->callback_result : attempt->result;
	if (fake->is_gone)
		return result;
	char *text = option(fake, CURLOPT_ERRORBUFFER);
	if (text && result != CURLE_OK)
		snprintf(text, CURL_ERROR_SIZE, "%s", attempt->error ? attempt->error : "libcurl's own words");
	*info(fake, CURLINFO_NUM_CONNECTS) = attempt->connects;
	*info(fake, CURLINFO_REDIRECT_COUNT) = attempt->redirects;
	*info(fake, CURLINFO_HTTP_CONNECTCODE) = attempt->connect_code;
	if (attempt->os_errno != 0)
		*info(fake, CURLINFO_OS_ERRNO) = attempt->os_errno;
	return result;
}

static CURLcode fake_perform(CURL *curl)
{
	struct fake_libcurl *fake = fake_of(curl);
	assert_false(fake->is_gone);
	begin(fake);
	if (!option(fake, CURLOPT_PROTOCOLS)) {
		fake->barren_performs++;
		return CURLE_UNSUPPORTED_PROTOCOL;
	}
	if (fake->performs >= fake->attempt_count)
		fail_msg("perform %d, of which the script knows nothing", fake->performs + 1);
	if (fake->performs > 0)
		note_sent(fake, "|", 1);
	const struct fake_attempt *attempt = &fake->attempts[fake->performs++];
	/* libcurl knows them before the answer comes. */
	*info(fake, CURLINFO_REDIRECT_COUNT) = attempt->redirects;
	*info(fake, CURLINFO_NUM_CONNECTS) = attempt->connects;
	for (const struct fake_event *event = attempt->events; event->kind != FAKE_END; event++) {
		play_event(fake, event);
		if (fake->callback_result != CURLE_OK || fake->is_gone)
			break;
	}
	return settle(fake, attempt);
}

static CURLcode fake_pause(CURL *curl, int action)
{
	fake_of(curl)->is_paused = (action & CURLPAUSE_RECV) != 0;
	return CURLE_OK;
}

void fake_set_defaults(struct fake_libcurl *fake)
{
	memset(fake->options, 0, sizeof(fake->options));
	fake->options[CURLOPT_WRITEDATA % OPTION_BASE] = stdout;
	fake->options[CURLOPT_READDATA % OPTION_BASE] = stdin;
	fake->options[CURLOPT_NOPROGRESS % OPTION_BASE] = (void *)1;
	fake->options[CURLOPT_DNS_CACHE_TIMEOUT % OPTION_BASE] = (void *)60;
	fake->options[CURLOPT_PROTOCOLS % OPTION_BASE] = (void *)(intptr_t)CURLPROTO_ALL;
}

void fake_init(struct fake_libcurl *fake, unsigned int version)
{
	*fake = (struct fake_libcurl){
	    .functions = {.number = 1,
	                  .flavour = "FAKE",
	                  .version = "fake",
	                  .version_number = version,
	                  .asynchronous_lookup = true,
	                  .stays_mapped = true,
	                  .setopt = fake_setopt,
	                  .getinfo = fake_getinfo,
	                  .perform = fake_perform,
	                  .pause = fake_pause},
	    .scheme = "http",
	};
	fake_set_defaults(fake);
}

void fake_play(struct fake_libcurl *fake, const struct fake_attempt *attempts, int count)
{
	fake->attempts = attempts;
	fake->attempt_count = count;
	fake->performs = 0;
	fake->requests = 0;
	fake->sent[0] = '\0';
}
