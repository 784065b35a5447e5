/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_SCHEME_H
#define TENACURL_INTERPOSE_SCHEME_H

#include <stdbool.h>

/*
 * Whether libcurl would speak HTTP or HTTPS to this URL. Without a scheme libcurl goes by CURLOPT_DEFAULT_PROTOCOL (""
 * where it isn't set), else by how the host name begins, else takes HTTP (lib/urlapi.c, guess_scheme). url may be NULL.
 * Pure.
 */
bool scheme_is_http(const char *url, const char *default_protocol);

#endif
