/* SPDX-License-Identifier: MIT */

/*
 * A transfer for each line on standard input, so that others can look at the process before and after.
 *
 *     on_demand URL
 *
 * Prints "ready", then a line with the result and the status of each transfer.
 */

#include <curl/curl.h>
#include <stdio.h>

static size_t ignore_body(char *bytes, size_t size, size_t count, void *context)
{
	(void)bytes;
	(void)context;
	return size * count;
}

int main(int argc, char **argv)
{
	char line[64];
	CURL *curl = curl_easy_init();
	if (argc != 2 || !curl)
		return 2;
	curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore_body);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		long status = 0;
		CURLcode result = curl_easy_perform(curl);
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
		printf("result %d status %ld\n", result, status);
		fflush(stdout);
	}
	curl_easy_cleanup(curl);
	return 0;
}
