/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_MIME_H
#define TENACURL_INTERPOSE_MIME_H

/*
 * Which MIME bodies can be sent again. libcurl rewinds a mime by itself, part by part, but a part that can't be rewound
 * makes the second perform fail before anything is sent; so we have to know beforehand. What a mime holds can't be
 * asked, only noticed when it is made: these functions are told by the interposed curl_mime_* calls. A mime is used by
 * one thread at a time (libcurl's rule); different ones may be used at once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/libcurl/curl_abi.h"

struct mime;

/* curl_mime_init() returned mime: whatever was known of this address is gone. */
void mime_note_init(const curl_mime *mime);

/* curl_mime_addpart(mime) returned part. */
void mime_note_part(const curl_mime *mime, const curl_mimepart *part);

/* The part has no content any more: what it consisted of is gone. */
void mime_note_emptied(const curl_mimepart *part);

/* An empty part got a content: bytes that libcurl keeps; size_bytes (size_t)-1: a text. */
void mime_note_memory(const curl_mimepart *part, const char *data, size_t size_bytes);

/*
 * Returns the function to give to libcurl in place of `read`: one that counts its calls, or `read` itself if there are
 * too many different ones. It needs nothing of ours to live on, so libcurl may copy it to wherever it likes.
 */
curl_read_callback mime_count_reads(curl_read_callback read);

/* Its data comes from a callback, `given` is what libcurl got for it; seek NULL: it can't be rewound. size_bytes -1: it
 * isn't known. */
void mime_note_callback(const curl_mimepart *part, int64_t size_bytes, curl_read_callback given,
                        curl_seek_callback seek, void *argument);

/* Its data comes from a file; one that isn't regular can't be rewound. */
void mime_note_file(const curl_mimepart *part, const char *path);

/* It consists of the parts of `inner`, which it owns from now on. */
void mime_note_inner(const curl_mimepart *part, const curl_mime *inner);

/* Whether `inner` is what the part consists of already: then libcurl leaves both as they are. */
bool mime_is_inner(const curl_mimepart *part, const curl_mime *inner);

/* The mime, its parts and the mimes that they own are gone, and whatever it was part or body of is without it. */
void mime_forget(const curl_mime *mime);

/*
 * A handle's body. *body is its own variable: NULL without a mime, and set to NULL when its mime goes. A mime of which
 * nothing is known can't be sent again.
 */

/* curl_easy_setopt(CURLOPT_MIMEPOST, mime) took it: it is the body now, in place of what was. mime may be NULL. */
void mime_attach(struct mime **body, const curl_mime *mime);

/* curl_easy_duphandle() made a copy of the source's body, whose parts have the same callbacks. *copy isn't read. */
void mime_copy(struct mime **copy, const struct mime *source);

/* The handle has no mime any more; a copy, which libcurl made for it, is gone. */
void mime_detach(struct mime **body);

/*
 * What the body is known by: the contents of its parts, of files their identity when they were named, of callbacks what
 * they gave since mime_begin(), once all of it was `sent`, once. 0: it can't be told. Names, types and headers of parts
 * are nobody's but libcurl's.
 */
uint64_t mime_key(const struct mime *body, bool sent);

/* An operation begins to send it, from the beginning. */
void mime_begin(struct mime *body);

/* Whether nothing in the body is known to be impossible to rewind, whether it was read or not. */
bool mime_is_replayable(const struct mime *body);

/* Whether mime_rewind() would succeed, as far as can be told without calling the program. */
bool mime_could_rewind(const struct mime *body);

/*
 * Asks the seek callbacks of those parts that were read to go back to the beginning, as libcurl will before it sends
 * the body again. Returns whether all did. Calls the program.
 */
bool mime_rewind(struct mime *body);

#endif
