/* SPDX-License-Identifier: MIT */

/*
 * Leaves curl_easy_perform in the middle of a wait, then uses the same handle again:
 *
 *     abandoned URL jump|cancel same|other
 *
 * jump: by longjmp out of the progress callback; cancel: by pthread_cancel. same, other: which thread uses it again.
 */

#define CURL_DISABLE_DEPRECATION /* the older progress function, which every libcurl has */
#include <curl/curl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The callback is called a few times for a response that is there already; so many calls mean a wait. */
#define CALLS_OF_A_WAIT 5
#define ROOM_BYTES      65536

static CURL *curl;
static jmp_buf jump_back;
static bool jumps, leaves = true, uses_again_in_thread;
static _Atomic int calls_after_response;
static size_t body_bytes;
static char *volatile deepest; /* makes the compiler keep all of the array that it points to */

static size_t on_body(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	body_bytes += size * count;
	return size * count;
}

static int on_progress(void *data, double a, double b, double c, double d)
{
	(void)data, (void)a, (void)b, (void)c, (void)d;
	long status = 0;
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	calls_after_response += status == 503;
	if (jumps && leaves && calls_after_response > CALLS_OF_A_WAIT)
		longjmp(jump_back, 1);
	return 0;
}

static void perform(const char *what)
{
	long status = 0;
	body_bytes = 0;
	CURLcode result = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	printf("%s result %d status %ld body %zu\n", what, result, status, body_bytes);
}

static __attribute__((noinline)) void *use_again(void *data)
{
	/* Deeper in the stack than the frame that was left (inlined it wouldn't be), so that nothing overwrites that
	 * one. */
	char room[ROOM_BYTES];
	deepest = room;
	leaves = false;
	perform("again");
	return data;
}

static void *leave(void *data)
{
	if (setjmp(jump_back) == 0) {
		perform("left");
		return data;
	}
	puts("jumped");
	if (!uses_again_in_thread)
		use_again(data);
	return data;
}

static void run_in_thread(void *(*work)(void *), bool cancels)
{
	pthread_t thread;
	void *result = NULL;
	pthread_create(&thread, NULL, work, NULL);
	if (cancels) {
		while (calls_after_response <= CALLS_OF_A_WAIT)
			usleep(1000);
		pthread_cancel(thread);
	}
	pthread_join(thread, &result);
	if (cancels)
		puts(result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 99;
	jumps = strcmp(argv[2], "jump") == 0;
	uses_again_in_thread = strcmp(argv[3], "other") == 0;
	curl_global_init(CURL_GLOBAL_ALL);
	curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_PROGRESSFUNCTION, on_progress);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	run_in_thread(leave, !jumps);
	if (uses_again_in_thread)
		run_in_thread(use_again, false);
	/* And once more, by a thread that had no part in it. */
	perform("last");
	curl_easy_cleanup(curl);
	curl_global_cleanup();
	return 0;
}
