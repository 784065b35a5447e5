/* SPDX-License-Identifier: MIT */

/* The exported functions: one entry point per function and version node. */

#include <stddef.h>

#include "interpose/entry/entry_points.h"
#include "interpose/libcurl/nodes.h"

#define ENTRY __attribute__((visibility("default"), noinline))

#define SYMVER(function, suffix, version) __asm__(".symver " #function "_" #suffix ", " #function version)

#define EXPORT_ENTRY_POINTS(suffix, at)                                                                                \
	SYMVER(curl_easy_init, suffix, at);                                                                            \
	SYMVER(curl_easy_setopt, suffix, at);                                                                          \
	SYMVER(curl_easy_getinfo, suffix, at);                                                                         \
	SYMVER(curl_easy_perform, suffix, at);                                                                         \
	SYMVER(curl_easy_reset, suffix, at);                                                                           \
	SYMVER(curl_easy_duphandle, suffix, at);                                                                       \
	SYMVER(curl_easy_cleanup, suffix, at);                                                                         \
	SYMVER(curl_easy_pause, suffix, at);                                                                           \
	SYMVER(curl_mime_init, suffix, at);                                                                            \
	SYMVER(curl_mime_addpart, suffix, at);                                                                         \
	SYMVER(curl_mime_data, suffix, at);                                                                            \
	SYMVER(curl_mime_data_cb, suffix, at);                                                                         \
	SYMVER(curl_mime_filedata, suffix, at);                                                                        \
	SYMVER(curl_mime_subparts, suffix, at);                                                                        \
	SYMVER(curl_mime_free, suffix, at);

#define EXPORT_NODE(suffix, node, at)                                                                                  \
	static const struct reference reference_##suffix = {.version = node};                                          \
	EXPORT_ENTRY_POINTS(at_##suffix, at)                                                                           \
	DEFINE_ENTRY_POINTS(ENTRY, at_##suffix, &reference_##suffix)

#define EXPORT_VERSIONED_NODE(suffix, node) EXPORT_NODE(suffix, node, "@" node)

EXPORT_NODE(any, NULL, "@@" TENACURL_DEFAULT_NODE)
TENACURL_VERSIONED_NODES(EXPORT_VERSIONED_NODE)
