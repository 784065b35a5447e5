/* SPDX-License-Identifier: MIT */

/* keepalive URL COUNT [headers]: performs COUNT GETs of URL on one handle; the measured program of scripts/bench. With
 * `headers` it has a header callback too. */

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

static size_t discard(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	return size * count;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 99;
	curl_global_init(CURL_GLOBAL_ALL);
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
	if (argc > 3)
		curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, discard);
	int failures = 0;
	for (long i = strtol(argv[2], NULL, 10); i > 0; i--)
		failures += curl_easy_perform(curl) != CURLE_OK;
	curl_easy_cleanup(curl);
	curl_global_cleanup();
	return failures ? 1 : 0;
}
