/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_ENTRY_POINTS_H
#define TENACURL_INTERPOSE_ENTRY_POINTS_H

/*
 * Defines the entry points of one reference, none with any logic: each hands on the reference and its return address,
 * by which interpose/libcurl/libcurl.c knows whose call it is.
 *
 * DEFINE_ENTRY_POINTS(suffix, SPECIFIERS) defines curl_easy_init_SUFFIX and so on, for all functions of
 * interpose/bind/functions.h; SPECIFIERS say how they are linked, reference_SUFFIX is the `struct reference`.
 */

#include <stdarg.h>

#include "interpose/entry/entry.h"

#define CALLER __builtin_return_address(0)

#define DEFINE_ENTRY_POINTS(suffix, SPECIFIERS) WRAPPED_FUNCTIONS(DEFINE_ENTRY_POINT, suffix, SPECIFIERS)

/* Declared with the type of libcurl's own, so that a line of the table that differs from it isn't compiled. */
#define DEFINE_ENTRY_POINT(since, symbol, word, kind, result, parameters, arguments, suffix, SPECIFIERS)               \
	SPECIFIERS __typeof__(symbol) symbol##_##suffix;                                                               \
	DEFINE_##kind(result, symbol##_##suffix, entry_##word, parameters, arguments, &reference_##suffix)

#define DEFINE_FIXED(result, name, body, parameters, arguments, reference)                                             \
	result name parameters                                                                                         \
	{                                                                                                              \
		return body(reference, CALLER AND arguments);                                                          \
	}

/* Whatever its type, the last argument is one register wide and is passed on untouched. */
#define DEFINE_VARIADIC(result, name, body, parameters, arguments, reference)                                          \
	result name(LIST parameters, ...)                                                                              \
	{                                                                                                              \
		va_list rest;                                                                                          \
		va_start(rest, SECOND arguments);                                                                      \
		void *argument = va_arg(rest, void *);                                                                 \
		va_end(rest);                                                                                          \
		return body(reference, CALLER, LIST arguments, argument);                                              \
	}

/* What stands in the parentheses that follow: as it is; behind a comma if it isn't empty; the second of two. */
#define LIST(...)             __VA_ARGS__
#define AND(...)              __VA_OPT__(, ) __VA_ARGS__
#define SECOND(first, second) second

#endif
