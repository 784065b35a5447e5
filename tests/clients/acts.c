/* SPDX-License-Identifier: MIT */

/*
 * Acts in its header callback, and prints what it is given:
 *
 *     acts URL ACTION LINE [OPTION...]
 *
 * At the first line that begins with LINE it does ACTION: `stays` turns FOLLOWLOCATION off, `switches` lets another
 * function have the lines from there on, `unpauses` goes on with the upload, which waits for that; `none`. Options:
 * by-write (HEADERDATA without HEADERFUNCTION), in-body (HEADER), put (an upload), post, expect, user=NAME:PASSWORD,
 * pauses (at that line, until the next progress call).
 */

#define CURL_DISABLE_DEPRECATION /* the older progress function, which every libcurl has */
#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE_S 20

static CURL *curl;
static const char *action, *awaited;
static bool acted, goes_on, waits, pauses, is_paused;
static size_t sent_bytes;
static const char body[] = "the whole body";

static void print(const char *who, const char *bytes, size_t count)
{
	while (count > 0 && (bytes[count - 1] == '\n' || bytes[count - 1] == '\r'))
		count--;
	printf("%s %.*s\n", who, (int)count, bytes);
}

static size_t on_other_header(char *bytes, size_t size, size_t count, void *data)
{
	(void)data;
	print("other", bytes, size * count);
	return size * count;
}

static void act(void)
{
	acted = true;
	if (strcmp(action, "stays") == 0)
		curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	if (strcmp(action, "switches") == 0)
		curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_other_header);
	goes_on = strcmp(action, "unpauses") == 0;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *data)
{
	bool is_awaited = size * count >= strlen(awaited) && memcmp(bytes, awaited, strlen(awaited)) == 0;
	(void)data;
	if (is_awaited && pauses) {
		pauses = false;
		is_paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	print("line", bytes, size * count);
	if (is_awaited && !acted)
		act();
	return size * count;
}

static size_t on_write(char *bytes, size_t size, size_t count, void *data)
{
	bool is_awaited = size * count >= strlen(awaited) && memcmp(bytes, awaited, strlen(awaited)) == 0;
	if (data == (void *)&curl || is_awaited)
		return on_header(bytes, size, count, data);
	print("body", bytes, size * count);
	return size * count;
}

static size_t on_read(char *bytes, size_t size, size_t count, void *data)
{
	(void)data;
	if (!goes_on && strcmp(action, "unpauses") == 0) {
		if (!waits)
			printf("waits\n");
		waits = true;
		return CURL_READFUNC_PAUSE;
	}
	size_t left = strlen(body) - sent_bytes, given = size * count < left ? size * count : left;
	memcpy(bytes, body + sent_bytes, given);
	sent_bytes += given;
	return given;
}

/* Back to the beginning, where the next attempt waits again. */
static int on_seek(void *data, curl_off_t offset, int origin)
{
	(void)data;
	(void)origin;
	sent_bytes = (size_t)offset;
	goes_on = acted = waits = false;
	return CURL_SEEKFUNC_OK;
}

static int on_progress(void *data, double a, double b, double c, double d)
{
	(void)data, (void)a, (void)b, (void)c, (void)d;
	if (goes_on || is_paused)
		curl_easy_pause(curl, CURLPAUSE_CONT);
	is_paused = false;
	return 0;
}

static struct curl_slist *headers;

static void set(const char *option)
{
	if (strcmp(option, "by-write") == 0) {
		curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, NULL);
		curl_easy_setopt(curl, CURLOPT_HEADERDATA, &curl);
	} else if (strcmp(option, "in-body") == 0) {
		curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, NULL);
		curl_easy_setopt(curl, CURLOPT_HEADER, 1L);
	} else if (strcmp(option, "put") == 0) {
		curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(curl, CURLOPT_INFILESIZE, (long)strlen(body));
	} else if (strcmp(option, "post") == 0) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	} else if (strncmp(option, "user=", 5) == 0) {
		curl_easy_setopt(curl, CURLOPT_USERPWD, option + 5);
	} else if (strcmp(option, "pauses") == 0) {
		pauses = true;
	} else {
		headers = curl_slist_append(headers, "Expect: 100-continue");
	}
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 99;
	action = argv[2];
	awaited = argv[3];
	setvbuf(stdout, NULL, _IONBF, 0);
	curl_global_init(CURL_GLOBAL_ALL);
	curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)PATIENCE_S);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_write);
	curl_easy_setopt(curl, CURLOPT_READFUNCTION, on_read);
	curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, on_seek);
	curl_easy_setopt(curl, CURLOPT_PROGRESSFUNCTION, on_progress);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	for (int i = 4; i < argc; i++)
		set(argv[i]);
	/* libcurl's own, so that a request without one doesn't get it. */
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers ? headers : curl_slist_append(NULL, "Expect:"));
	long status = 0;
	CURLcode result = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	printf("result %d status %ld\n", result, status);
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	curl_global_cleanup();
	return 0;
}
