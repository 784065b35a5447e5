/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_FACTS_H
#define TENACURL_ENGINE_FACTS_H

/*
 * What one attempt did, as its libcurl tells it. An attempt is one perform but not one request: libcurl follows
 * redirects, answers challenges, and sends again on another connection what a kept one has lost. So what its last
 * request came to says nothing of the ones before, and "never sent", "refused" are proved by counting, not by a code.
 *
 * docs/libcurl.md has a table of these: which libcurl tells each, and what stands in for it where it doesn't.
 */

#include <stdbool.h>
#include <stdint.h>

#define ENGINE_UNCOUNTED (-1)

struct engine_facts {
	int64_t sends;            /* requests that a connection was given to; ENGINE_UNCOUNTED: nobody counted */
	int64_t redirects;        /* hops and rounds of authentication that followed the first request */
	int64_t kept_connections; /* that there were before, and one of which may have been used: at most so many */
	int64_t new_connections;  /* that were made */
	int64_t request_bytes;    /* handed to the kernel, for all requests; some libcurls count a CONNECT, too */
	int64_t early_data_bytes; /* sent within a TLS handshake; negative: the server refused them */
	bool fast_open;           /* data may have gone out with the SYN */
	int connect_status;       /* the proxy's last answer to CONNECT; 0: none */
	int status;               /* of the last response; 0: none */
};

/* Whether the facts prove that no origin can have got any request of the attempt. Pure. */
bool engine_proves_unsent(const struct engine_facts *facts);

/*
 * Whether the facts prove that the attempt made one request at most, so that what is true of the last one (a refusal)
 * is true of the attempt. Pure.
 */
bool engine_proves_single(const struct engine_facts *facts);

/* How many requests the facts prove that the attempt made, where nobody counted: a resend shows in none. Pure. */
int64_t engine_proved_sends(const struct engine_facts *facts);

#endif
