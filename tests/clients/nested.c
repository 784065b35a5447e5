/* SPDX-License-Identifier: MIT */

/*
 * A program with a retry layer of its own, as two nested loops around curl_easy_perform():
 *
 *     nested URL [option=value …]
 *
 * outer, inner        turns of the loops; 1
 * handles             new: one for each call · same: one for all · pool: a few, taken in turn
 * site                1, 2: the place in the program that makes the calls
 * threads             so many run the loops, and begin at once; 1
 * thread_per_call     1: each call in a thread of its own, one after the other
 * paths               call number n asks for URL/(n mod paths); 0: always for URL
 * method, body        verb; text of a POST
 * second_method       verb of every second call
 * vary_body           1: the number of the call is added to the body
 * abort_call          in this call the read callback aborts, once
 * streamed            1: the body comes from a read callback
 * source              seek: … that has a seek callback; put, chunked: so, with UPLOAD; file: FILE* of the file that
 * body names; mime, form, mimefile, formfile: a part with the body, or with that file;
 *                     mimeseek: with the body from a callback that can seek header              a request
 * header; may come several times failonerror, timeout_ms     as in libcurl abort_after_ms      the progress callback
 * ends a call that is so old; 0: never sleep_ms            between two calls; or sleep_outer_ms, after a turn of the
 * outer loop stop_on_success     1: a status below 400 ends the loops
 *
 * Prints a line for each call: number, CURLcode, status, its begin and end (microseconds of CLOCK_MONOTONIC), and the
 * text of the error buffer.
 */

#define CURL_DISABLE_DEPRECATION /* forms are what old programs use */
#include <curl/curl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX 64
#define POOL        4

static const char *base_url, *handles = "new", *method, *second_method, *body, *source = "";
static struct curl_slist *headers;
static int outer = 1, inner = 1, site = 1, thread_count = 1, thread_per_call, paths, vary_body, streamed, failonerror;
static int abort_call, timeout_ms, abort_after_ms, sleep_ms, sleep_outer_ms, stop_on_success;
static pthread_barrier_t begin;

struct call {
	CURL *curl;
	int number;
	CURLcode result;
	long status;
	long long begin_us, end_us;
	char error_text[CURL_ERROR_SIZE];
	char url[1024], body[1024];
	size_t sent_bytes; /* of a body that is streamed */
	int seeks;
	bool has_aborted;
	FILE *file;
	curl_mime *mime;
	struct curl_httppost *form;
};

static long long now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void pause_ms(int duration_ms)
{
	const struct timespec duration = {duration_ms / 1000, duration_ms % 1000 * 1000000L};
	if (duration_ms > 0)
		nanosleep(&duration, NULL);
}

static size_t discard(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	return size * count;
}

static size_t give_body(char *bytes, size_t size, size_t count, void *data)
{
	struct call *call = data;
	const size_t left = strlen(call->body) - call->sent_bytes;
	const size_t given = left < size * count ? left : size * count;
	if (call->number == abort_call && !call->has_aborted) {
		call->has_aborted = true;
		return CURL_READFUNC_ABORT;
	}
	memcpy(bytes, call->body + call->sent_bytes, given);
	call->sent_bytes += given;
	return given;
}

static int seek_body(void *data, curl_off_t offset, int whence)
{
	struct call *call = data;
	(void)whence;
	call->sent_bytes = (size_t)offset;
	call->seeks++;
	return CURL_SEEKFUNC_OK;
}

static int on_progress(void *data, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
	const struct call *call = data;
	(void)down_total;
	(void)down;
	(void)up_total;
	(void)up;
	return abort_after_ms > 0 && now_us() - call->begin_us >= abort_after_ms * 1000LL;
}

