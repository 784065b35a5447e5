/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_MIME_H
#define TENACURL_INTERPOSE_MIME_H

/*
 * Which MIME bodies can be sent again. libcurl rewinds a mime by itself, part by part, but a part that can't be rewound
 * makes the second perform fail before anything is sent; so we have to know beforehand. What a mime holds can't be
 * asked, only noticed when its parts are made: these functions are told by the interposed curl_mime_* calls.
 */

#include <stdbool.h>

#include "interpose/curl_abi.h"

/* curl_mime_addpart(mime) returned part. */
void mime_note_part(const curl_mime *mime, const curl_mimepart *part);

/* The part's data comes from a callback; seek NULL: it can't be rewound. */
void mime_note_callback(const curl_mimepart *part, curl_seek_callback seek, void *argument);

/* The part's data comes from a file; one that isn't regular can't be rewound. */
void mime_note_file(const curl_mimepart *part, const char *path);

/* The part consists of the parts of `inner`. */
void mime_note_inner(const curl_mimepart *part, const curl_mime *inner);

/* The mime and its parts are gone. */
void mime_forget(const curl_mime *mime);

/* Whether nothing in the mime is known to be impossible to rewind. mime may be NULL. */
bool mime_is_replayable(const curl_mime *mime);

/* Asks the seek callbacks of the mime's parts to go back to the beginning. Returns whether all did. Calls the program.
 */
bool mime_rewinds(const curl_mime *mime);

#endif
