/* SPDX-License-Identifier: MIT */

/*
 * Uploads consecutive segments of one file, one to each URL, whatever becomes of them:
 *
 *     segments FILE BYTES file|seek|resume|ioctl|read cancels|- URL...
 *
 * file: libcurl reads the FILE*; the others by a read callback, with a seek or ioctl callback whose positions count
 * from the segment's beginning, or with none; resume: seek, without the segment's first third. cancels: ends the first
 * transfer by its progress callback, once it waits.
 */

#define CURL_DISABLE_DEPRECATION /* old options are what old programs use */
#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "waits.h"

static CURL *curl;
static FILE *file;
static long begin, segment_bytes;
static bool cancels;

static size_t on_read(char *out, size_t size, size_t count, void *data)
{
	long left = begin + segment_bytes - ftell(file);
	size_t room = size * count;
	(void)data;
	return fread(out, 1, left < (long)room ? (size_t)left : room, file);
}

static int on_seek(void *data, curl_off_t offset, int origin)
{
	(void)data;
	(void)origin;
	return fseek(file, begin + (long)offset, SEEK_SET) == 0 ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

static curlioerr on_ioctl(CURL *handle, int command, void *data)
{
	(void)handle;
	(void)command;
	return on_seek(data, 0, SEEK_SET) == CURL_SEEKFUNC_OK ? CURLIOE_OK : CURLIOE_FAILRESTART;
}

static int on_progress(void *data, double a, double b, double c, double d)
{
	(void)data, (void)a, (void)b, (void)c, (void)d;
	return waits_for_retry(curl) && cancels;
}

static size_t discard(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	return size * count;
}

int main(int argc, char **argv)
{
	if (argc < 6 || !(file = fopen(argv[1], "r")))
		return 99;
	segment_bytes = strtol(argv[2], NULL, 10);
	cancels = strcmp(argv[4], "cancels") == 0;
	curl_global_init(CURL_GLOBAL_ALL);
	curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(curl, CURLOPT_INFILESIZE, segment_bytes);
	curl_easy_setopt(curl, CURLOPT_READDATA, file);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
	curl_easy_setopt(curl, CURLOPT_PROGRESSFUNCTION, on_progress);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	if (strcmp(argv[3], "file") != 0)
		curl_easy_setopt(curl, CURLOPT_READFUNCTION, on_read);
	if (strcmp(argv[3], "resume") == 0)
		curl_easy_setopt(curl, CURLOPT_RESUME_FROM, segment_bytes / 3);
	if (strcmp(argv[3], "seek") == 0 || strcmp(argv[3], "resume") == 0)
		curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, on_seek);
	if (strcmp(argv[3], "ioctl") == 0)
		curl_easy_setopt(curl, CURLOPT_IOCTLFUNCTION, on_ioctl);
	for (int i = 5; i < argc; i++) {
		long status = 0;
		begin = ftell(file);
		curl_easy_setopt(curl, CURLOPT_URL, argv[i]);
		CURLcode result = curl_easy_perform(curl);
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
		printf("%d %ld %ld\n", result, status, ftell(file));
		cancels = false;
	}
	curl_easy_cleanup(curl);
	curl_global_cleanup();
	fclose(file);
	return 0;
}
