/* SPDX-License-Identifier: MIT */

/*
 * Transfers from many threads: threads URL [threads=N] [performs=N] [stack=KiB] [handover=1] [get=1]
 *
 * Each thread posts a text of its own so many times, and counts the answers that are this very text. handover: every
 * handle is made by one thread, used by a second and cleaned up by a third. get: each thread gets instead, and what is
 * right is a status 200. All begin to perform together. Prints "N of N right".
 */

#include <curl/curl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 256
#define TEXT_BYTES  64

static const char *url;
static int thread_count = 1, perform_count = 1, stack_kib, handover, get;
static pthread_barrier_t all_are_there;

struct worker {
	pthread_t thread;
	int number, right;
	CURL *curl;
	char answer[TEXT_BYTES];
	size_t answer_bytes;
};

static struct worker workers[THREADS_MAX];

static size_t on_body(char *bytes, size_t size, size_t count, void *data)
{
	struct worker *worker = data;
	size_t count_bytes = size * count;
	size_t room = sizeof(worker->answer) - 1 - worker->answer_bytes;
	size_t kept = count_bytes < room ? count_bytes : room;
	memcpy(worker->answer + worker->answer_bytes, bytes, kept);
	worker->answer_bytes += kept;
	worker->answer[worker->answer_bytes] = '\0';
	return count_bytes;
}

static void *open_handle(void *data)
{
	struct worker *worker = data;
	worker->curl = curl_easy_init();
	curl_easy_setopt(worker->curl, CURLOPT_URL, url);
	curl_easy_setopt(worker->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(worker->curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(worker->curl, CURLOPT_WRITEDATA, worker);
	return NULL;
}

static void *use_handle(void *data)
{
	struct worker *worker = data;
	pthread_barrier_wait(&all_are_there);
	for (int i = 0; i < perform_count; i++) {
		char text[TEXT_BYTES];
		long status = 0;
		snprintf(text, sizeof(text), "thread %d transfer %d", worker->number, i);
		worker->answer_bytes = 0;
		worker->answer[0] = '\0';
		if (!get)
			curl_easy_setopt(worker->curl, CURLOPT_POSTFIELDS, text);
		CURLcode result = curl_easy_perform(worker->curl);
		curl_easy_getinfo(worker->curl, CURLINFO_RESPONSE_CODE, &status);
		if (result == CURLE_OK && status == 200 && (get || strcmp(worker->answer, text) == 0))
			worker->right++;
		else
			fprintf(stderr, "%s: result %d, status %ld, \"%s\"\n", text, result, status, worker->answer);
	}
	return NULL;
}

static void *close_handle(void *data)
{
	struct worker *worker = data;
	curl_easy_cleanup(worker->curl);
	return NULL;
}

static void *run_whole(void *data)
{
	open_handle(data);
	use_handle(data);
	return close_handle(data);
}

/* Runs `work` in all threads at once and waits for them. */
static void run_in_threads(void *(*work)(void *))
{
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	if (stack_kib && pthread_attr_setstacksize(&attributes, (size_t)stack_kib * 1024) != 0)
		exit(2);
	for (int i = 0; i < thread_count; i++)
		if (pthread_create(&workers[i].thread, &attributes, work, &workers[i]) != 0)
			exit(2);
	for (int i = 0; i < thread_count; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_attr_destroy(&attributes);
}

static void read_option(const char *word)
{
	const struct {
		const char *name;
		int *value;
	} options[] = {{"threads=", &thread_count},
	               {"performs=", &perform_count},
	               {"stack=", &stack_kib},
	               {"handover=", &handover},
	               {"get=", &get}};
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strncmp(word, options[i].name, strlen(options[i].name)) == 0)
			*options[i].value = atoi(strchr(word, '=') + 1);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	url = argv[1];
	for (int i = 2; i < argc; i++)
		read_option(argv[i]);
	if (thread_count > THREADS_MAX)
		return 2;
	for (int i = 0; i < thread_count; i++)
		workers[i].number = i;
	pthread_barrier_init(&all_are_there, NULL, (unsigned)thread_count);
	curl_global_init(CURL_GLOBAL_DEFAULT);

	if (handover) {
		run_in_threads(open_handle);
		run_in_threads(use_handle);
		run_in_threads(close_handle);
	} else {
		run_in_threads(run_whole);
	}

	int right = 0;
	for (int i = 0; i < thread_count; i++)
		right += workers[i].right;
	printf("%d of %d right\n", right, thread_count * perform_count);
	return right == thread_count * perform_count ? 0 : 1;
}
