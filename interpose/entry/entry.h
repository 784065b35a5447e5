/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_ENTRY_H
#define TENACURL_INTERPOSE_ENTRY_H

/*
 * What the entry points do. reference is the caller's, by which entry point it came; caller is the return address. Each
 * behaves as libcurl's function of that name; what tenacurl does besides never shows in the result.
 */

#include "interpose/libcurl/libcurl.h"

/* The libcurl that a call without a known handle would have reached; NULL, with one complaint per process, if there is
 * none. */
const struct libcurl *entry_find_libcurl(const struct reference *reference, const void *caller);

CURL *entry_init(const struct reference *reference, const void *caller);
CURLcode entry_setopt(const struct reference *reference, const void *caller, CURL *curl, CURLoption option,
                      void *argument);
CURLcode entry_getinfo(const struct reference *reference, const void *caller, CURL *curl, CURLINFO info,
                       void *argument);
CURLcode entry_perform(const struct reference *reference, const void *caller, CURL *curl);
void entry_reset(const struct reference *reference, const void *caller, CURL *curl);
CURL *entry_duphandle(const struct reference *reference, const void *caller, CURL *curl);
void entry_cleanup(const struct reference *reference, const void *caller, CURL *curl);
CURLcode entry_pause(const struct reference *reference, const void *caller, CURL *curl, int action);

/* The calls by which a program makes a MIME body (interpose/entry/entry_mime.c). */
curl_mime *entry_mime_init(const struct reference *reference, const void *caller, CURL *curl);
curl_mimepart *entry_mime_addpart(const struct reference *reference, const void *caller, curl_mime *mime);
CURLcode entry_mime_data(const struct reference *reference, const void *caller, curl_mimepart *part, const char *data,
                         size_t size_bytes);
CURLcode entry_mime_data_cb(const struct reference *reference, const void *caller, curl_mimepart *part,
                            curl_off_t size_bytes, curl_read_callback read, curl_seek_callback seek,
                            curl_free_callback release, void *argument);
CURLcode entry_mime_filedata(const struct reference *reference, const void *caller, curl_mimepart *part,
                             const char *path);
CURLcode entry_mime_subparts(const struct reference *reference, const void *caller, curl_mimepart *part,
                             curl_mime *inner);
void entry_mime_free(const struct reference *reference, const void *caller, curl_mime *mime);

#endif
