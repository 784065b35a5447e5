/* SPDX-License-Identifier: MIT */

/*
 * Uploads over a network that fails at first: unlucky URL resolve|connect [failures=N] [handles=N] [proxy=URL]
 *
 * The first `failures` calls of getaddrinfo() for names below .test, or of connect() to loopback, fail as a rate
 * limited resolver and a host without a route do; names below .test are 127.0.0.1 otherwise. The two functions are
 * found before the C library's, since libcurl refers to them. Each handle makes one PUT from a read callback that can't
 * be rewound. Prints every result and how often the network was asked.
 */

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BODY_BYTES 2000

static int failures, handles = 1;
static bool fails_connect;
static const char *proxy;
static _Atomic int lookups, connects;

static bool ends_with_test(const char *name)
{
	size_t bytes = name ? strlen(name) : 0;
	return bytes >= strlen(".test") && strcmp(name + bytes - strlen(".test"), ".test") == 0;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
	__typeof__(&getaddrinfo) real = (__typeof__(&getaddrinfo))dlsym(RTLD_NEXT, "getaddrinfo");
	const struct addrinfo ipv4 = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
	if (!ends_with_test(name))
		return real(name, service, hints, result);
	/* A libcurl that asks for each family apart is answered in one of them. */
	if (hints && hints->ai_family == AF_INET6)
		return EAI_NONAME;
	if (++lookups <= failures && !fails_connect)
		return EAI_AGAIN;
	return real("127.0.0.1", service, &ipv4, result);
}

int connect(int socket, const struct sockaddr *address, socklen_t bytes)
{
	__typeof__(&connect) real = (__typeof__(&connect))dlsym(RTLD_NEXT, "connect");
	if (address->sa_family == AF_INET && ++connects <= failures && fails_connect) {
		errno = ENETUNREACH;
		return -1;
	}
	return real(socket, address, bytes);
}

static size_t on_read(char *out, size_t size, size_t count, void *data)
{
	int *left_bytes = data;
	size_t room_bytes = size * count;
	size_t given = (size_t)*left_bytes < room_bytes ? (size_t)*left_bytes : room_bytes;
	memset(out, 'u', given);
	*left_bytes -= (int)given;
	return given;
}

static size_t discard(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes, (void)data;
	return size * count;
}

static void perform(const char *url)
{
	int left_bytes = BODY_BYTES;
	long status = 0;
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROXY, proxy);
	curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(curl, CURLOPT_INFILESIZE, (long)BODY_BYTES);
	curl_easy_setopt(curl, CURLOPT_READFUNCTION, on_read);
	curl_easy_setopt(curl, CURLOPT_READDATA, &left_bytes);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
	CURLcode result = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	printf("result %d %ld\n", result, status);
	curl_easy_cleanup(curl);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 99;
	fails_connect = strcmp(argv[2], "connect") == 0;
	for (int i = 3; i < argc; i++) {
		if (strncmp(argv[i], "failures=", 9) == 0)
			failures = atoi(argv[i] + 9);
		else if (strncmp(argv[i], "handles=", 8) == 0)
			handles = atoi(argv[i] + 8);
		else if (strncmp(argv[i], "proxy=", 6) == 0)
			proxy = argv[i] + 6;
		else
			return 99;
	}
	curl_global_init(CURL_GLOBAL_ALL);
	for (int i = 0; i < handles; i++)
		perform(argv[1]);
	printf("asked %d\n", fails_connect ? connects : lookups);
	return 0;
}
