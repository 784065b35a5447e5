/* SPDX-License-Identifier: MIT */

/*
 * A program's own functions under libcurl's names, as a program has them that is linked to libcurl.a with -rdynamic.
 * They need no network: perform gives 77.
 */

#include <stdio.h>

void *curl_easy_init(void);
int curl_easy_setopt(void *curl, int option, ...);
int curl_easy_getinfo(void *curl, int info, ...);
const char *curl_easy_strerror(int result);
int curl_easy_perform(void *curl);
void curl_easy_cleanup(void *curl);

static int handle;

void *curl_easy_init(void)
{
	return &handle;
}

int curl_easy_setopt(void *curl, int option, ...)
{
	(void)option;
	return curl == &handle ? 0 : 1;
}

int curl_easy_getinfo(void *curl, int info, ...)
{
	(void)info;
	return curl == &handle ? 0 : 1;
}

const char *curl_easy_strerror(int result)
{
	return result == 0 ? "right" : "wrong";
}

int curl_easy_perform(void *curl)
{
	return curl == &handle ? 77 : 1;
}

void curl_easy_cleanup(void *curl)
{
	puts(curl == &handle ? "cleaned up" : "not my handle");
}
