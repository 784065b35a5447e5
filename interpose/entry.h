/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_ENTRY_H
#define TENACURL_INTERPOSE_ENTRY_H

/*
 * What the exported functions do. version is the symbol version node that the reference named (NULL: none); caller is
 * the return address. Each behaves as libcurl's function of that name; what tenacurl does besides never shows in the
 * result.
 */

#include "interpose/libcurl.h"

/* The libcurl that a call without a known handle would have reached; NULL, with one complaint per process, if there is
 * none. */
const struct libcurl *entry_find_libcurl(const char *version, const void *caller);

CURL *entry_init(const char *version, const void *caller);
CURLcode entry_setopt(const char *version, const void *caller, CURL *curl, CURLoption option, void *argument);
CURLcode entry_perform(const char *version, const void *caller, CURL *curl);
void entry_reset(const char *version, const void *caller, CURL *curl);
CURL *entry_duphandle(const char *version, const void *caller, CURL *curl);
void entry_cleanup(const char *version, const void *caller, CURL *curl);
CURLcode entry_pause(const char *version, const void *caller, CURL *curl, int action);

/* The calls by which a program makes a MIME body (interpose/entry_mime.c). */
curl_mimepart *entry_mime_addpart(const char *version, const void *caller, curl_mime *mime);
CURLcode entry_mime_data_cb(const char *version, const void *caller, curl_mimepart *part, curl_off_t size_bytes,
                            curl_read_callback read, curl_seek_callback seek, curl_free_callback release,
                            void *argument);
CURLcode entry_mime_filedata(const char *version, const void *caller, curl_mimepart *part, const char *path);
CURLcode entry_mime_subparts(const char *version, const void *caller, curl_mimepart *part, curl_mime *inner);
void entry_mime_free(const char *version, const void *caller, curl_mime *mime);

#endif