static void set_upload(struct call *call)
{
	bool has_size = strcmp(source, "chunked") != 0;
	curl_easy_setopt(call->curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(call->curl, CURLOPT_INFILESIZE, has_size ? (long)strlen(call->body) : -1L);
	curl_easy_setopt(call->curl, CURLOPT_READFUNCTION, give_body);
	curl_easy_setopt(call->curl, CURLOPT_READDATA, call);
	curl_easy_setopt(call->curl, CURLOPT_SEEKFUNCTION, seek_body);
	curl_easy_setopt(call->curl, CURLOPT_SEEKDATA, call);
}

static void set_file(struct call *call)
{
	call->file = fopen(call->body, "rb");
	if (!call->file)
		exit(99);
	fseek(call->file, 0, SEEK_END);
	curl_easy_setopt(call->curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(call->curl, CURLOPT_INFILESIZE, ftell(call->file));
	curl_easy_setopt(call->curl, CURLOPT_READDATA, call->file);
	rewind(call->file);
}

static void set_mime(struct call *call)
{
	call->mime = curl_mime_init(call->curl);
	curl_mimepart *part = curl_mime_addpart(call->mime);
	curl_mime_name(part, "part");
	if (strcmp(source, "mime") == 0)
		curl_mime_data(part, call->body, CURL_ZERO_TERMINATED);
	else if (strcmp(source, "mimeseek") == 0)
		curl_mime_data_cb(part, (curl_off_t)strlen(call->body), give_body, seek_body, NULL, call);
	else
		curl_mime_filedata(part, call->body);
	curl_easy_setopt(call->curl, CURLOPT_MIMEPOST, call->mime);
}

static void set_form(struct call *call)
{
	struct curl_httppost *last = NULL;
	CURLformoption kind = strcmp(source, "form") == 0 ? CURLFORM_COPYCONTENTS : CURLFORM_FILE;
	curl_formadd(&call->form, &last, CURLFORM_COPYNAME, "part", kind, call->body, CURLFORM_END);
	curl_easy_setopt(call->curl, CURLOPT_HTTPPOST, call->form);
}

static void set_body(struct call *call)
{
	if (strcmp(source, "put") == 0 || strcmp(source, "chunked") == 0) {
		set_upload(call);
	} else if (strcmp(source, "file") == 0) {
		set_file(call);
	} else if (strncmp(source, "mime", 4) == 0) {
		set_mime(call);
	} else if (strncmp(source, "form", 4) == 0) {
		set_form(call);
	} else if (streamed || strcmp(source, "seek") == 0) {
		if (!streamed) {
			curl_easy_setopt(call->curl, CURLOPT_SEEKFUNCTION, seek_body);
			curl_easy_setopt(call->curl, CURLOPT_SEEKDATA, call);
		}
		curl_easy_setopt(call->curl, CURLOPT_POST, 1L);
		curl_easy_setopt(call->curl, CURLOPT_POSTFIELDS, NULL);
		curl_easy_setopt(call->curl, CURLOPT_POSTFIELDSIZE, (long)strlen(call->body));
		curl_easy_setopt(call->curl, CURLOPT_READFUNCTION, give_body);
		curl_easy_setopt(call->curl, CURLOPT_READDATA, call);
	} else {
		curl_easy_setopt(call->curl, CURLOPT_POSTFIELDS, call->body);
	}
}

static void set_up(struct call *call)
{
	CURL *curl = call->curl;
	if (paths > 0)
		snprintf(call->url, sizeof(call->url), "%s/%d", base_url, (call->number - 1) % paths);
	else
		snprintf(call->url, sizeof(call->url), "%s", base_url);
	curl_easy_setopt(curl, CURLOPT_URL, call->url);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, call->error_text);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_FAILONERROR, (long)failonerror);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(curl, CURLOPT_XFERINFODATA, call);
	if (body) {
		snprintf(call->body, sizeof(call->body), vary_body ? "%s %d" : "%s", body, call->number);
		set_body(call);
	}
	const char *verb = second_method && call->number % 2 == 0 ? second_method : method;
	if (verb)
		curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, verb);
}

/* What comes after the calls keeps them apart: else a compiler may make one of the two, or jump to libcurl. */
static _Thread_local int calls_of_site[2];

static CURLcode perform_here(CURL *curl)
{
	const CURLcode result = curl_easy_perform(curl);
	calls_of_site[0]++;
	return result;
}

static CURLcode perform_elsewhere(CURL *curl)
{
	const CURLcode result = curl_easy_perform(curl);
	calls_of_site[1]++;
	return result;
}

