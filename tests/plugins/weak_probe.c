/* SPDX-License-Identifier: MIT */

/* A program that uses libcurl if it is there. It isn't: nothing here is linked to one. */

#include <stdio.h>

extern void *curl_easy_init(void) __attribute__((weak));
extern int curl_easy_setopt(void *curl, int option, ...) __attribute__((weak));
extern int curl_easy_perform(void *curl) __attribute__((weak));
extern void curl_easy_reset(void *curl) __attribute__((weak));
extern void *curl_easy_duphandle(void *curl) __attribute__((weak));
extern int curl_easy_pause(void *curl, int action) __attribute__((weak));
extern void curl_easy_cleanup(void *curl) __attribute__((weak));

int main(void)
{
	char no_handle[4096] = {0};
	if (!curl_easy_perform) {
		puts("no libcurl");
		return 0;
	}
	printf("init %p\n", curl_easy_init());
	printf("setopt %d\n", curl_easy_setopt(no_handle, 43, 1L));
	printf("perform %d\n", curl_easy_perform(no_handle));
	printf("perform %d\n", curl_easy_perform(NULL));
	printf("pause %d\n", curl_easy_pause(no_handle, 0));
	printf("duphandle %p\n", curl_easy_duphandle(no_handle));
	curl_easy_reset(no_handle);
	curl_easy_cleanup(no_handle);
	return 0;
}
