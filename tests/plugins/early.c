/* SPDX-License-Identifier: MIT */

/*
 * Transfers before main() begins and after it ended, in a program or in a library that it is linked to: the URLs are in
 * FETCH_IN_CONSTRUCTOR, FETCH_AT_EXIT and FETCH_IN_DESTRUCTOR.
 */

#include <stdlib.h>

#include "tests/plugins/fetch.h"

static void get(const char *name)
{
	const char *url = getenv(name);
	struct fetch *fetch = url ? fetch_functions.open(url) : NULL;
	if (!fetch)
		return;
	fetch_functions.perform_and_print(fetch, name);
	fetch_functions.close(fetch);
}

static void at_exit(void)
{
	get("FETCH_AT_EXIT");
}

__attribute__((constructor)) static void begin(void)
{
	get("FETCH_IN_CONSTRUCTOR");
	atexit(at_exit);
}

__attribute__((destructor)) static void end(void)
{
	get("FETCH_IN_DESTRUCTOR");
}
