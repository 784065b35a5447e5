/* SPDX-License-Identifier: MIT */

/* Cancels a thread in the middle of a transfer of URL (which answers 503 with a long Retry-After), then goes on. */

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic(CURL *) first_handle;
static _Atomic int responses;

static size_t discard(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	return size * count;
}

/* Called during the transfer and, with tenacurl, during the wait after it. */
static int on_progress(void *data, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)data, (void)a, (void)b, (void)c, (void)d;
	long status = 0;
	curl_easy_getinfo(first_handle, CURLINFO_RESPONSE_CODE, &status);
	responses += status == 503;
	return 0;
}

static void *transfer(void *url)
{
	CURL *curl = curl_easy_init();
	first_handle = curl;
	curl_easy_setopt(curl, CURLOPT_URL, (const char *)url);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_perform(curl);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 99;
	pthread_t thread;
	void *result;
	curl_global_init(CURL_GLOBAL_ALL);
	pthread_create(&thread, NULL, transfer, argv[1]);
	/* Two calls after the response was seen: the thread is in the wait. */
	while (responses < 3)
		usleep(1000);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	puts(result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
	curl_easy_cleanup(first_handle);
	puts("first handle cleaned up");

	CURL *curl = curl_easy_init();
	long status = 0;
	curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
	CURLcode code = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	printf("another transfer %d %ld\n", code, status);
	curl_easy_cleanup(curl);
	return 0;
}
