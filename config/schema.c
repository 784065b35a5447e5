/* SPDX-License-Identifier: MIT */
#include "config/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"

#define DAY_MS    86400000
#define BYTES_MAX (16 * 1024 * 1024)

static const char *const mode_words[] = {"enforce", "audit", "off", NULL};
static const char *const jitter_words[] = {"full", "equal", "none", NULL};
static const char *const replay_words[] = {"idempotent", "unsent", "all", "none", NULL};
static const char *const resend_words[] = {"count", "forbid", NULL};
static const char *const log_events_words[] = {"retries", "all", NULL};
static const char *const log_url_words[] = {"path", "origin", "full-path", "hash", NULL};
static const char *const nested_words[] = {"yield", "own", "off", NULL};
static const char *const breaker_words[] = {"on", "off", NULL};
static const char *const breaker_action_words[] = {"no-retry", "fail-fast", NULL};
static const char *const state_words[] = {"user", "process", "none", NULL};

const char *const schema_error_words[] = {"resolve", "connect", "tls",   "send",    "receive",
                                          "empty",   "partial", "http2", "timeout", NULL};

/* A row is KEY(name, type, scope, default, doc, further initialisers). */
#define KEY(key, key_type, key_scope, text, line, ...)                                                                 \
	{                                                                                                              \
		.name = #key, .type = key_type, .scope = key_scope, .offset = offsetof(struct policy_rules, key),      \
		.default_text = text, .doc = line, __VA_ARGS__                                                         \
	}
#define RANGE(low, high) .least = (low), .most = (high)
#define OFF_AT_ZERO      .zero_is_off = true
#define MAY_BE_EMPTY     .may_be_empty = true
#define WORDS(words)     .choices = words

