/* SPDX-License-Identifier: MIT */

/* The exported functions: one entry point per function and version node. */

#include <stddef.h>

#include "interpose/entry/entry_points.h"
#include "interpose/libcurl/nodes.h"

#define ENTRY __attribute__((visibility("default"), noinline))

/* `at`: the node, behind "@", or "@@" if it is the default one. */
#define SYMVER(since, symbol, word, kind, result, parameters, arguments, suffix, at)                                   \
	__asm__(".symver " #symbol "_" #suffix ", " #symbol at);

#define EXPORT_NODE(suffix, node, at)                                                                                  \
	static const struct reference reference_##suffix = {.version = node};                                          \
	WRAPPED_FUNCTIONS(SYMVER, suffix, at)                                                                          \
	DEFINE_ENTRY_POINTS(suffix, ENTRY)

#define EXPORT_VERSIONED_NODE(suffix, node) EXPORT_NODE(at_##suffix, #node, "@" #node)
#define EXPORT_DEFAULT_NODE(node)           EXPORT_NODE(at_any, NULL, "@@" TEXT(node))
#define TEXT(node)                          #node

EXPORT_DEFAULT_NODE(TENACURL_DEFAULT_NODE)
TENACURL_VERSIONED_NODES(EXPORT_VERSIONED_NODE)
