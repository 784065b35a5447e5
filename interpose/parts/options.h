/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_OPTIONS_H
#define TENACURL_INTERPOSE_OPTIONS_H

#include "interpose/handle/handle.h"

/*
 * What curl_easy_setopt() does on a handle with a record: sets the option in libcurl and notes it, or, while the option
 * is lent to us, only notes it so that it is what the program gets back. Returns what libcurl returns.
 */
CURLcode options_set(struct handle *handle, CURLoption option, void *argument);

#endif
