/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_ENTRY_H
#define TENACURL_INTERPOSE_ENTRY_H

/*
 * What the entry points do: entry_WORD() for each WORD of interpose/bind/functions.h. reference is the caller's, by
 * which entry point it came; caller is the return address. Each behaves as libcurl's function; what tenacurl does
 * besides never shows in the result.
 */

#include "interpose/libcurl/libcurl.h"

/* The libcurl that a call without a known handle would have reached; NULL, with one complaint per process, if there is
 * none. */
const struct libcurl *entry_find_libcurl(const struct reference *reference, const void *caller);

#define DECLARE_ENTRY(since, symbol, word, kind, result, parameters, ...)                                              \
	result entry_##word ENTRY_PARAMETERS_##kind parameters;
#define ENTRY_PARAMETERS_FIXED(...) (const struct reference *reference, const void *caller __VA_OPT__(, ) __VA_ARGS__)
#define ENTRY_PARAMETERS_VARIADIC(...)                                                                                 \
	(const struct reference *reference, const void *caller, __VA_ARGS__, void *argument)
WRAPPED_FUNCTIONS(DECLARE_ENTRY)

#endif
