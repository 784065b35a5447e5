/* SPDX-License-Identifier: MIT */

/*
 * Transfers behind a slow or failing resolver:
 *
 *     lookups URL [delay_ms=N] [failures=N] [timeout_ms=N] [performs=N] [proxy=URL]
 *
 * The getaddrinfo() that libcurl gets is the one below: it takes `delay_ms`, fails the first `failures` times as an
 * overloaded server does, and knows 127.0.0.1 only. (Newer libcurls ask for IPv6 apart: that isn't counted.) Prints the
 * version of libcurl; every perform, on one handle, prints the result, the status and the number of look-ups so far.
 */

#include <curl/curl.h>
#include <dlfcn.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int delay_ms, failures, timeout_ms, performs = 1;
static const char *proxy;
static _Atomic int lookups;

/* Exported, since libcurl refers to it: found before the C library's. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
	__typeof__(&getaddrinfo) real = (__typeof__(&getaddrinfo))dlsym(RTLD_NEXT, "getaddrinfo");
	const struct timespec delay = {.tv_sec = delay_ms / 1000, .tv_nsec = delay_ms % 1000 * 1000000L};
	struct addrinfo ipv4 = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
	bool wants_ipv4 = !hints || hints->ai_family != AF_INET6;
	int number = wants_ipv4 ? ++lookups : 0;
	(void)name;
	nanosleep(&delay, NULL);
	if (!wants_ipv4)
		return EAI_NONAME;
	return number <= failures ? EAI_AGAIN : real("127.0.0.1", service, &ipv4, result);
}

static size_t discard(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	return size * count;
}

static long clock_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void perform(CURL *curl)
{
	long status = 0, began_ms = clock_ms();
	CURLcode result = curl_easy_perform(curl);
	long elapsed_ms = clock_ms() - began_ms;
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	printf("result %d status %ld lookups %d\n", result, status, lookups);
	fprintf(stderr, "elapsed_ms %ld\n", elapsed_ms);
}

static void read_option(const char *word)
{
	const struct {
		const char *name;
		int *value;
	} options[] = {
	    {"delay_ms=", &delay_ms}, {"failures=", &failures}, {"timeout_ms=", &timeout_ms}, {"performs=", &performs}};
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strncmp(word, options[i].name, strlen(options[i].name)) == 0)
			*options[i].value = atoi(strchr(word, '=') + 1);
	if (strncmp(word, "proxy=", strlen("proxy=")) == 0)
		proxy = strchr(word, '=') + 1;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 99;
	for (int i = 2; i < argc; i++)
		read_option(argv[i]);
	curl_global_init(CURL_GLOBAL_ALL);
	printf("libcurl %06x\n", curl_version_info(CURLVERSION_NOW)->version_num);
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_PROXY, proxy);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
	for (int i = 0; i < performs; i++)
		perform(curl);
	curl_easy_cleanup(curl);
	return 0;
}
