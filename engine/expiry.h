/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_EXPIRY_H
#define TENACURL_ENGINE_EXPIRY_H

/*
 * When a signed request expires, as far as its URL and headers say so in clear: a repeat after that is refused whatever
 * the server's health is, and the refusal would hide the failure that was to be got over.
 *
 *     X-…-Date and X-…-Expires     in the query: Signature Version 4 and its likes (AWS, Google, Alibaba, Huawei, …)
 *     se, Expires, exp, …          in the query, beside a signature: Azure, CloudFront, older S3 and Google, CDNs
 *     exp=…~hmac=…                 in a token of the query: Akamai, Google's media CDN
 *     q-sign-time=BEGIN;END        in the query: Tencent
 *     se=…&sig=…                   in Authorization: SharedAccessSignature (Azure)
 *     expires=…                    in Signature-Input, Authorization: Signature (RFC 9421 and its drafts)
 *     Authorization and a date     for as long as services take an older date: 15 minutes, some of them 5
 *
 * What is encoded (a policy in base64, a JWT) isn't looked into. Pure, no allocation.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

#define ENGINE_NO_EXPIRY INT64_MAX

/* What has been read of a request; the reader's own. Instants are in seconds since 1970, ENGINE_NO_EXPIRY is none. */
struct engine_expiry {
	int64_t certain_s;                      /* needs nothing else */
	int64_t beside_signature_s;             /* counts if the query has either of the last */
	int64_t query_date_s, query_lifetime_s; /* X-…-Date, X-…-Expires */
	int64_t vendor_date_s, date_s;          /* of the headers X-…-Date, Date */
	int64_t skew_s;                         /* how old those may be; 0: nothing is signed with them */
	bool has_signature, has_token;          /* a parameter that can be nothing else; one that may be */
};

void engine_expiry_begin(struct engine_expiry *expiry);

/* Reads a URL's query, without its "?". */
void engine_expiry_read_query(struct engine_expiry *expiry, struct span query);

/* Reads a header line as CURLOPT_HTTPHEADER has it. */
void engine_expiry_read_header(struct engine_expiry *expiry, const char *line);

/* When the request expires, in seconds since 1970; ENGINE_NO_EXPIRY if nothing says so. */
int64_t engine_expiry_s(const struct engine_expiry *expiry);

#endif
