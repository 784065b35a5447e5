/* SPDX-License-Identifier: MIT */

/*
 * A C++ exception leaves curl_easy_perform through libcurl:
 *
 *     thrown URL header|write|progress
 *
 * It is thrown by the callback of that name: the first header line, the first body bytes, or in the middle of a wait.
 * Then come a transfer on a fresh handle, and for `progress` (a wait is no transfer of libcurl's) one on the same.
 */

#define CURL_DISABLE_DEPRECATION /* the older progress function, which every libcurl has */
#include <curl/curl.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace
{

/* The callback is called a few times for a response that is there already; so many calls mean a wait. */
constexpr int calls_of_a_wait = 5;

const char *thrower = "";
int calls_after_response;

size_t on_header(char *, size_t size, size_t count, void *)
{
	if (std::strcmp(thrower, "header") == 0)
		throw std::runtime_error("header");
	return size * count;
}

size_t on_write(char *, size_t size, size_t count, void *)
{
	if (std::strcmp(thrower, "write") == 0)
		throw std::runtime_error("write");
	return size * count;
}

int on_progress(void *curl, double, double, double, double)
{
	long status = 0;
	curl_easy_getinfo(static_cast<CURL *>(curl), CURLINFO_RESPONSE_CODE, &status);
	calls_after_response += status == 503;
	if (std::strcmp(thrower, "progress") == 0 && calls_after_response > calls_of_a_wait)
		throw std::runtime_error("progress");
	return 0;
}

CURL *open_handle(const char *url)
{
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_write);
	curl_easy_setopt(curl, CURLOPT_PROGRESSFUNCTION, on_progress);
	curl_easy_setopt(curl, CURLOPT_PROGRESSDATA, curl);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	return curl;
}

void perform(const char *what, CURL *curl)
{
	long status = 0;
	CURLcode result = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	std::printf("%s result %d status %ld\n", what, result, status);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 3)
		return 99;
	thrower = argv[2];
	curl_global_init(CURL_GLOBAL_ALL);
	CURL *first = open_handle(argv[1]), *fresh = open_handle(argv[1]);
	try {
		perform("first", first);
	} catch (const std::runtime_error &error) {
		std::printf("caught %s\n", error.what());
	}
	bool was_waiting = std::strcmp(thrower, "progress") == 0;
	thrower = "";
	perform("fresh", fresh);
	curl_easy_cleanup(fresh);
	if (was_waiting) {
		perform("same", first);
		curl_easy_cleanup(first);
	}
	/* libcurl can't clean up a handle that was left in the middle of a transfer. */
	return 0;
}
