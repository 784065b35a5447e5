/* SPDX-License-Identifier: MIT */

/*
 * Many clients of one server: processes that each GET something at regular intervals, without retries or with a naive
 * loop that tries again at once. Each operation has a URL of its own, URL and a number: only the naive loop is to look
 * as if the program retried.
 *
 *     fleet URL CLIENTS INTERVAL_MS DURATION_MS BEGIN_MS ATTEMPTS TIMEOUT_MS
 *
 * BEGIN_MS is an instant of CLOCK_MONOTONIC, so that a server can know it too; it should be some intervals ahead, since
 * each client makes its first transfer, which isn't counted, before it. TIMEOUT_MS is of each attempt, 0: none.
 * Prints a line for each operation: when it began and ended, in ms since BEGIN_MS, and whether it succeeded.
 */

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP_INTERVALS 5 /* over which first transfers are spread: they cost more than others */

struct plan {
	const char *url;
	long clients;
	long interval_ms;
	long duration_ms;
	long begin_ms;
	long attempts;
	long timeout_ms;
};

static long now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void sleep_until(long ms)
{
	const struct timespec instant = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &instant, NULL);
}

static size_t discard(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	return size * count;
}

static bool get(CURL *curl, long attempts)
{
	for (; attempts > 0; attempts--)
		if (curl_easy_perform(curl) == CURLE_OK)
			return true;
	return false;
}

static CURL *make_handle(const struct plan *plan)
{
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
	curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, plan->timeout_ms);
	return curl;
}

static void set_url(CURL *curl, const struct plan *plan, long operation)
{
	char url[256];
	snprintf(url, sizeof(url), "%s%ld", plan->url, operation);
	curl_easy_setopt(curl, CURLOPT_URL, url);
}

static bool print_operation(const struct plan *plan, long began_ms, long ended_ms, bool succeeded)
{
	char line[96];
	int bytes = snprintf(line, sizeof(line), "%ld %ld %d\n", began_ms - plan->begin_ms, ended_ms - plan->begin_ms,
	                     succeeded);
	return write(STDOUT_FILENO, line, (size_t)bytes) == bytes; /* one write: lines of processes don't mix */
}

static void be_client(const struct plan *plan, long number)
{
	long end_ms = plan->begin_ms + plan->duration_ms;
	long next_ms = plan->begin_ms + plan->interval_ms * number / plan->clients;
	long place = plan->clients - number; /* the last client begins last */
	CURL *curl = make_handle(plan);
	sleep_until(plan->begin_ms - plan->interval_ms - place * WARM_UP_INTERVALS * plan->interval_ms / plan->clients);
	set_url(curl, plan, 0);
	get(curl, 1);
	for (long operation = 1; next_ms < end_ms; operation++) {
		set_url(curl, plan, operation);
		sleep_until(next_ms);
		long began_ms = now_ms();
		bool succeeded = get(curl, plan->attempts);
		long ended_ms = now_ms();
		if (!print_operation(plan, began_ms, ended_ms, succeeded))
			_exit(1);
		next_ms += plan->interval_ms;
		if (next_ms < ended_ms)
			next_ms = ended_ms;
	}
	curl_easy_cleanup(curl);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc != 8)
		return 99;
	const struct plan plan = {.url = argv[1],
	                          .clients = strtol(argv[2], NULL, 10),
	                          .interval_ms = strtol(argv[3], NULL, 10),
	                          .duration_ms = strtol(argv[4], NULL, 10),
	                          .begin_ms = strtol(argv[5], NULL, 10),
	                          .attempts = strtol(argv[6], NULL, 10),
	                          .timeout_ms = strtol(argv[7], NULL, 10)};
	int status, result = 0;
	for (long i = 0; i < plan.clients; i++) {
		pid_t child = fork();
		if (child == 0)
			be_client(&plan, i);
		if (child < 0)
			result = 1;
	}
	while (wait(&status) > 0)
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			result = 1;
	return result;
}
