/* SPDX-License-Identifier: MIT */

/*
 * Transfers around fork:
 *
 *     forks handles fork|_Fork URL
 *         The parent performs /parent; its child performs /inherited on that handle, /prepared on one that was only
 *         prepared before, /own on one of its own; then the parent performs /again.
 *
 *     forks waiting fork|_Fork URL N
 *         A thread performs /parent; while it waits for a retry, N children perform /child/0 …
 *
 *     forks storm fork|_Fork N
 *         N times, in a fresh process each: a thread does the process's first transfer, the process forks at a random
 *         moment of it, the child does a transfer. Against a port that refuses. Prints how many of them went wrong or
 *         hung.
 */

#include <arpa/inet.h>
#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "waits.h"

#define WATCHDOG_S 15 /* SIGALRM ends what hangs */

/* glibc 2.34 and later. */
extern pid_t _Fork(void) __attribute__((weak));
static pid_t (*fork_function)(void) = fork;

struct body {
	char text[64];
	size_t bytes;
};

static size_t on_body(char *bytes, size_t size, size_t count, void *data)
{
	struct body *body = data;
	size_t count_bytes = size * count;
	for (size_t i = 0; i < count_bytes && body->bytes < sizeof(body->text) - 1; i++)
		body->text[body->bytes++] = bytes[i];
	return count_bytes;
}

static void set_url(CURL *curl, const char *base, const char *path)
{
	char url[256];
	snprintf(url, sizeof(url), "%s%s", base, path);
	curl_easy_setopt(curl, CURLOPT_URL, url);
}

static CURL *open_handle(const char *base, const char *path)
{
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	set_url(curl, base, path);
	return curl;
}

static CURLcode perform(CURL *curl, const char *name)
{
	struct body body = {.bytes = 0};
	long status = 0;
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
	CURLcode result = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	printf("%s result %d status %ld body %s\n", name, result, status, body.text);
	fflush(stdout);
	return result;
}

static int wait_for(pid_t pid)
{
	int status = -1;
	waitpid(pid, &status, 0);
	return status;
}

static int run_handles(const char *base)
{
	CURL *used = open_handle(base, "/parent");
	CURL *prepared = open_handle(base, "/prepared");
	perform(used, "parent");
	pid_t child = fork_function();
	if (child == 0) {
		alarm(WATCHDOG_S);
		set_url(used, base, "/inherited");
		perform(used, "inherited");
		perform(prepared, "prepared");
		perform(open_handle(base, "/own"), "own");
		_exit(0);
	}
	int status = wait_for(child);
	set_url(used, base, "/again");
	perform(used, "again");
	return status != 0;
}

static atomic_bool is_waiting;

static int on_progress(void *curl, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent)
{
	(void)to_get, (void)got, (void)to_send, (void)sent;
	if (!atomic_load(&is_waiting) && waits_for_retry(curl))
		atomic_store(&is_waiting, 1);
	return 0;
}

static void *perform_parent(void *base)
{
	CURL *curl = open_handle(base, "/parent");
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(curl, CURLOPT_XFERINFODATA, curl);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	perform(curl, "parent");
	atomic_store(&is_waiting, 1);
	curl_easy_cleanup(curl);
	return NULL;
}

static int run_waiting(char *base, int count)
{
	pthread_t thread;
	pthread_create(&thread, NULL, perform_parent, base);
	while (!atomic_load(&is_waiting))
		usleep(1000);
	int failed = 0;
	for (int i = 0; i < count; i++) {
		pid_t child = fork_function();
		if (child == 0) {
			char path[32];
			alarm(WATCHDOG_S);
			snprintf(path, sizeof(path), "/child/%d", i);
			CURL *curl = open_handle(base, path);
			_exit(perform(curl, path + 1) == CURLE_OK ? 0 : 1);
		}
		failed += wait_for(child) != 0;
	}
	pthread_join(thread, NULL);
	return failed;
}

static void *perform_refused(void *base)
{
	CURL *curl = open_handle(base, "/");
	CURLcode result = curl_easy_perform(curl);
	curl_easy_cleanup(curl);
	return result == CURLE_COULDNT_CONNECT ? NULL : base;
}

static void spin_us(long duration_us)
{
	struct timespec begin, now;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < duration_us);
}

/* One process of the storm. Returns 0 if all went well. */
static int run_drop(char *base, long moment_us)
{
	pthread_t thread;
	void *thread_failed = NULL;
	alarm(WATCHDOG_S);
	pthread_create(&thread, NULL, perform_refused, base);
	spin_us(moment_us);
	pid_t child = fork_function();
	if (child == 0) {
		alarm(WATCHDOG_S);
		_exit(perform_refused(base) ? 1 : 0);
	}
	int status = wait_for(child);
	pthread_join(thread, &thread_failed);
	return status != 0 || thread_failed;
}

/* A port that refuses as long as the process lives: bound, but nobody listens. */
static int bind_refusing_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(fd, (struct sockaddr *)&address, bytes) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &bytes) != 0)
		exit(2);
	return ntohs(address.sin_port);
}

static int run_storm(int count)
{
	char base[64];
	int failed = 0, done = 0;
	snprintf(base, sizeof(base), "http://127.0.0.1:%d", bind_refusing_port());
	/* After _Fork only what needs no lock of the loader can work: let each libcurl be known before it is called. */
	if (fork_function == _Fork)
		curl_easy_cleanup(curl_easy_init());
	srand(1);
	for (; done < count && !failed; done++) {
		long moment_us = rand() % 2500;
		pid_t child = fork();
		if (child == 0)
			_exit(run_drop(base, moment_us));
		failed += wait_for(child) != 0;
	}
	printf("%d of %d went wrong\n", failed, done);
	return failed;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	if (strcmp(argv[2], "_Fork") == 0)
		fork_function = _Fork;
	if (!fork_function) {
		puts("no _Fork");
		return 0;
	}
	/* Once for all, as libcurl's manual wants it: what follows forks with threads running. */
	curl_global_init(CURL_GLOBAL_DEFAULT);
	if (strcmp(argv[1], "handles") == 0)
		return run_handles(argv[3]);
	if (strcmp(argv[1], "waiting") == 0 && argc > 4)
		return run_waiting(argv[3], atoi(argv[4]));
	return strcmp(argv[1], "storm") == 0 ? run_storm(atoi(argv[3])) : 2;
}
