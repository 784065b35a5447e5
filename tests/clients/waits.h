/* SPDX-License-Identifier: MIT */
#pragma once

/* Tells a program's progress callback that tenacurl waits for the retry of a 503. */

#define CURL_DISABLE_DEPRECATION /* CURLINFO_TOTAL_TIME is what every libcurl has */
#include <curl/curl.h>
#include <stdbool.h>
#include <time.h>

#define WAITS_CALLS 2

/* In a wait no transfer runs whose time would go on, and the calls are further apart. For one transfer of a process. */
static bool waits_for_retry(CURL *curl)
{
	static double last_s;
	static int calls;
	static struct timespec last;
	struct timespec now;
	double before_s = last_s;
	long status = 0;
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME, &last_s);
	clock_gettime(CLOCK_MONOTONIC, &now);
	long gap_ms = (now.tv_sec - last.tv_sec) * 1000 + (now.tv_nsec - last.tv_nsec) / 1000000;
	last = now;
	calls = status == 503 && last_s == before_s && gap_ms > 100 ? calls + 1 : 0;
	return calls >= WAITS_CALLS;
}
