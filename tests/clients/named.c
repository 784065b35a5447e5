/* SPDX-License-Identifier: MIT */

/*
 * One request for $URL, whatever the command line says: a copy of it under an interpreter's name has that interpreter's
 * command line. CALLS is how often it asks (default: once), CHDIR where it goes before that.
 */

#include <curl/curl.h>
#include <stdlib.h>
#include <unistd.h>

static size_t ignore(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	return size * count;
}

int main(void)
{
	const char *calls = getenv("CALLS"), *directory = getenv("CHDIR");
	CURL *curl = curl_easy_init();
	int result = 0;

	if (directory && chdir(directory) != 0)
		return 1;
	curl_easy_setopt(curl, CURLOPT_URL, getenv("URL"));
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
	curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
	for (int i = calls ? atoi(calls) : 1; i > 0; i--)
		result = (int)curl_easy_perform(curl);
	curl_easy_cleanup(curl);
	return result;
}
