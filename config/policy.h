/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_POLICY_H
#define TENACURL_CONFIG_POLICY_H

/*
 * The policy: what the user asked for, immutable once loaded.
 *
 * A policy is a list of sections. Section 0 is [policy]; the others are the [upstream NAME] sections in file order,
 * each of which starts as a copy of [policy] and replaces what it sets itself. Everything a policy points to lives in
 * one block that belongs to it, so threads read it without a lock and a replaced policy can be kept for those that
 * still use it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/url.h"

enum policy_mode { POLICY_MODE_ENFORCE, POLICY_MODE_AUDIT, POLICY_MODE_OFF };
enum policy_jitter { POLICY_JITTER_FULL, POLICY_JITTER_EQUAL, POLICY_JITTER_NONE };
enum policy_replay { POLICY_REPLAY_IDEMPOTENT, POLICY_REPLAY_UNSENT, POLICY_REPLAY_ALL, POLICY_REPLAY_NONE };
enum policy_resend { POLICY_RESEND_COUNT, POLICY_RESEND_FORBID };
enum policy_nested { POLICY_NESTED_YIELD, POLICY_NESTED_OWN, POLICY_NESTED_OFF };
enum policy_breaker { POLICY_BREAKER_ON, POLICY_BREAKER_OFF };
enum policy_breaker_action { POLICY_BREAKER_NO_RETRY, POLICY_BREAKER_FAIL_FAST };
enum policy_state { POLICY_STATE_USER, POLICY_STATE_PROCESS, POLICY_STATE_NONE };
enum policy_log_sink {
	POLICY_LOG_NONE,
	POLICY_LOG_STDERR, /* as text for people */
	POLICY_LOG_STDERR_JSON,
	POLICY_LOG_SYSLOG,
	POLICY_LOG_FILE
};
enum policy_log_events { POLICY_LOG_EVENTS_RETRIES, POLICY_LOG_EVENTS_ALL };
enum policy_log_url { POLICY_LOG_URL_PATH, POLICY_LOG_URL_ORIGIN, POLICY_LOG_URL_FULL_PATH, POLICY_LOG_URL_HASH };

/* Classes of transport failures, as named by retry_errors; engine/classify.c maps CURLcodes to them. */
enum policy_error_class {
	POLICY_ERROR_RESOLVE = 1 << 0,
	POLICY_ERROR_CONNECT = 1 << 1,
	POLICY_ERROR_TLS = 1 << 2,
	POLICY_ERROR_SEND = 1 << 3,
	POLICY_ERROR_RECEIVE = 1 << 4,
	POLICY_ERROR_EMPTY = 1 << 5,
	POLICY_ERROR_PARTIAL = 1 << 6,
	POLICY_ERROR_HTTP2 = 1 << 7,
	POLICY_ERROR_TIMEOUT = 1 << 8,
};

/* A set of HTTP statuses, 100 to 599. Indexed from 100: bit 0 of bits[0] is status 100. */
struct policy_status_set {
	uint64_t bits[8];
};

/* A list of texts, owned by the policy. */
struct policy_list {
	const char *const *items;
	size_t count;
};

/* `match` of an upstream section, taken apart. scheme and path_glob are NULL where the pattern has none; port 0 means
 * any. */
struct policy_match {
	const char *scheme;
	const char *host_glob;
	int port;
	const char *path_glob;
};

/* One value per policy key, named as the key is; 0 means "off" where the reference says so. */
struct policy_rules {
	enum policy_mode mode;
	int64_t deadline_ms;
	int64_t per_try_ms;
	int64_t connect_timeout_ms;
	int64_t min_try_ms;
	int64_t retry_max_time_ms;
	int64_t max_attempts;
	enum policy_jitter jitter;
	int64_t backoff_base_ms;
	double backoff_multiplier;
	int64_t backoff_cap_ms;
	int64_t backoff_min_ms;
	int64_t retry_after_max_ms;
	int64_t retry_after_jitter_pct;
	struct policy_list retry_after_headers;
	struct policy_status_set retry_status;
	struct policy_status_set retry_status_get_only;
	struct policy_status_set refused_status;
	uint32_t retry_errors;  /* a set of enum policy_error_class */
	const char *final_body; /* NULL: none */
	enum policy_replay replay;
	const char *idempotency_header;
	bool add_idempotency_key;
	int64_t hold_body_bytes;
	int64_t hold_success_bytes;
	int64_t replay_body_bytes;
	bool hold_redirects;
	enum policy_resend resend;
	enum policy_nested nested;
	int64_t nested_window_ms;
	int64_t nested_quiet_ms;
	struct policy_list precondition_headers;
	struct policy_list nested_headers;
	struct policy_list nested_programs;
	int64_t budget_tokens;
	double budget_ratio;
	double budget_refill_per_s;
	int64_t max_retrying;
	enum policy_breaker breaker;
	int64_t breaker_failures;
	int64_t breaker_outage_ms;
	int64_t breaker_failure_pct;
	int64_t breaker_min_attempts;
	int64_t breaker_window_ms;
	int64_t breaker_open_ms;
	int64_t breaker_probes;
	enum policy_breaker_action breaker_action;
	struct policy_list programs;
	struct policy_list skip_programs;

	/* Only [policy] can set these: they belong to the process, not to a request. */
	enum policy_state state;
	const char *state_dir; /* absolute; NULL: the usual places */
	enum policy_log_sink log;
	const char *log_path; /* NULL unless log is POLICY_LOG_FILE; may hold %u */
	enum policy_log_events log_events;
	enum policy_log_url log_url;

	/* Only [upstream NAME] sections have it. */
	struct policy_match match;
};

/* The largest number of keys a schema may have; config/schema.c checks itself against it at compile time. */
#define POLICY_KEYS_MAX 64

struct policy_section {
	const char *name; /* "policy", or NAME of [upstream NAME] */
	struct policy_rules rules;
	/* For each key of the schema, in its order: where the value came from. line is 0 for a built-in default or an
	 * override; in an upstream section with inherited[key] it is a line of [policy]. */
	uint32_t line[POLICY_KEYS_MAX];
	bool inherited[POLICY_KEYS_MAX];
};

struct policy {
	const char *path; /* of the file it was read from; NULL: built-in */
	char hash[17];    /* of the file's bytes, 16 hexadecimal digits; "built-in" without a file */
	struct policy_section *sections;
	size_t section_count; /* at least 1 */
};

/*
 * Returns the built-in policy: every key at its default, no upstream sections. Static, never freed, any thread.
 */
const struct policy *policy_builtin(void);

/*
 * Frees what policy_load() returned. NULL and policy_builtin() are allowed and do nothing.
 */
void policy_free(const struct policy *policy);

/* Returns an own copy of `policy` for the caller to free with policy_free(), or NULL without memory. */
struct policy *policy_copy(const struct policy *policy);

/* Whether `status` is in `set`; false for anything outside 100..599. Pure. */
bool policy_status_in(const struct policy_status_set *set, int status);

/*
 * Returns the section that applies to `url`: the first [upstream NAME] whose match fits it, else [policy]. url: NULL
 * for one that can't be read. Never NULL. Pure, no allocation, any thread.
 */
const struct policy_section *policy_select(const struct policy *policy, const struct url *url);

/*
 * Whether the rules let tenacurl act in this program: none of skip_programs fits one of the names, and one of programs
 * does or programs is empty. Entries are shell globs (fnmatch). names may hold NULLs, which fit nothing. Pure, any
 * thread.
 */
bool policy_allows_program(const struct policy_rules *rules, const char *const *names, size_t name_count);

#endif