static const struct schema_key keys[] = {
    KEY(mode, SCHEMA_CHOICE, SCHEMA_ANYWHERE, "enforce",
        "enforce: act; audit: only log what would be done; off: stay out", WORDS(mode_words)),
    KEY(deadline_ms, SCHEMA_MILLISECONDS, SCHEMA_ANYWHERE, "0",
        "hard end of the whole operation, attempts and waits together", RANGE(0, DAY_MS), OFF_AT_ZERO),
    KEY(per_try_ms, SCHEMA_MILLISECONDS, SCHEMA_ANYWHERE, "0", "hard end of one attempt", RANGE(0, DAY_MS),
        OFF_AT_ZERO),
    KEY(connect_timeout_ms, SCHEMA_MILLISECONDS, SCHEMA_ANYWHERE, "0", "hard end of one attempt's connect phase",
        RANGE(0, DAY_MS), OFF_AT_ZERO),
    KEY(min_try_ms, SCHEMA_MILLISECONDS, SCHEMA_ANYWHERE, "100", "an attempt that can't have this long is not started",
        RANGE(0, DAY_MS), OFF_AT_ZERO),
    KEY(retry_max_time_ms, SCHEMA_MILLISECONDS, SCHEMA_ANYWHERE, "30000",
        "no retry starts later than this after the operation began", RANGE(0, DAY_MS), OFF_AT_ZERO),
    KEY(max_attempts, SCHEMA_COUNT, SCHEMA_ANYWHERE, "4", "attempts per operation, including the first", RANGE(1, 100)),
    KEY(jitter, SCHEMA_CHOICE, SCHEMA_ANYWHERE, "equal", "how the backoff is drawn: full, equal (half of it), none",
        WORDS(jitter_words)),
    KEY(backoff_base_ms, SCHEMA_MILLISECONDS, SCHEMA_ANYWHERE, "1000", "backoff before the first retry",
        RANGE(0, DAY_MS)),
    KEY(backoff_multiplier, SCHEMA_DECIMAL, SCHEMA_ANYWHERE, "2", "growth of the backoff from one retry to the next",
        RANGE(1, 10)),
    KEY(backoff_cap_ms, SCHEMA_MILLISECONDS, SCHEMA_ANYWHERE, "10000", "the backoff grows no further than this",
        RANGE(1, DAY_MS)),
    KEY(backoff_min_ms, SCHEMA_MILLISECONDS, SCHEMA_ANYWHERE, "0", "floor under the drawn backoff", RANGE(0, DAY_MS)),
    KEY(retry_after_max_ms, SCHEMA_MILLISECONDS, SCHEMA_ANYWHERE, "30000",
        "a server that asks for a longer wait gets no retry", RANGE(0, DAY_MS), OFF_AT_ZERO),
    KEY(retry_after_jitter_pct, SCHEMA_PERCENT, SCHEMA_ANYWHERE, "10",
        "up to this share is added to a server's Retry-After", RANGE(0, 100)),
    KEY(retry_after_headers, SCHEMA_HEADERS, SCHEMA_ANYWHERE, "Retry-After",
        "response headers that say how long to wait"),
    KEY(retry_status, SCHEMA_STATUSES, SCHEMA_ANYWHERE, "408, 429, 502, 503, 504, 522",
        "statuses that may pass, so that a retry is worth it"),
    KEY(retry_status_get_only, SCHEMA_STATUSES, SCHEMA_ANYWHERE, "500, 524",
        "further such statuses, for GET and HEAD only"),
    KEY(refused_status, SCHEMA_STATUSES, SCHEMA_ANYWHERE, "",
        "statuses that prove the request was not executed: any method may be repeated"),
    KEY(retry_errors, SCHEMA_ERRORS, SCHEMA_ANYWHERE,
        "resolve, connect, tls, send, receive, empty, partial, http2, timeout", "transport failures that may pass"),
    KEY(final_body, SCHEMA_TEXT, SCHEMA_ANYWHERE, "", "text in an error body that makes the error final"),
    KEY(replay, SCHEMA_CHOICE, SCHEMA_ANYWHERE, "idempotent",
        "what may be repeated although it may have been executed: idempotent, unsent, all, none", WORDS(replay_words)),
    KEY(idempotency_header, SCHEMA_HEADER, SCHEMA_ANYWHERE, "Idempotency-Key",
        "request header whose presence makes a POST or PATCH safe to repeat"),
    KEY(precondition_headers, SCHEMA_HEADERS, SCHEMA_ANYWHERE, "",
        "further request headers that make a PUT or DELETE conditional, so that it isn't repeated", MAY_BE_EMPTY),
    KEY(add_idempotency_key, SCHEMA_YES_NO, SCHEMA_ANYWHERE, "no", "add that header, one key per operation"),
    KEY(hold_body_bytes, SCHEMA_BYTES, SCHEMA_ANYWHERE, "65536", "most that is held back of a response",
        RANGE(0, BYTES_MAX)),
    KEY(hold_success_bytes, SCHEMA_BYTES, SCHEMA_ANYWHERE, "0",
        "successes up to this size are held until complete, so that a truncated one can be retried",
        RANGE(0, BYTES_MAX)),
    KEY(replay_body_bytes, SCHEMA_BYTES, SCHEMA_ANYWHERE, "65536", "most that is copied of an upload to send it again",
        RANGE(0, BYTES_MAX)),
    KEY(hold_redirects, SCHEMA_YES_NO, SCHEMA_ANYWHERE, "no", "hold redirect steps back like everything else"),
    KEY(resend, SCHEMA_CHOICE, SCHEMA_ANYWHERE, "count", "libcurl's own silent resends: count them, or forbid them",
        WORDS(resend_words)),
    KEY(nested, SCHEMA_CHOICE, SCHEMA_ANYWHERE, "yield",
        "who retries when the program retries too: yield (it), own (we), off (both)", WORDS(nested_words)),
    KEY(nested_window_ms, SCHEMA_MILLISECONDS, SCHEMA_ANYWHERE, "60000",
        "a request that comes back within this time after it failed is the same intent", RANGE(1, DAY_MS)),
    KEY(nested_quiet_ms, SCHEMA_MILLISECONDS, SCHEMA_ANYWHERE, "5000",
        "own: silence after an intent's attempts are used up", RANGE(0, DAY_MS)),
    KEY(nested_headers, SCHEMA_HEADERS, SCHEMA_ANYWHERE,
        "amz-sdk-request, amz-sdk-invocation-id, aws-sdk-retry, aws-sdk-invocation-id, x-goog-api-client, "
        "x-goog-gcs-idempotency-token, x-stainless-retry-count, Idempotency-Key, "
        "x-sdk-retry-count, opc-client-retries",
        "request headers by which a program's own retry layer shows itself", MAY_BE_EMPTY),
    KEY(nested_programs, SCHEMA_GLOBS, SCHEMA_ANYWHERE, "s3backer, libproj.so*, syslog-ng, uacme, dub",
        "programs, scripts, jobs and libraries that retry by themselves"),
    KEY(budget_tokens, SCHEMA_COUNT, SCHEMA_ANYWHERE, "100", "retry budget: a retry takes a token", RANGE(0, 1000000),
        OFF_AT_ZERO),
    KEY(budget_ratio, SCHEMA_DECIMAL, SCHEMA_ANYWHERE, "0.1", "tokens that a success gives back", RANGE(0, 100)),
    KEY(budget_refill_per_s, SCHEMA_DECIMAL, SCHEMA_ANYWHERE, "0.1", "tokens that come back by themselves per second",
        RANGE(0, 1000)),
    KEY(max_retrying, SCHEMA_COUNT, SCHEMA_ANYWHERE, "64",
        "operations between two attempts at once, per origin; the others get no retry", RANGE(0, 256), OFF_AT_ZERO),
    KEY(breaker, SCHEMA_CHOICE, SCHEMA_ANYWHERE, "on", "circuit breaker of an origin that is down for long",
        WORDS(breaker_words)),
    KEY(breaker_failures, SCHEMA_COUNT, SCHEMA_ANYWHERE, "5", "failed attempts in a row that open it", RANGE(1, 10000)),
    KEY(breaker_outage_ms, SCHEMA_MILLISECONDS, SCHEMA_ANYWHERE, "30000",
        "time that those must span at least; 0: the number alone opens it", RANGE(0, DAY_MS)),
    KEY(breaker_failure_pct, SCHEMA_PERCENT, SCHEMA_ANYWHERE, "0", "share of failed attempts that opens it, too",
        RANGE(0, 100), OFF_AT_ZERO),
    KEY(breaker_min_attempts, SCHEMA_COUNT, SCHEMA_ANYWHERE, "20", "fewest attempts that the share is taken of",
        RANGE(1, 100000)),
    KEY(breaker_window_ms, SCHEMA_MILLISECONDS, SCHEMA_ANYWHERE, "10000", "time that the share is taken over",
        RANGE(100, DAY_MS)),
    KEY(breaker_open_ms, SCHEMA_MILLISECONDS, SCHEMA_ANYWHERE, "5000",
        "time that it stays open before the origin is tried again", RANGE(1, DAY_MS)),
    KEY(breaker_probes, SCHEMA_COUNT, SCHEMA_ANYWHERE, "1",
        "fail-fast: operations that try then, in each breaker_open_ms", RANGE(1, 1000)),
    KEY(breaker_action, SCHEMA_CHOICE, SCHEMA_ANYWHERE, "no-retry",
        "while it is open: no-retry (one attempt each), fail-fast (no request)", WORDS(breaker_action_words)),
    KEY(state, SCHEMA_CHOICE, SCHEMA_POLICY_ONLY, "user",
        "budget, breaker, max_retrying are shared by: user (all its processes), process; none: there are none",
        WORDS(state_words)),
    KEY(state_dir, SCHEMA_DIRECTORY, SCHEMA_POLICY_ONLY, "", "directory of the file that processes share"),
    KEY(log, SCHEMA_SINK, SCHEMA_POLICY_ONLY, "none",
        "where records go: none, stderr (as text), stderr-json, syslog, a file (%u: user id)"),
    KEY(log_events, SCHEMA_CHOICE, SCHEMA_POLICY_ONLY, "retries",
        "retries: operations that had a failure; all: every one", WORDS(log_events_words)),
    KEY(log_url, SCHEMA_CHOICE, SCHEMA_POLICY_ONLY, "path",
        "what a record tells of the URL: path, origin, full-path, hash", WORDS(log_url_words)),
    KEY(programs, SCHEMA_GLOBS, SCHEMA_ANYWHERE, "", "act only in these programs"),
    KEY(skip_programs, SCHEMA_GLOBS, SCHEMA_ANYWHERE, "", "never act in these programs"),
    KEY(match, SCHEMA_MATCH, SCHEMA_UPSTREAM_ONLY, "", "the URLs that an [upstream NAME] section is for"),
};

