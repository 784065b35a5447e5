/* SPDX-License-Identifier: MIT */

/*
 * The exported functions: one entry point per function and version node, none with any logic. Each hands on its node
 * and its return address, by which interpose/libcurl.c knows whose call it is.
 */

#include <stdarg.h>

#include "interpose/entry.h"
#include "interpose/nodes.h"

#define ENTRY  __attribute__((visibility("default"), noinline))
#define CALLER __builtin_return_address(0)

#define SYMVER(function, suffix, version) __asm__(".symver " #function "_at_" #suffix ", " #function version)

#define DEFINE_ENTRIES(suffix, version, at)                                                                            \
	SYMVER(curl_easy_init, suffix, at);                                                                            \
	ENTRY CURL *curl_easy_init_at_##suffix(void);                                                                  \
	CURL *curl_easy_init_at_##suffix(void)                                                                         \
	{                                                                                                              \
		return entry_init(version, CALLER);                                                                    \
	}                                                                                                              \
	SYMVER(curl_easy_setopt, suffix, at);                                                                          \
	ENTRY CURLcode curl_easy_setopt_at_##suffix(CURL *curl, CURLoption option, ...);                               \
	CURLcode curl_easy_setopt_at_##suffix(CURL *curl, CURLoption option, ...)                                      \
	{                                                                                                              \
		/* Whatever its type, the argument is one register wide and is passed on untouched. */                 \
		va_list arguments;                                                                                     \
		va_start(arguments, option);                                                                           \
		void *argument = va_arg(arguments, void *);                                                            \
		va_end(arguments);                                                                                     \
		return entry_setopt(version, CALLER, curl, option, argument);                                          \
	}                                                                                                              \
	SYMVER(curl_easy_perform, suffix, at);                                                                         \
	ENTRY CURLcode curl_easy_perform_at_##suffix(CURL *curl);                                                      \
	CURLcode curl_easy_perform_at_##suffix(CURL *curl)                                                             \
	{                                                                                                              \
		return entry_perform(version, CALLER, curl);                                                           \
	}                                                                                                              \
	SYMVER(curl_easy_reset, suffix, at);                                                                           \
	ENTRY void curl_easy_reset_at_##suffix(CURL *curl);                                                            \
	void curl_easy_reset_at_##suffix(CURL *curl)                                                                   \
	{                                                                                                              \
		entry_reset(version, CALLER, curl);                                                                    \
	}                                                                                                              \
	SYMVER(curl_easy_duphandle, suffix, at);                                                                       \
	ENTRY CURL *curl_easy_duphandle_at_##suffix(CURL *curl);                                                       \
	CURL *curl_easy_duphandle_at_##suffix(CURL *curl)                                                              \
	{                                                                                                              \
		return entry_duphandle(version, CALLER, curl);                                                         \
	}                                                                                                              \
	SYMVER(curl_easy_cleanup, suffix, at);                                                                         \
	ENTRY void curl_easy_cleanup_at_##suffix(CURL *curl);                                                          \
	void curl_easy_cleanup_at_##suffix(CURL *curl)                                                                 \
	{                                                                                                              \
		entry_cleanup(version, CALLER, curl);                                                                  \
	}                                                                                                              \
	SYMVER(curl_easy_pause, suffix, at);                                                                           \
	ENTRY CURLcode curl_easy_pause_at_##suffix(CURL *curl, int action);                                            \
	CURLcode curl_easy_pause_at_##suffix(CURL *curl, int action)                                                   \
	{                                                                                                              \
		return entry_pause(version, CALLER, curl, action);                                                     \
	}

#define DEFINE_VERSIONED_ENTRIES(suffix, version) DEFINE_ENTRIES(suffix, version, "@" version)

DEFINE_ENTRIES(any, NULL, "@@" TENACURL_DEFAULT_NODE)
TENACURL_VERSIONED_NODES(DEFINE_VERSIONED_ENTRIES)
