/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_REQUEST_FIELD_H
#define TENACURL_ENGINE_REQUEST_FIELD_H

/*
 * Header fields of a request as they go on the wire, from what a program gave to CURLOPT_HTTPHEADER. Pure, any thread.
 */

#include <stdbool.h>

#include "base/span.h"

struct request_field {
	struct span name;  /* without the blanks around it that some servers overlook */
	struct span value; /* trimmed; with the line ends of a folded one in it */
};

/*
 * The text that some libcurl sends for an entry of the list (lib/http.c, Curl_add_custom_headers): "Name:" and blanks
 * are left out, "Name;" is sent without a value, and line breaks stay, so that an entry may be several fields. .text is
 * NULL where none sends anything.
 */
struct span request_field_text(const char *entry);

/* Takes the next field off `rest`, with the lines that continue it. Returns false at the end. */
bool request_field_next(struct span *rest, struct request_field *field);

/* Whether every libcurl sends a value that a server can see, within the field's first line; quotes alone are none. */
bool request_field_has_value(const struct request_field *field);

/* Whether `word` is in a name, in any case; servers that go by CGI's rules take "_" for "-". */
bool request_name_contains(struct span name, const char *word);

#endif
