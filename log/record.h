/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_LOG_RECORD_H
#define TENACURL_LOG_RECORD_H

/*
 * The log record: what happened, one JSON object a line. docs/tenacurl.1 documents the schema for people; RECORD_SCHEMA
 * is its version, raised when a field changes its meaning or goes away.
 *
 * Nothing in a record may hold userinfo, query, fragment, header value or body: URLs come in through
 * record_redact_url() only, everything else is a number or one of our own words.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/url.h"
#include "config/policy.h"

#define RECORD_SCHEMA 1

/* A formatted record never is longer, its newline included: one write() of at most PIPE_BUF bytes is not torn. */
#define RECORD_BYTES_MAX 4096

#define RECORD_UNKNOWN_MS (-1) /* a duration that isn't known; printed as null */

enum record_kind {
	RECORD_ATTEMPT,
	RECORD_OPERATION,
	RECORD_NESTED, /* an outer retry layer came back: its rhythm */
	RECORD_NOTE /* something tenacurl has to say about itself: a policy that can't be loaded, an unknown libcurl */
};

/* What is true, false, or wasn't asked (printed as null). */
enum record_answer { RECORD_NOT_ASKED = -1, RECORD_NO, RECORD_YES };

/*
 * What an attempt was judged by besides its facts in the record, so that the engine can be asked again, by the same
 * policy or by another one.
 */
struct record_judgement {
	int64_t at_ms;          /* since the operation began */
	const char *treated_as; /* the method that it was judged as */
	bool conditional, has_idempotency_key, body_replayable;
	int64_t program_timeout_ms, inherited_deadline_ms; /* since the operation began; RECORD_UNKNOWN_MS: none */
	int64_t added_limit_ms;                            /* RECORD_UNKNOWN_MS: none */
	int64_t prior_attempts, prior_ms;                  /* of the intent */
	int status, curl_code;        /* as they were when the verdict fell, before the rest of a body */
	int connect_status, os_errno; /* 0: none */
	bool unsent, single, request_changed, not_http, headers_complete, cancelled, delivered, stop_hint,
	    retry_after_beyond;
	bool retracted; /* final_body took a verdict to retry back */
	int64_t resends;
	/* What the engine asked for. */
	int probe, outer_retries, breaker_allows, can_rewind, place, token; /* enum record_answer */
	int64_t expires_ms; /* until the request does; RECORD_UNKNOWN_MS: it doesn't, or wasn't asked */
	int64_t die;        /* drawn from 0 to 2^53 - 1; RECORD_UNKNOWN_MS: wasn't */
	int64_t drawn_ms; /* the wait that came of it, whether or not a retry did; RECORD_UNKNOWN_MS: none was drawn */
	int64_t millitokens; /* in the budget before; RECORD_UNKNOWN_MS: there is none */
	const char *breaker; /* closed, open, half-open; NULL: there is none */
};

struct record {
	enum record_kind kind;

	/* Who: the same in all records of a process. Texts may be NULL (printed as null). */
	int64_t time_us; /* wall clock, microseconds since the epoch */
	int64_t pid;
	const char *program;     /* executable or script name */
	const char *job;         /* TENACURL_JOB */
	const char *run;         /* TENACURL_RUN */
	const char *mode;        /* enforce, audit, off */
	const char *policy_path; /* NULL: built-in */
	const char *policy_hash;
	const char *section;
	const char *libcurl_flavour; /* OPENSSL_4, GNUTLS_3, …; "unversioned" */
	const char *libcurl_version; /* 7.88.1 */
	uint64_t operation;          /* numbers the operations of a process, from 1 */

	/* What: attempt, operation, nested. */
	const char *method; /* verb on the wire */
	const char *url;    /* redacted */

	/* Whose retries they are: attempt, operation, nested. */
	const char *owner;    /* us, outer */
	const char *evidence; /* header:NAME, program:NAME, library:NAME, argv:--retry, curlrc:--retry, learned,
	                         observed; NULL: none */
	const char *intent;   /* 16 hexadecimal digits that the operations of one intent share; NULL: nothing failed */

	/* Attempt and operation. */
	int status; /* 0: none */
	int curl_code;
	const char *curl_name; /* CURLE_… */
	const char *failure;   /* engine_class_name() */
	const char *verdict;   /* deliver, retry; in audit mode what would have been done */
	const char *reason;    /* engine_reason_name() */
	int64_t left_ms;       /* until the deadline; RECORD_UNKNOWN_MS: there is none */

	/* RECORD_ATTEMPT only. */
	int attempt;    /* 1 for the first */
	bool unsent;    /* proved: the request never left */
	bool ambiguous; /* this retry may repeat a request that was executed */
	int64_t dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms;
	int64_t retry_after_ms; /* RECORD_UNKNOWN_MS: none */
	int64_t wait_ms;        /* before the next attempt; RECORD_UNKNOWN_MS: none follows */
	int upstream_attempts;  /* x-envoy-attempt-count: how often a proxy below us asked; 0: nothing said so */

	const struct record_judgement *judged; /* NULL: a plain success */

	/* RECORD_OPERATION only. */
	int attempts;
	int64_t sends; /* requests on the wire, libcurl's own resends included */
	int64_t waited_ms;
	int64_t elapsed_ms;

	/* Operation and nested: of the intent so far, this operation included unless it was refused. 0: nothing failed.
	 */
	int intent_operations;
	int64_t intent_sends; /* without this operation's in RECORD_NESTED, which is written when it begins */

	/* RECORD_NESTED only. */
	int64_t gap_ms; /* from the return of the intent's last operation that wasn't refused to this one's begin */

	/* RECORD_NOTE only. */
	const char *note;

	uint64_t lost; /* records that could not be written before this one */
};

/*
 * Formats `record` as one JSON line with its newline into `out`. Returns the number of bytes, or 0 if it does not fit
 * even with its texts shortened. Control bytes, quotes and invalid UTF-8 are escaped, so a record always is one line of
 * valid JSON. No allocation, no stdio, async-signal-safe.
 */
size_t record_format(const struct record *record, char out[static RECORD_BYTES_MAX]);

/*
 * Writes what may be told of `url` into `out`, terminated, shortened to fit: scheme, host and port in their one
 * spelling, and per `detail` the path. Userinfo, query and fragment never; nor parameters; with POLICY_LOG_URL_PATH
 * segments that may be secrets are replaced by "~" and 8 hexadecimal digits of their hash (log/redact.c);
 * POLICY_LOG_URL_HASH replaces the whole path so. What libcurl wouldn't speak HTTP to, and NULL, gives "?". No
 * allocation, async-signal-safe.
 */
void record_redact_url(const struct url *url, enum policy_log_url detail, char *out, size_t out_bytes);

#endif
