/* SPDX-License-Identifier: MIT */

/*
 * Ways of using a handle that nobody else may interfere with:
 *
 *     left_alone URL connect-only     perform connects, the program sends and receives by itself
 *     left_alone URL multi            one easy perform, then the same handle in a multi handle
 *     left_alone URL multi-then-easy  the same, and an easy perform after that
 */

#define CURL_DISABLE_DEPRECATION /* CURLINFO_LASTSOCKET, which every libcurl has */
#include <curl/curl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define RECEIVE_TIMEOUT_MS 30000

static size_t on_header(char *bytes, size_t size, size_t count, void *data)
{
	printf("%s header %.*s", (const char *)data, (int)(size * count), bytes);
	return size * count;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *data)
{
	printf("%s body %.*s\n", (const char *)data, (int)(size * count), bytes);
	return size * count;
}

static void print_result(CURL *curl, CURLcode result)
{
	long status = 0;
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	printf("result %d status %ld\n", result, status);
}

static size_t receive(CURL *curl, char *bytes, size_t room_bytes)
{
	long descriptor = -1;
	size_t count_bytes = 0;
	curl_easy_getinfo(curl, CURLINFO_LASTSOCKET, &descriptor);
	struct pollfd readable = {.fd = (int)descriptor, .events = POLLIN};
	if (poll(&readable, 1, RECEIVE_TIMEOUT_MS) != 1)
		return 0;
	return curl_easy_recv(curl, bytes, room_bytes, &count_bytes) == CURLE_OK ? count_bytes : 0;
}

static void talk(CURL *curl)
{
	static const char request[] = "GET /by-hand HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	char answer[4096];
	size_t sent_bytes = 0, answer_bytes = 0;
	curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
	print_result(curl, curl_easy_perform(curl));
	if (curl_easy_send(curl, request, strlen(request), &sent_bytes) != CURLE_OK)
		return;
	for (size_t got; (got = receive(curl, answer + answer_bytes, sizeof(answer) - answer_bytes)) > 0;)
		answer_bytes += got;
	printf("received %.*s\n", (int)answer_bytes, answer);
}

static void perform_in_multi(CURL *curl)
{
	static char multi_label[] = "multi";
	void *label = multi_label;
	CURLM *multi = curl_multi_init();
	int running = 1, left = 0;
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, label);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, label);
	curl_multi_add_handle(multi, curl);
	while (running && curl_multi_perform(multi, &running) == CURLM_OK && running)
		curl_multi_wait(multi, NULL, 0, 1000, NULL);
	const CURLMsg *message = curl_multi_info_read(multi, &left);
	if (message)
		print_result(curl, message->data.result);
	curl_multi_remove_handle(multi, curl);
	curl_multi_cleanup(multi);
}

int main(int argc, char **argv)
{
	static char easy_label[] = "easy";
	void *label = easy_label;
	if (argc != 3)
		return 99;
	curl_global_init(CURL_GLOBAL_ALL);
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, label);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, label);
	if (strcmp(argv[2], "connect-only") == 0)
		talk(curl);
	else
		print_result(curl, curl_easy_perform(curl));
	if (strncmp(argv[2], "multi", strlen("multi")) == 0)
		perform_in_multi(curl);
	if (strcmp(argv[2], "multi-then-easy") == 0)
		print_result(curl, curl_easy_perform(curl));
	curl_easy_cleanup(curl);
	curl_global_cleanup();
	return 0;
}
