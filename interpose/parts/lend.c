/* SPDX-License-Identifier: MIT */

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "interpose/parts/lend.h"
#include "interpose/parts/progress.h"

#define QUICK_EXIT_VERSION       0x075700
#define PREREQ_VERSION           0x075000
#define DEFAULT_CONNECT_LIMIT_MS 300000 /* libcurl's, where the program sets none */
#define SIGALRM_LIMIT_MS         1000   /* a blocking resolver refuses to work with less (lib/hostip.c) */

static bool set_pointer(const struct handle *handle, int option, const void *value)
{
	return handle->libcurl->setopt(handle->curl, (CURLoption)option, value) == CURLE_OK;
}

static bool set_callback(const struct handle *handle, int option, data_function callback)
{
	return handle->libcurl->setopt(handle->curl, (CURLoption)option, callback) == CURLE_OK;
}

static bool set_number(const struct handle *handle, int option, int64_t value)
{
	return handle->libcurl->setopt(handle->curl, (CURLoption)option, (long)value) == CURLE_OK;
}

static void give_back_callbacks(const struct libcurl *libcurl, const struct program_options *program, CURL *curl)
{
	libcurl->setopt(curl, CURLOPT_WRITEFUNCTION, program->write_function);
	/* Never NULL: the default write function is fwrite. */
	libcurl->setopt(curl, CURLOPT_WRITEDATA, program->write_data_set ? program->write_data : (void *)stdout);
	libcurl->setopt(curl, CURLOPT_HEADERFUNCTION, program->header_function);
	libcurl->setopt(curl, CURLOPT_HEADERDATA, program->header_data);
}

/* Lends the prereq function: what libcurl sends again by itself counts as attempts do. */
static void lend_prereq(struct handle *handle)
{
	if (handle->lent.prereq || handle->libcurl->version_number < PREREQ_VERSION)
		return;
	handle->lent.prereq = handle->libcurl->setopt(handle->curl, (CURLoption)OPTION_PREREQFUNCTION,
	                                              handle->lendings->prereq) == CURLE_OK &&
	                      set_pointer(handle, OPTION_PREREQDATA, handle);
}

/* Once per handle. Not inlined: what every success runs through would grow by it. */
static __attribute__((noinline)) void lend_first(struct handle *handle)
{
	handle->lent.callbacks = set_callback(handle, CURLOPT_WRITEFUNCTION, handle->lendings->write) &&
	                         set_pointer(handle, CURLOPT_WRITEDATA, handle) &&
	                         set_callback(handle, CURLOPT_HEADERFUNCTION, handle->lendings->header) &&
	                         set_pointer(handle, CURLOPT_HEADERDATA, handle);
	if (handle->lent.callbacks)
		progress_lend(handle);
	else
		give_back_callbacks(handle->libcurl, &handle->program, handle->curl);
}

bool lend_callbacks(struct handle *handle)
{
	if (!handle->lent.callbacks)
		lend_first(handle);
	if (handle->lent.callbacks)
		lend_prereq(handle);
	return handle->lent.callbacks;
}

bool lend_adopt_duplicate(struct handle *copy)
{
	bool adopted = true;
	if (copy->lent.callbacks)
		adopted = set_pointer(copy, CURLOPT_WRITEDATA, copy) && set_pointer(copy, CURLOPT_HEADERDATA, copy);
	adopted = progress_adopt_duplicate(copy) && adopted;
	if (copy->lent.prereq)
		adopted = set_pointer(copy, OPTION_PREREQDATA, copy) && adopted;
	return adopted;
}

static void give_back_seek(const struct libcurl *libcurl, const struct program_options *program,
                           struct lent_options *lent, CURL *curl)
{
	libcurl->setopt(curl, CURLOPT_SEEKFUNCTION, program->seek_function);
	libcurl->setopt(curl, CURLOPT_SEEKDATA, program->seek_data);
	lent->seek = false;
}

static void give_back_options(const struct libcurl *libcurl, const struct program_options *program,
                              struct lent_options *lent, CURL *curl)
{
	const struct {
		bool *is_lent;
		int option;
		int64_t value;
	} numbers[] = {
	    {&lent->timeout, CURLOPT_TIMEOUT_MS, program->timeout_ms},
	    {&lent->connect_timeout, CURLOPT_CONNECTTIMEOUT_MS, program->connect_timeout_ms},
	    {&lent->fresh_connect, CURLOPT_FRESH_CONNECT, program->fresh_connect},
	    {&lent->dns_cache_timeout, CURLOPT_DNS_CACHE_TIMEOUT, program->dns_cache_timeout_s},
	    {&lent->quick_exit, OPTION_QUICK_EXIT, program->quick_exit},
	    {&lent->no_progress, CURLOPT_NOPROGRESS, program->no_progress},
	};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!*numbers[i].is_lent)
			continue;
		libcurl->setopt(curl, (CURLoption)numbers[i].option, (long)numbers[i].value);
		*numbers[i].is_lent = false;
	}
	if (lent->read) {
		libcurl->setopt(curl, CURLOPT_READFUNCTION, program->read_function);
		libcurl->setopt(curl, CURLOPT_READDATA, program->read_data_set ? program->read_data : (void *)stdin);
		lent->read = false;
	}
	if (lent->seek)
		give_back_seek(libcurl, program, lent, curl);
	if (lent->http_headers) {
		libcurl->setopt(curl, CURLOPT_HTTPHEADER, program->http_headers);
		lent->http_headers = false;
	}
}

