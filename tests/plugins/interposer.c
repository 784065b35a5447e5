/* SPDX-License-Identifier: MIT */

/*
 * Another preload, which wraps curl_easy_perform: it says so to standard error for each call. With -DWRAPS_ALL it has
 * all that tenacurl takes for a sign of a libcurl.
 */

#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Defines a function that calls the next one of its name, and what else it does before. */
#define WRAP(type, name, parameters, arguments, before)                                                                \
	EXPORT type name parameters;                                                                                   \
	type name parameters                                                                                           \
	{                                                                                                              \
		type(*next) parameters;                                                                                \
		void *symbol = dlsym(RTLD_NEXT, #name);                                                                \
		if (!symbol)                                                                                           \
			_exit(4);                                                                                      \
		memcpy(&next, &symbol, sizeof(next));                                                                  \
		before;                                                                                                \
		return next arguments;                                                                                 \
	}

static void say(void)
{
	static const char line[] = "interposed\n";
	if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
		_exit(4);
}

WRAP(int, curl_easy_perform, (void *curl), (curl), say())

#ifdef WRAPS_ALL
WRAP(void *, curl_easy_init, (void), (), )
WRAP(int, curl_easy_setopt, (void *curl, int option, void *argument), (curl, option, argument), )
WRAP(int, curl_easy_getinfo, (void *curl, int info, void *argument), (curl, info, argument), )
WRAP(void, curl_easy_reset, (void *curl), (curl), )
WRAP(void *, curl_easy_duphandle, (void *curl), (curl), )
WRAP(void, curl_easy_cleanup, (void *curl), (curl), )
WRAP(int, curl_easy_pause, (void *curl, int action), (curl, action), )
WRAP(void *, curl_version_info, (int age), (age), )
#endif