#define KEY_COUNT (sizeof keys / sizeof keys[0])
_Static_assert(KEY_COUNT <= POLICY_KEYS_MAX, "struct policy_section has no room for so many keys");

size_t schema_key_count(void)
{
	return KEY_COUNT;
}

const struct schema_key *schema_key_at(size_t index)
{
	return &keys[index];
}

/* Not strcasecmp(), which obeys the host program's locale: a Turkish one has another small letter for I. */
static bool is_name_of(const char *key_name, const char *name)
{
	while (*name != '\0' && ascii_lower(*name) == *key_name) {
		name++;
		key_name++;
	}
	return *name == '\0' && *key_name == '\0';
}

int schema_find(const char *name)
{
	for (size_t i = 0; i < KEY_COUNT; i++)
		if (is_name_of(keys[i].name, name))
			return (int)i;
	return -1;
}

#define NAME_BYTES_MAX 48

static size_t least_of(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;
	return least < c ? least : c;
}

/* Levenshtein distance, row by row; both texts must be shorter than NAME_BYTES_MAX. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[NAME_BYTES_MAX + 1];
	size_t width = strlen(b);

	for (size_t j = 0; j <= width; j++)
		row[j] = j;
	for (size_t i = 0; a[i] != '\0'; i++) {
		size_t diagonal = row[0];
		row[0] = i + 1;
		for (size_t j = 0; j < width; j++) {
			size_t substituted = diagonal + ((a[i] == '-' ? '_' : ascii_lower(a[i])) != b[j]);
			diagonal = row[j + 1];
			row[j + 1] = least_of(row[j + 1] + 1, row[j] + 1, substituted);
		}
	}
	return row[width];
}

int schema_nearest(const char *name)
{
	size_t length = strlen(name);
	size_t best = length / 3 < 3 ? length / 3 : 3;
	int nearest = -1;

	if (length >= NAME_BYTES_MAX)
		return -1;
	for (size_t i = 0; i < KEY_COUNT; i++) {
		size_t distance = edit_distance(name, keys[i].name);
		if (distance < best || (distance == best && nearest < 0)) {
			best = distance;
			nearest = (int)i;
		}
	}
	return nearest;
}

/* "a, b, c" of a NULL-terminated array. */
static void join_words(const char *const *words, char *out, size_t out_bytes)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; words[i] != NULL && used < out_bytes; i++) {
		int wrote = snprintf(out + used, out_bytes - used, "%s%s", i == 0 ? "" : ", ", words[i]);
		if (wrote < 0)
			return;
		used += (size_t)wrote;
	}
}

