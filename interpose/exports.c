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

#define DEFINE_MIME_ENTRIES(suffix, version, at)                                                                       \
	SYMVER(curl_mime_addpart, suffix, at);                                                                         \
	ENTRY curl_mimepart *curl_mime_addpart_at_##suffix(curl_mime *mime);                                           \
	curl_mimepart *curl_mime_addpart_at_##suffix(curl_mime *mime)                                                  \
	{                                                                                                              \
		return entry_mime_addpart(version, CALLER, mime);                                                      \
	}                                                                                                              \
	SYMVER(curl_mime_data_cb, suffix, at);                                                                         \
	ENTRY CURLcode curl_mime_data_cb_at_##suffix(curl_mimepart *part, curl_off_t size_bytes,                       \
	                                             curl_read_callback read, curl_seek_callback seek,                 \
	                                             curl_free_callback release, void *argument);                      \
	CURLcode curl_mime_data_cb_at_##suffix(curl_mimepart *part, curl_off_t size_bytes, curl_read_callback read,    \
	                                       curl_seek_callback seek, curl_free_callback release, void *argument)    \
	{                                                                                                              \
		return entry_mime_data_cb(version, CALLER, part, size_bytes, read, seek, release, argument);           \
	}                                                                                                              \
	SYMVER(curl_mime_filedata, suffix, at);                                                                        \
	ENTRY CURLcode curl_mime_filedata_at_##suffix(curl_mimepart *part, const char *path);                          \
	CURLcode curl_mime_filedata_at_##suffix(curl_mimepart *part, const char *path)                                 \
	{                                                                                                              \
		return entry_mime_filedata(version, CALLER, part, path);                                               \
	}                                                                                                              \
	SYMVER(curl_mime_subparts, suffix, at);                                                                        \
	ENTRY CURLcode curl_mime_subparts_at_##suffix(curl_mimepart *part, curl_mime *inner);                          \
	CURLcode curl_mime_subparts_at_##suffix(curl_mimepart *part, curl_mime *inner)                                 \
	{                                                                                                              \
		return entry_mime_subparts(version, CALLER, part, inner);                                              \
	}                                                                                                              \
	SYMVER(curl_mime_free, suffix, at);                                                                            \
	ENTRY void curl_mime_free_at_##suffix(curl_mime *mime);                                                        \
	void curl_mime_free_at_##suffix(curl_mime *mime)                                                               \
	{                                                                                                              \
		entry_mime_free(version, CALLER, mime);                                                                \
	}

#define DEFINE_VERSIONED_ENTRIES(suffix, version)                                                                      \
	DEFINE_ENTRIES(suffix, version, "@" version)                                                                   \
	DEFINE_MIME_ENTRIES(suffix, version, "@" version)

DEFINE_ENTRIES(any, NULL, "@@" TENACURL_DEFAULT_NODE)
DEFINE_MIME_ENTRIES(any, NULL, "@@" TENACURL_DEFAULT_NODE)
TENACURL_VERSIONED_NODES(DEFINE_VERSIONED_ENTRIES)
