/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_CURL_CODES_H
#define TENACURL_ENGINE_CURL_CODES_H

/*
 * libcurl's return codes as data. The engine knows them by number, since it is used without libcurl's headers and must
 * know the codes of libcurls newer than those it was built with.
 */

#include "engine/types.h"

/* The class of a CURLcode; codes that nobody knows are ENGINE_CLASS_LOCAL. Pure. */
enum engine_class engine_class_of_curl_code(int curl_code);

/* "CURLE_RECV_ERROR"; "CURLE_UNKNOWN" for codes that nobody knows. Never NULL. */
const char *engine_curl_code_name(int curl_code);

#endif