void lend_give_back_duplicate(const struct handle *source, CURL *copy)
{
	struct lent_options lent = source->lent;
	give_back_options(source->libcurl, &source->program, &lent, copy);
	if (lent.callbacks)
		give_back_callbacks(source->libcurl, &source->program, copy);
	progress_give_back_duplicate(source, copy);
	if (lent.prereq) {
		source->libcurl->setopt(copy, (CURLoption)OPTION_PREREQFUNCTION, source->program.prereq_function);
		source->libcurl->setopt(copy, (CURLoption)OPTION_PREREQDATA, source->program.prereq_data);
	}
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * A limit of `limit_ms` from the attempt's start, as TIMEOUT_MS counts it; never 0, which would mean none. No limit of
 * ours means the program's own: a plan has none only if the program has none either, or if its own counts from the same
 * start.
 */
static void lend_timeout(struct handle *handle, int64_t limit_ms, int64_t *lent_limit_ms)
{
	*lent_limit_ms = limit_ms;
	if (limit_ms == ENGINE_NEVER)
		limit_ms = handle->program.timeout_ms;
	else if (!handle->libcurl->asynchronous_lookup && !handle->program.no_signal && limit_ms < SIGALRM_LIMIT_MS)
		limit_ms = SIGALRM_LIMIT_MS;
	else if (limit_ms < 1)
		limit_ms = 1;
	if (set_number(handle, CURLOPT_TIMEOUT_MS, limit_ms))
		handle->lent.timeout = true;
}

static void lend_connect_timeout(struct handle *handle, int64_t limit_ms)
{
	int64_t program_ms = handle->program.connect_timeout_ms;
	if (limit_ms >= (program_ms > 0 ? program_ms : DEFAULT_CONNECT_LIMIT_MS))
		return;
	if (set_number(handle, CURLOPT_CONNECTTIMEOUT_MS, limit_ms))
		handle->lent.connect_timeout = true;
}

/* Bounds a name look-up by the deadline (libcurl 7.87 and later): the look-up's thread is left behind when time is up.
 */
static void lend_quick_exit(struct handle *handle)
{
	if (handle->program.quick_exit || handle->libcurl->version_number < QUICK_EXIT_VERSION ||
	    !handle->libcurl->stays_mapped)
		return;
	if (set_number(handle, OPTION_QUICK_EXIT, 1))
		handle->lent.quick_exit = true;
}

void lend_read_callback(struct handle *handle)
{
	handle->lent.read = set_callback(handle, CURLOPT_READFUNCTION, handle->lendings->read) &&
	                    set_pointer(handle, CURLOPT_READDATA, handle);
	if (handle->lent.read)
		return;
	/* Half lent would be fatal: the program's function with our data. */
	handle->lent.read = true;
	lend_give_back_numbers(handle);
}

bool lend_seek_callback(struct handle *handle)
{
	const struct libcurl *libcurl = handle->libcurl;
	if (!handle->lent.seek)
		handle->lent.seek =
		    set_pointer(handle, CURLOPT_SEEKDATA, handle) &&
		    libcurl->setopt(handle->curl, CURLOPT_SEEKFUNCTION, handle->lendings->seek) == CURLE_OK;
	return handle->lent.seek;
}

void lend_give_back_seek_callback(struct handle *handle)
{
	give_back_seek(handle->libcurl, &handle->program, &handle->lent, handle->curl);
}

static void lend_connection(struct handle *handle, bool is_fresh)
{
	if (is_fresh) {
		if (!handle->program.fresh_connect && set_number(handle, CURLOPT_FRESH_CONNECT, 1))
			handle->lent.fresh_connect = true;
	} else if (handle->lent.fresh_connect) {
		set_number(handle, CURLOPT_FRESH_CONNECT, 0);
		handle->lent.fresh_connect = false;
	}
}

void lend_attempt(struct handle *handle, const struct course *course, const struct lend_wishes *wishes,
                  int64_t *lent_limit_ms)
{
	const struct engine_plan *plan = &course->plan;
	int64_t limit_ms = earlier(plan->limit_ms, plan->header_limit_ms);
	if (limit_ms != ENGINE_NEVER || handle->lent.timeout)
		lend_timeout(handle, limit_ms, lent_limit_ms);
	if (plan->connect_limit_ms != ENGINE_NEVER)
		lend_connect_timeout(handle, plan->connect_limit_ms);
	if (wishes->quick_exit)
		lend_quick_exit(handle);
	lend_connection(handle, wishes->fresh_connection);
	if (wishes->fresh_lookup && set_number(handle, CURLOPT_DNS_CACHE_TIMEOUT, 0))
		handle->lent.dns_cache_timeout = true;
}

void lend_give_back_numbers(struct handle *handle)
{
	const struct lent_options *lent = &handle->lent;
	if (!lent->timeout && !lent->connect_timeout && !lent->fresh_connect && !lent->dns_cache_timeout &&
	    !lent->quick_exit && !lent->http_headers && !lent->no_progress && !lent->read && !lent->seek)
		return;
	give_back_options(handle->libcurl, &handle->program, &handle->lent, handle->curl);
}

void lend_lift_limits(struct handle *handle, struct course *course, int64_t *lent_limit_ms)
{
	course->plan.header_limit_ms = ENGINE_NEVER;
	if (handle->lent.timeout && *lent_limit_ms != course->plan.limit_ms)
		lend_timeout(handle, course->plan.limit_ms, lent_limit_ms);
}

void lend_limit_rest(struct handle *handle, const struct course *course, int64_t limit_ms, int64_t *lent_limit_ms)
{
	int64_t end_ms = clock_ms() - course->start_ms + limit_ms;
	lend_timeout(handle, earlier(end_ms, course->plan.limit_ms), lent_limit_ms);
}

void lend_refresh_timeout(struct handle *handle, const struct course *course, int64_t *lent_limit_ms)
{
	if (handle->lent.timeout)
		lend_timeout(handle, earlier(course->plan.limit_ms, course->plan.header_limit_ms), lent_limit_ms);
}
