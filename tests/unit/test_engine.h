/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_TESTS_UNIT_TEST_ENGINE_H
#define TENACURL_TESTS_UNIT_TEST_ENGINE_H

/*
 * What the engine's tests share: a policy to start from, a request that anything may be done with, and ports whose dice
 * and budget are set by the test and which count how often they are asked.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/engine.h"

#define countof(array) (sizeof(array) / sizeof((array)[0]))

struct test_ports {
	double draw;
	bool tokens;
	bool outer_layer;
	bool breaker_open;
	bool cannot_rewind;
	bool places_taken;
	bool probe;
	int64_t expires_ms; /* 0: never */
	int draws_asked;
	int yields_asked;
	enum engine_class yields_failure;
	int yields_status;
	int tokens_asked;
	int places_held;
	int64_t place_wait_ms;
};

static inline double test_draw(void *context)
{
	struct test_ports *ports = context;

	ports->draws_asked++;
	return ports->draw;
}

static inline bool test_yields(void *context, enum engine_class failure, int status)
{
	struct test_ports *ports = context;

	ports->yields_asked++;
	ports->yields_failure = failure;
	ports->yields_status = status;
	return ports->outer_layer;
}

static inline bool test_is_probe(void *context)
{
	struct test_ports *ports = context;

	return ports->probe;
}

static inline int64_t test_expires_ms(void *context)
{
	struct test_ports *ports = context;

	return ports->expires_ms > 0 ? ports->expires_ms : ENGINE_NEVER;
}

static inline bool test_take_token(void *context)
{
	struct test_ports *ports = context;

	ports->tokens_asked++;
	return ports->tokens;
}

static inline bool test_breaker_allows(void *context)
{
	struct test_ports *ports = context;

	return !ports->breaker_open;
}

static inline bool test_can_rewind(void *context)
{
	struct test_ports *ports = context;

	return !ports->cannot_rewind;
}

static inline bool test_take_retrying(void *context, int64_t wait_ms)
{
	struct test_ports *ports = context;

	if (ports->places_taken)
		return false;
	ports->places_held++;
	ports->place_wait_ms = wait_ms;
	return true;
}

static inline void test_give_retrying(void *context)
{
	struct test_ports *ports = context;

	ports->places_held--;
}

static inline struct engine_ports test_engine_ports(struct test_ports *ports)
{
	return (struct engine_ports){
	    .draw = test_draw,
	    .is_probe = test_is_probe,
	    .expires_ms = test_expires_ms,
	    .yields = test_yields,
	    .breaker_allows = test_breaker_allows,
	    .can_rewind = test_can_rewind,
	    .take_retrying = test_take_retrying,
	    .give_retrying = test_give_retrying,
	    .take_token = test_take_token,
	    .context = ports,
	};
}

static inline void test_add_status(struct policy_status_set *set, int status)
{
	set->bits[(status - 100) / 64] |= UINT64_C(1) << (status - 100) % 64;
}

/* The built-in policy's values where the engine looks, written out so that a changed default fails its own test only.
 */
static inline struct policy_rules test_rules(void)
{
	static const int retried[] = {408, 429, 502, 503, 504, 522};
	struct policy_rules rules = {
	    .min_try_ms = 100,
	    .retry_max_time_ms = 30000,
	    .max_attempts = 4,
	    .backoff_base_ms = 1000,
	    .backoff_multiplier = 2,
	    .backoff_cap_ms = 10000,
	    .retry_after_max_ms = 30000,
	    .retry_after_jitter_pct = 10,
	    .retry_errors = 0x1ff,
	    .replay = POLICY_REPLAY_IDEMPOTENT,
	    .budget_tokens = 100,
	    .budget_ratio = 0.1,
	    .budget_refill_per_s = 0.1,
	    .max_retrying = 64,
	    .breaker_failures = 5,
	    .breaker_outage_ms = 30000,
	    .breaker_min_attempts = 20,
	    .breaker_window_ms = 10000,
	    .breaker_open_ms = 5000,
	    .breaker_probes = 1,
	};

	for (size_t i = 0; i < countof(retried); i++)
		test_add_status(&rules.retry_status, retried[i]);
	test_add_status(&rules.retry_status_get_only, 500);
	test_add_status(&rules.retry_status_get_only, 524);
	return rules;
}

static inline struct engine_request test_request(enum engine_method method)
{
	return (struct engine_request){
	    .method = method,
	    .body_replayable = true,
	    .inherited_deadline_ms = ENGINE_NEVER,
	};
}

static inline struct engine_outcome test_status(int status)
{
	return (struct engine_outcome){.status = status, .single = true, .header_block_complete = true};
}

static inline struct engine_outcome test_code(int curl_code)
{
	return (struct engine_outcome){.curl_code = curl_code};
}

/* Names instead of numbers, so that a failure can be read. */
static inline void assert_reason(enum engine_reason actual, enum engine_reason expected)
{
	assert_string_equal(engine_reason_name(actual), engine_reason_name(expected));
}

static inline void assert_class(enum engine_class actual, enum engine_class expected)
{
	assert_string_equal(engine_class_name(actual), engine_class_name(expected));
}

#endif
