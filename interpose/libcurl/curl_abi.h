/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_CURL_ABI_H
#define TENACURL_INTERPOSE_CURL_ABI_H

/*
 * libcurl's types, and the numbers of the options and infos that tenacurl looks at.
 *
 * The numbers are libcurl's ABI and never change. Those that are newer than 7.29 are spelled out here, so that the
 * object built against any libcurl-dev can work with every libcurl.
 */

#define CURL_DISABLE_TYPECHECK
#define CURL_DISABLE_DEPRECATION /* old options are what old programs use */
#include <curl/curl.h>

/* Real functions are called through pointers; the convenience macros would get in the way. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

#if !defined(__LP64__)
#error "tenacurl passes the one variable argument of curl_easy_setopt on as a pointer, which is right on LP64 only"
#endif

enum {
	OPTION_INFILESIZE_LARGE = 30115,
	OPTION_RESUME_FROM_LARGE = 30116,
	OPTION_POSTFIELDSIZE_LARGE = 30120,
	OPTION_XFERINFOFUNCTION = 20219, /* 7.32.0 */
	OPTION_SSL_OPTIONS = 216,
	OPTION_PROXYHEADER = 10228,             /* 7.37.0 */
	OPTION_UNIX_SOCKET_PATH = 10231,        /* 7.40.0 */
	OPTION_DEFAULT_PROTOCOL = 10238,        /* 7.45.0 */
	OPTION_XOAUTH2_BEARER = 10220,          /* 7.33.0 */
	OPTION_CONNECT_TO = 10243,              /* 7.49.0 */
	OPTION_ABSTRACT_UNIX_SOCKET = 10264,    /* 7.53.0 */
	OPTION_TCP_FASTOPEN = 244,              /* 7.49.0 */
	OPTION_REQUEST_TARGET = 10266,          /* 7.55.0 */
	OPTION_RESOLVER_START_FUNCTION = 20272, /* 7.59.0 */
	OPTION_MIMEPOST = 10269,                /* 7.56.0 */
	OPTION_TRAILERFUNCTION = 20283,         /* 7.64.0 */
	OPTION_CURLU = 10282,                   /* 7.63.0 */
	OPTION_AWS_SIGV4 = 10305,               /* 7.75.0 */
	OPTION_PREREQFUNCTION = 20312,          /* 7.80.0 */
	OPTION_PREREQDATA = 10313,              /* 7.80.0 */
	OPTION_PROTOCOLS_STR = 10318,           /* 7.85.0 */
	OPTION_QUICK_EXIT = 322,                /* 7.87.0 */
};

enum {
	INFO_SCHEME = 0x100000 + 49,           /* 7.52.0 */
	INFO_EARLYDATA_SENT_T = 0x600000 + 68, /* 8.11.0 */
};

enum {
	PREREQ_OK = 0,                  /* CURL_PREREQFUNC_OK */
	PREREQ_ABORT = 1,               /* CURL_PREREQFUNC_ABORT */
	PROGRESS_CONTINUE = 0x10000001, /* CURL_PROGRESSFUNC_CONTINUE, 7.68.0 */
	SSLOPT_EARLYDATA_BIT = 1 << 6,  /* CURLSSLOPT_EARLYDATA, 8.11.0 */
};

#define ALL_PROTOCOLS (-1L) /* CURLPROTO_ALL: what PROTOCOLS is until a program sets it */

typedef int (*xferinfo_function)(void *data, curl_off_t download_total, curl_off_t download_now,
                                 curl_off_t upload_total, curl_off_t upload_now);
typedef int (*prereq_function)(void *data, char *remote_address, char *local_address, int remote_port, int local_port);
typedef size_t (*data_function)(char *bytes, size_t size, size_t count, void *data);

#endif
