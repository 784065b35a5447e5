/* SPDX-License-Identifier: MIT */

/*
 * What a handle costs: handles URL COUNT [get]
 *
 * Makes COUNT handles for URL, with `get` performs a GET on each (with a header and a write callback), and prints by
 * how many bytes the heap grew per handle. All of them are cleaned up at the end only.
 */

#include <curl/curl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT_MAX 100000

/* glibc 2.33 and later. */
extern struct mallinfo2 mallinfo2(void) __attribute__((weak));

static size_t discard(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	return size * count;
}

static CURL *open_handle(const char *url)
{
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, discard);
	/* A connection of its own for each handle would be most of what is measured. */
	curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
	return curl;
}

/* Arrays that are large are mapped, not part of the heap proper. */
static size_t heap_bytes(void)
{
	const struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

int main(int argc, char **argv)
{
	if (argc < 3 || !mallinfo2)
		return 99;
	const long count = strtol(argv[2], NULL, 10);
	if (count < 1 || count > COUNT_MAX)
		return 99;
	CURL **handles = calloc((size_t)count, sizeof(*handles));
	if (!handles)
		return 99;
	int failures = 0;
	curl_global_init(CURL_GLOBAL_ALL);
	/* What is made once per process comes with the first handle and its transfer. */
	CURL *first = open_handle(argv[1]);
	failures += argc > 3 && curl_easy_perform(first) != CURLE_OK;

	const size_t before_bytes = heap_bytes();
	for (long i = 0; i < count; i++) {
		handles[i] = open_handle(argv[1]);
		failures += argc > 3 && curl_easy_perform(handles[i]) != CURLE_OK;
	}
	printf("%ld\n", ((long)heap_bytes() - (long)before_bytes) / count);

	for (long i = 0; i < count; i++)
		curl_easy_cleanup(handles[i]);
	curl_easy_cleanup(first);
	curl_global_cleanup();
	free(handles);
	return failures ? 1 : 0;
}