static void allowed_number(const struct schema_key *key, const char *noun, char out[static SCHEMA_ALLOWED_BYTES])
{
	snprintf(out, SCHEMA_ALLOWED_BYTES, "%s from %lld to %lld%s", noun, (long long)key->least, (long long)key->most,
	         key->zero_is_off ? ", 0 means off" : "");
}

void schema_allowed(const struct schema_key *key, char out[static SCHEMA_ALLOWED_BYTES])
{
	static const char *const fixed[] = {
	    [SCHEMA_YES_NO] = "yes, no",
	    [SCHEMA_STATUSES] = "HTTP statuses from 100 to 599, separated by commas, or nothing",
	    [SCHEMA_TEXT] = "any text, or nothing",
	    [SCHEMA_HEADER] = "one header name",
	    [SCHEMA_GLOBS] = "program names or shell globs, separated by commas, or nothing",
	    [SCHEMA_DIRECTORY] = "an absolute path, or nothing",
	    [SCHEMA_SINK] = "none, stderr, stderr-json, syslog, or an absolute path; %u in it stands for the user id",
	    [SCHEMA_MATCH] = "[http://|https://]host-glob[:port][/path-glob]",
	};
	char words[SCHEMA_ALLOWED_BYTES];

	switch (key->type) {
	case SCHEMA_CHOICE:
		join_words(key->choices, out, SCHEMA_ALLOWED_BYTES);
		return;
	case SCHEMA_HEADERS:
		snprintf(out, SCHEMA_ALLOWED_BYTES, "header names, separated by commas%s",
		         key->may_be_empty ? ", or nothing" : "");
		return;
	case SCHEMA_ERRORS:
		join_words(schema_error_words, words, sizeof words);
		snprintf(out, SCHEMA_ALLOWED_BYTES, "%.120s, or nothing", words);
		return;
	case SCHEMA_MILLISECONDS:
	case SCHEMA_COUNT:
	case SCHEMA_PERCENT:
	case SCHEMA_BYTES:
	case SCHEMA_DECIMAL:
		allowed_number(key, schema_unit(key), out);
		return;
	case SCHEMA_YES_NO:
	case SCHEMA_STATUSES:
	case SCHEMA_TEXT:
	case SCHEMA_HEADER:
	case SCHEMA_GLOBS:
	case SCHEMA_DIRECTORY:
	case SCHEMA_SINK:
	case SCHEMA_MATCH:
		break;
	}
	snprintf(out, SCHEMA_ALLOWED_BYTES, "%s", fixed[key->type]);
}

const char *schema_unit(const struct schema_key *key)
{
	static const char units[][32] = {
	    [SCHEMA_CHOICE] = "one word",
	    [SCHEMA_MILLISECONDS] = "whole milliseconds",
	    [SCHEMA_COUNT] = "a whole number",
	    [SCHEMA_PERCENT] = "whole percent",
	    [SCHEMA_BYTES] = "whole bytes",
	    [SCHEMA_DECIMAL] = "a decimal number",
	    [SCHEMA_YES_NO] = "yes or no",
	    [SCHEMA_STATUSES] = "list of HTTP statuses",
	    [SCHEMA_ERRORS] = "list of failure classes",
	    [SCHEMA_TEXT] = "text",
	    [SCHEMA_HEADER] = "header name",
	    [SCHEMA_HEADERS] = "list of header names",
	    [SCHEMA_GLOBS] = "list of shell globs",
	    [SCHEMA_DIRECTORY] = "absolute path of a directory",
	    [SCHEMA_SINK] = "log sink",
	    [SCHEMA_MATCH] = "URL pattern",
	};
	return units[key->type];
}
