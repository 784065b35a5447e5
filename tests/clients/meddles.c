/* SPDX-License-Identifier: MIT */

/*
 * Uses a handle in a callback of its own transfer:
 *
 *     meddles URL WHERE WHAT
 *
 * WHERE: wait (the progress callback, while tenacurl waits), header, write, read, seek. WHAT: perform, cleanup, reset,
 * duplicate, pause, set, unread (no read function any more), add (to a multi handle); fork, _Fork, clone (of the whole
 * process: parent and child return from the callback).
 */

#define CURL_DISABLE_DEPRECATION /* the older progress function, which every libcurl has */
#include <curl/curl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "waits.h"

/* glibc 2.34 and later. */
extern pid_t _Fork(void) __attribute__((weak));

static CURL *curl;
static CURLM *multi;
static const char *where, *what;
static bool done, is_gone;
static pid_t child = -1;
static size_t body_bytes, sent_bytes;
static char error_text[CURL_ERROR_SIZE];

static void fork_by(const char *way)
{
	if (strcmp(way, "_Fork") == 0)
		child = _Fork ? _Fork() : fork();
	else if (strcmp(way, "clone") == 0)
		child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	else
		child = fork();
}

static void meddle(const char *place)
{
	if (done || strcmp(place, where) != 0)
		return;
	done = true;
	if (strcmp(what, "perform") == 0) {
		CURLcode result = curl_easy_perform(curl);
		printf("second perform %d %s\n", result, error_text);
	} else if (strcmp(what, "cleanup") == 0) {
		is_gone = true;
		curl_easy_cleanup(curl);
	} else if (strcmp(what, "reset") == 0) {
		curl_easy_reset(curl);
	} else if (strcmp(what, "duplicate") == 0) {
		curl_easy_cleanup(curl_easy_duphandle(curl));
	} else if (strcmp(what, "pause") == 0) {
		printf("pause %d\n", curl_easy_pause(curl, CURLPAUSE_CONT));
	} else if (strcmp(what, "set") == 0) {
		printf("set %d\n", curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L));
	} else if (strcmp(what, "unread") == 0) {
		curl_easy_setopt(curl, CURLOPT_READFUNCTION, NULL);
	} else if (strcmp(what, "add") == 0) {
		multi = curl_multi_init();
		curl_multi_add_handle(multi, curl);
	} else {
		fork_by(what);
	}
}

static size_t on_write(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	meddle("write");
	body_bytes += size * count;
	return size * count;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	meddle("header");
	return size * count;
}

static size_t on_read(char *out, size_t size, size_t count, void *data)
{
	static const char body[] = "the whole body";
	const size_t piece = size * count < 7 ? size * count : 7, left = strlen(body) - sent_bytes;
	const size_t given = piece < left ? piece : left;
	(void)data;
	meddle("read");
	memcpy(out, body + sent_bytes, given);
	sent_bytes += given;
	return given;
}

static int on_seek(void *data, curl_off_t offset, int origin)
{
	(void)data;
	(void)origin;
	meddle("seek");
	sent_bytes = (size_t)offset;
	return CURL_SEEKFUNC_OK;
}

static int on_progress(void *data, double a, double b, double c, double d)
{
	(void)data, (void)a, (void)b, (void)c, (void)d;
	if (!done && waits_for_retry(curl))
		meddle("wait");
	return 0;
}

static void set_up(const char *url)
{
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error_text);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_write);
	curl_easy_setopt(curl, CURLOPT_PROGRESSFUNCTION, on_progress);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(curl, CURLOPT_POST, 1L);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, 14L);
	curl_easy_setopt(curl, CURLOPT_READFUNCTION, on_read);
	curl_easy_setopt(curl, CURLOPT_READDATA, (void *)1); /* whoever takes it for a FILE * crashes */
	curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, on_seek);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 99;
	where = argv[2];
	what = argv[3];
	setvbuf(stdout, NULL, _IONBF, 0);
	curl_global_init(CURL_GLOBAL_ALL);
	curl = curl_easy_init();
	set_up(argv[1]);
	CURLcode result = curl_easy_perform(curl);
	long status = 0;
	int child_status = 0;
	if (child > 0)
		waitpid(child, &child_status, 0);
	if (!is_gone)
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	printf("%s result %d status %ld body %zu\n", child == 0 ? "child" : "program", result, status, body_bytes);
	if (child == 0)
		_exit(0);
	if (multi) {
		curl_multi_remove_handle(multi, curl);
		curl_multi_cleanup(multi);
	}
	if (!is_gone)
		curl_easy_cleanup(curl);
	curl_global_cleanup();
	return child_status != 0;
}
