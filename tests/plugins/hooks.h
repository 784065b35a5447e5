/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_TESTS_HOOKS_H
#define TENACURL_TESTS_HOOKS_H

#include "tests/plugins/fetch.h"

/* Of tests/plugins/hooked_host.c: what a plugin's constructor and destructor call. */
void hook_constructed(const struct fetch_functions *functions);
void hook_destructed(const struct fetch_functions *functions);

#endif
