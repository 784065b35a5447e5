/* SPDX-License-Identifier: MIT */

/* Performs COUNT transfers of URL while a timer sends signals all the time. Handlers are installed without SA_RESTART.
 */

#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

static size_t discard(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	return size * count;
}

static int perform(CURL *curl)
{
	long status = 0;
	CURLcode result = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (result == CURLE_OK && status == 200)
		return 0;
	fprintf(stderr, "result %d, status %ld\n", result, status);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 99;
	struct sigaction action;
	memset(&action, 0, sizeof(action));
	action.sa_handler = count_signal;
	sigaction(SIGALRM, &action, NULL);
	const struct itimerval every_3_ms = {{0, 3000}, {0, 3000}};

	curl_global_init(CURL_GLOBAL_ALL);
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
	setitimer(ITIMER_REAL, &every_3_ms, NULL);
	int failures = 0;
	for (long i = strtol(argv[2], NULL, 10); i > 0; i--)
		failures += perform(curl);
	printf("signals %d\n", (int)signals);
	curl_easy_cleanup(curl);
	return failures ? 1 : 0;
}
