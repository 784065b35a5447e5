/* SPDX-License-Identifier: MIT */

/*
 * A retry loop as people write it by hand: hand_loop URL WAIT_MS
 *
 * GETs URL until it answers 200, WAIT_MS apart, and prints the microseconds from the first perform to the success.
 * Under a policy that waits as long, tenacurl makes the retries and the loop has nothing left to do.
 */

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ATTEMPTS_MAX 10

static size_t discard(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	return size * count;
}

static long now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static long get(CURL *curl)
{
	long status = 0;
	if (curl_easy_perform(curl) == CURLE_OK)
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 99;
	const long wait_ms = strtol(argv[2], NULL, 10);
	const struct timespec wait = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000};
	curl_global_init(CURL_GLOBAL_ALL);
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);

	const long began_us = now_us();
	int attempts = 1;
	long status;
	while ((status = get(curl)) != 200 && attempts++ < ATTEMPTS_MAX)
		nanosleep(&wait, NULL);
	printf("%ld\n", now_us() - began_us);

	curl_easy_cleanup(curl);
	curl_global_cleanup();
	return status == 200 ? 0 : 1;
}
