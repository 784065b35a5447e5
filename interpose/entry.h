/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_ENTRY_H
#define TENACURL_INTERPOSE_ENTRY_H

/*
 * What the exported functions do. version is the symbol version node that the reference named (NULL: none); caller is
 * the return address. Each behaves as libcurl's function of that name; what tenacurl does besides never shows in the
 * result.
 */

#include "interpose/curl_abi.h"

CURL *entry_init(const char *version, const void *caller);
CURLcode entry_setopt(const char *version, const void *caller, CURL *curl, CURLoption option, void *argument);
CURLcode entry_perform(const char *version, const void *caller, CURL *curl);
void entry_reset(const char *version, const void *caller, CURL *curl);
CURL *entry_duphandle(const char *version, const void *caller, CURL *curl);
void entry_cleanup(const char *version, const void *caller, CURL *curl);
CURLcode entry_pause(const char *version, const void *caller, CURL *curl, int action);

#endif
