/* SPDX-License-Identifier: MIT */

/*
 * Handles that come and go in several threads, so that one thread gets the address which another has just given up:
 *
 *     recycled URL THREADS TRANSFERS HEADERS
 *
 * Every transfer is a new handle and must see status 200, HEADERS header lines and a body, by its own callbacks.
 */

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 16

struct seen {
	int headers;
	size_t body_bytes;
};

static const char *url;
static int transfer_count, header_count;
static _Atomic int whole_count;

static size_t on_header(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	((struct seen *)data)->headers++;
	return size * count;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	((struct seen *)data)->body_bytes += size * count;
	return size * count;
}

static void transfer(void)
{
	struct seen seen = {0};
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, &seen);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &seen);
	CURLcode result = curl_easy_perform(curl);
	long status = 0;
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_cleanup(curl);
	if (result == CURLE_OK && status == 200 && seen.headers == header_count && seen.body_bytes > 0)
		whole_count++;
	else
		fprintf(stderr, "result %d, status %ld, %d headers, body %zu\n", result, status, seen.headers,
		        seen.body_bytes);
}

static void *run(void *data)
{
	for (int i = 0; i < transfer_count; i++)
		transfer();
	return data;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	if (argc != 5 || atoi(argv[2]) > THREADS_MAX)
		return 99;
	url = argv[1];
	transfer_count = atoi(argv[3]);
	header_count = atoi(argv[4]);
	curl_global_init(CURL_GLOBAL_ALL);
	for (int i = 0; i < atoi(argv[2]); i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			return 2;
	for (int i = 0; i < atoi(argv[2]); i++)
		pthread_join(threads[i], NULL);
	printf("%d whole\n", whole_count);
	return 0;
}
