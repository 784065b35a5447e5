/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_LIBCURL_SCOPE_H
#define TENACURL_INTERPOSE_LIBCURL_SCOPE_H

#include "interpose/libcurl/loaded.h"

struct scope {
	struct loaded *loaded; /* as taken; a search uses it up */
	size_t own;            /* this object and those before it are never offered: ld.so came by them */
	const void *caller;
	/* Whether the search ends with this object. May use loaded->order. */
	bool (*accept)(void *context, struct loaded *loaded, size_t index);
	void *context;
};

/*
 * Offers the objects of the process in the order in which ld.so would search them for what the caller's object refers
 * to, until one is accepted. Only within mapping_hold().
 */
void scope_search(const struct scope *scope);

#endif
