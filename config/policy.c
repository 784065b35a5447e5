/* SPDX-License-Identifier: MIT */
#include "config/policy.h"

#include <fnmatch.h>

/* Bit sets of statuses as constants: STATUSES(f) has the words that f(word) gives. */
#define IN_WORD(status, word) (((status)-100) / 64 == (word) ? UINT64_C(1) << (((status)-100) % 64) : UINT64_C(0))
#define RETRY_STATUS(word)                                                                                             \
	(IN_WORD(408, word) | IN_WORD(429, word) | IN_WORD(502, word) | IN_WORD(503, word) | IN_WORD(504, word) |      \
	 IN_WORD(522, word))
#define RETRY_STATUS_GET_ONLY(word) (IN_WORD(500, word) | IN_WORD(524, word))
#define STATUSES(words)                                                                                                \
	{                                                                                                              \
		{                                                                                                      \
			words(0), words(1), words(2), words(3), words(4), words(5), words(6), words(7)                 \
		}                                                                                                      \
	}

#define LIST(items)                                                                                                    \
	{                                                                                                              \
		items, sizeof items / sizeof items[0]                                                                  \
	}

static const char *const retry_after_headers[] = {"Retry-After"};
static const char *const nested_headers[] = {"amz-sdk-request",         "amz-sdk-invocation-id",
                                             "aws-sdk-retry",           "aws-sdk-invocation-id",
                                             "x-goog-api-client",       "x-goog-gcs-idempotency-token",
                                             "x-stainless-retry-count", "Idempotency-Key",
                                             "x-sdk-retry-count",       "opc-client-retries"};
static const char *const nested_programs[] = {"s3backer", "libproj.so*", "syslog-ng", "uacme", "dub"};

/*
 * The schema's defaults as values. They can't be parsed from it here: the built-in policy is what remains when there is
 * no memory, and needs neither a lock nor a first caller. tests/unit/test_policy_schema.c holds the two together.
 */
static const struct policy_section builtin_section = {
    .name = "policy",
    .rules =
        {
            .mode = POLICY_MODE_ENFORCE,
            .min_try_ms = 100,
            .retry_max_time_ms = 30000,
            .max_attempts = 4,
            .jitter = POLICY_JITTER_EQUAL,
            .backoff_base_ms = 1000,
            .backoff_multiplier = 2,
            .backoff_cap_ms = 10000,
            .retry_after_max_ms = 30000,
            .retry_after_jitter_pct = 10,
            .retry_after_headers = LIST(retry_after_headers),
            .retry_status = STATUSES(RETRY_STATUS),
            .retry_status_get_only = STATUSES(RETRY_STATUS_GET_ONLY),
            .retry_errors = POLICY_ERROR_RESOLVE | POLICY_ERROR_CONNECT | POLICY_ERROR_TLS | POLICY_ERROR_SEND |
                            POLICY_ERROR_RECEIVE | POLICY_ERROR_EMPTY | POLICY_ERROR_PARTIAL | POLICY_ERROR_HTTP2 |
                            POLICY_ERROR_TIMEOUT,
            .replay = POLICY_REPLAY_IDEMPOTENT,
            .idempotency_header = "Idempotency-Key",
            .hold_body_bytes = 65536,
            .replay_body_bytes = 65536,
            .resend = POLICY_RESEND_COUNT,
            .nested = POLICY_NESTED_YIELD,
            .nested_window_ms = 60000,
            .nested_quiet_ms = 5000,
            .nested_headers = LIST(nested_headers),
            .nested_programs = LIST(nested_programs),
            .budget_tokens = 100,
            .budget_ratio = 0.1,
            .budget_refill_per_s = 0.1,
            .max_retrying = 64,
            .breaker = POLICY_BREAKER_ON,
            .breaker_failures = 5,
            .breaker_outage_ms = 30000,
            .breaker_min_attempts = 20,
            .breaker_window_ms = 10000,
            .breaker_open_ms = 5000,
            .breaker_probes = 1,
            .breaker_action = POLICY_BREAKER_NO_RETRY,
            .state = POLICY_STATE_USER,
            .log = POLICY_LOG_NONE,
            .log_events = POLICY_LOG_EVENTS_RETRIES,
            .log_url = POLICY_LOG_URL_PATH,
        },
};

static const struct policy builtin = {
    .hash = "built-in",
    /* Nobody writes through it: a policy is immutable, and policy_override() refuses this one. */
    .sections = (struct policy_section *)(uintptr_t)&builtin_section,
    .section_count = 1,
};

const struct policy *policy_builtin(void)
{
	return &builtin;
}

bool policy_status_in(const struct policy_status_set *set, int status)
{
	if (status < 100 || status > 599)
		return false;
	return (set->bits[(status - 100) / 64] >> ((status - 100) % 64)) & 1;
}

static bool any_fits(const struct policy_list *globs, const char *const *names, size_t name_count)
{
	for (size_t i = 0; i < globs->count; i++)
		for (size_t j = 0; j < name_count; j++)
			if (names[j] != NULL && fnmatch(globs->items[i], names[j], 0) == 0)
				return true;
	return false;
}

bool policy_allows_program(const struct policy_rules *rules, const char *const *names, size_t name_count)
{
	if (any_fits(&rules->skip_programs, names, name_count))
		return false;
	return rules->programs.count == 0 || any_fits(&rules->programs, names, name_count);
}
