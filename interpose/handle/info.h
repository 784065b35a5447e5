/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_INFO_H
#define TENACURL_INTERPOSE_INFO_H

/* What libcurl tells of a handle's transfer (curl_easy_getinfo). Allowed inside callbacks. */

#include <stdint.h>

#include "interpose/handle/handle.h"

#define INFO_UNKNOWN_MS (-1)

/* An info value of type long; 0 if libcurl doesn't know it. */
int64_t info_long(const struct handle *handle, CURLINFO info);

/* CURLINFO_RESPONSE_CODE. */
int info_response_code(const struct handle *handle);

/* A text; "" if there is none. Libcurl's, until the next call. */
const char *info_text(const struct handle *handle, CURLINFO info);

/* A count of bytes; -1 if it isn't known. */
double info_bytes(const struct handle *handle, CURLINFO info);

/* A time that libcurl tells in seconds, rounded; INFO_UNKNOWN_MS if it isn't known. */
int64_t info_ms(const struct handle *handle, CURLINFO info);

#endif