static void *perform(void *data)
{
	struct call *call = data;
	set_up(call);
	call->begin_us = now_us();
	call->result = site == 2 ? perform_elsewhere(call->curl) : perform_here(call->curl);
	call->end_us = now_us();
	curl_easy_getinfo(call->curl, CURLINFO_RESPONSE_CODE, &call->status);
	return NULL;
}

static void perform_in_thread_of_its_own(struct call *call)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, perform, call) != 0)
		exit(99);
	pthread_join(thread, NULL);
}

/* Makes call `number` with a handle of the thread's. Returns whether it succeeded. */
static bool make_call(CURL **pool, int number)
{
	struct call call = {.number = number};
	CURL **kept = &pool[strcmp(handles, "pool") == 0 ? number % POOL : 0];
	if (!*kept)
		*kept = curl_easy_init();
	call.curl = *kept;
	if (thread_per_call)
		perform_in_thread_of_its_own(&call);
	else
		perform(&call);
	printf("%d %d %ld %lld %lld %s\n", number, call.result, call.status, call.begin_us, call.end_us,
	       call.error_text);
	if (call.file)
		fclose(call.file);
	curl_mime_free(call.mime);
	curl_formfree(call.form);
	if (strcmp(handles, "new") == 0) {
		curl_easy_cleanup(*kept);
		*kept = NULL;
	}
	return call.result == CURLE_OK && call.status < 400;
}

static void run_loops(CURL **pool)
{
	int number = 0;
	for (int i = 0; i < outer; i++) {
		for (int k = 0; k < inner; k++) {
			if (number > 0)
				pause_ms(k > 0 ? sleep_ms : sleep_ms + sleep_outer_ms);
			if (make_call(pool, ++number) && stop_on_success)
				return;
		}
	}
}

static void *run_thread(void *data)
{
	CURL *pool[POOL] = {NULL};
	(void)data;
	pthread_barrier_wait(&begin);
	run_loops(pool);
	for (int i = 0; i < POOL; i++)
		curl_easy_cleanup(pool[i]);
	return NULL;
}

static void read_option(char *word)
{
	const struct {
		const char *name;
		int *number;
		const char **text;
	} options[] = {
	    {"outer", .number = &outer},
	    {"inner", .number = &inner},
	    {"site", .number = &site},
	    {"threads", .number = &thread_count},
	    {"thread_per_call", .number = &thread_per_call},
	    {"paths", .number = &paths},
	    {"vary_body", .number = &vary_body},
	    {"abort_call", .number = &abort_call},
	    {"streamed", .number = &streamed},
	    {"failonerror", .number = &failonerror},
	    {"timeout_ms", .number = &timeout_ms},
	    {"abort_after_ms", .number = &abort_after_ms},
	    {"sleep_ms", .number = &sleep_ms},
	    {"sleep_outer_ms", .number = &sleep_outer_ms},
	    {"stop_on_success", .number = &stop_on_success},
	    {"handles", .text = &handles},
	    {"method", .text = &method},
	    {"second_method", .text = &second_method},
	    {"body", .text = &body},
	    {"source", .text = &source},
	};
	const size_t name_bytes = strcspn(word, "=");
	const char *value = word[name_bytes] ? word + name_bytes + 1 : "";
	if (strncmp(word, "header=", strlen("header=")) == 0) {
		headers = curl_slist_append(headers, value);
		return;
	}
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (strlen(options[i].name) != name_bytes || strncmp(word, options[i].name, name_bytes) != 0)
			continue;
		if (options[i].number)
			*options[i].number = atoi(value);
		else
			*options[i].text = value;
		return;
	}
	fprintf(stderr, "nested: no option is called %s\n", word);
	exit(99);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	if (argc < 2)
		return 99;
	base_url = argv[1];
	for (int i = 2; i < argc; i++)
		read_option(argv[i]);
	if (thread_count < 1 || thread_count > THREADS_MAX)
		return 99;
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	pthread_barrier_init(&begin, NULL, (unsigned)thread_count);
	/* The main thread is one of them: that of most programs. */
	for (int i = 1; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, run_thread, NULL) != 0)
			return 99;
	run_thread(NULL);
	for (int i = 1; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	curl_slist_free_all(headers);
	curl_global_cleanup();
	return 0;
}
