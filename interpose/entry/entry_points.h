/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_ENTRY_POINTS_H
#define TENACURL_INTERPOSE_ENTRY_POINTS_H

/*
 * Defines the entry points of one reference, none with any logic: each hands on the reference and its return address,
 * by which interpose/libcurl/libcurl.c knows whose call it is.
 *
 * DEFINE_ENTRY_POINTS(SPECIFIERS, suffix, reference) defines curl_easy_init_SUFFIX and so on, for all functions of
 * BIND_FUNCTIONS; SPECIFIERS say how they are linked, `reference` is a `const struct reference *`.
 */

#include <stdarg.h>

#include "interpose/entry/entry.h"

#define CALLER __builtin_return_address(0)

#define DEFINE_ENTRY_POINTS(SPECIFIERS, suffix, reference)                                                             \
	DEFINE_EASY_ENTRY_POINTS(SPECIFIERS, suffix, reference)                                                        \
	DEFINE_MIME_ENTRY_POINTS(SPECIFIERS, suffix, reference)

#define DEFINE_EASY_ENTRY_POINTS(SPECIFIERS, suffix, reference)                                                        \
	SPECIFIERS CURL *curl_easy_init_##suffix(void);                                                                \
	CURL *curl_easy_init_##suffix(void)                                                                            \
	{                                                                                                              \
		return entry_init(reference, CALLER);                                                                  \
	}                                                                                                              \
	SPECIFIERS CURLcode curl_easy_setopt_##suffix(CURL *curl, CURLoption option, ...);                             \
	CURLcode curl_easy_setopt_##suffix(CURL *curl, CURLoption option, ...)                                         \
	{                                                                                                              \
		/* Whatever its type, the argument is one register wide and is passed on untouched. */                 \
		va_list arguments;                                                                                     \
		va_start(arguments, option);                                                                           \
		void *argument = va_arg(arguments, void *);                                                            \
		va_end(arguments);                                                                                     \
		return entry_setopt(reference, CALLER, curl, option, argument);                                        \
	}                                                                                                              \
	SPECIFIERS CURLcode curl_easy_getinfo_##suffix(CURL *curl, CURLINFO info, ...);                                \
	CURLcode curl_easy_getinfo_##suffix(CURL *curl, CURLINFO info, ...)                                            \
	{                                                                                                              \
		/* A pointer, whatever to. */                                                                          \
		va_list arguments;                                                                                     \
		va_start(arguments, info);                                                                             \
		void *argument = va_arg(arguments, void *);                                                            \
		va_end(arguments);                                                                                     \
		return entry_getinfo(reference, CALLER, curl, info, argument);                                         \
	}                                                                                                              \
	SPECIFIERS CURLcode curl_easy_perform_##suffix(CURL *curl);                                                    \
	CURLcode curl_easy_perform_##suffix(CURL *curl)                                                                \
	{                                                                                                              \
		return entry_perform(reference, CALLER, curl);                                                         \
	}                                                                                                              \
	SPECIFIERS void curl_easy_reset_##suffix(CURL *curl);                                                          \
	void curl_easy_reset_##suffix(CURL *curl)                                                                      \
	{                                                                                                              \
		entry_reset(reference, CALLER, curl);                                                                  \
	}                                                                                                              \
	SPECIFIERS CURL *curl_easy_duphandle_##suffix(CURL *curl);                                                     \
	CURL *curl_easy_duphandle_##suffix(CURL *curl)                                                                 \
	{                                                                                                              \
		return entry_duphandle(reference, CALLER, curl);                                                       \
	}                                                                                                              \
	SPECIFIERS void curl_easy_cleanup_##suffix(CURL *curl);                                                        \
	void curl_easy_cleanup_##suffix(CURL *curl)                                                                    \
	{                                                                                                              \
		entry_cleanup(reference, CALLER, curl);                                                                \
	}                                                                                                              \
	SPECIFIERS CURLcode curl_easy_pause_##suffix(CURL *curl, int action);                                          \
	CURLcode curl_easy_pause_##suffix(CURL *curl, int action)                                                      \
	{                                                                                                              \
		return entry_pause(reference, CALLER, curl, action);                                                   \
	}

#define DEFINE_MIME_ENTRY_POINTS(SPECIFIERS, suffix, reference)                                                        \
	SPECIFIERS curl_mime *curl_mime_init_##suffix(CURL *curl);                                                     \
	curl_mime *curl_mime_init_##suffix(CURL *curl)                                                                 \
	{                                                                                                              \
		return entry_mime_init(reference, CALLER, curl);                                                       \
	}                                                                                                              \
	SPECIFIERS curl_mimepart *curl_mime_addpart_##suffix(curl_mime *mime);                                         \
	curl_mimepart *curl_mime_addpart_##suffix(curl_mime *mime)                                                     \
	{                                                                                                              \
		return entry_mime_addpart(reference, CALLER, mime);                                                    \
	}                                                                                                              \
	SPECIFIERS CURLcode curl_mime_data_##suffix(curl_mimepart *part, const char *data, size_t size_bytes);         \
	CURLcode curl_mime_data_##suffix(curl_mimepart *part, const char *data, size_t size_bytes)                     \
	{                                                                                                              \
		return entry_mime_data(reference, CALLER, part, data, size_bytes);                                     \
	}                                                                                                              \
	SPECIFIERS CURLcode curl_mime_data_cb_##suffix(curl_mimepart *part, curl_off_t size_bytes,                     \
	                                               curl_read_callback read, curl_seek_callback seek,               \
	                                               curl_free_callback release, void *argument);                    \
	CURLcode curl_mime_data_cb_##suffix(curl_mimepart *part, curl_off_t size_bytes, curl_read_callback read,       \
	                                    curl_seek_callback seek, curl_free_callback release, void *argument)       \
	{                                                                                                              \
		return entry_mime_data_cb(reference, CALLER, part, size_bytes, read, seek, release, argument);         \
	}                                                                                                              \
	SPECIFIERS CURLcode curl_mime_filedata_##suffix(curl_mimepart *part, const char *path);                        \
	CURLcode curl_mime_filedata_##suffix(curl_mimepart *part, const char *path)                                    \
	{                                                                                                              \
		return entry_mime_filedata(reference, CALLER, part, path);                                             \
	}                                                                                                              \
	SPECIFIERS CURLcode curl_mime_subparts_##suffix(curl_mimepart *part, curl_mime *inner);                        \
	CURLcode curl_mime_subparts_##suffix(curl_mimepart *part, curl_mime *inner)                                    \
	{                                                                                                              \
		return entry_mime_subparts(reference, CALLER, part, inner);                                            \
	}                                                                                                              \
	SPECIFIERS void curl_mime_free_##suffix(curl_mime *mime);                                                      \
	void curl_mime_free_##suffix(curl_mime *mime)                                                                  \
	{                                                                                                              \
		entry_mime_free(reference, CALLER, mime);                                                              \
	}

#endif
