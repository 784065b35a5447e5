/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_TESTS_UNIT_TEST_ENGINE_INTENT_H
#define TENACURL_TESTS_UNIT_TEST_ENGINE_INTENT_H

/* What the tests of intents share: an intent that failed, and what an operation came to. */

#include "tests/unit/test_engine.h"

#include "engine/intent.h"

enum { BEGAN_MS = 1000000, ENDED_MS = BEGAN_MS + 2000 };

#define SET(failure) (UINT32_C(1) << (failure))

/* An intent whose only operation began at BEGAN_MS and gave a 503 up at ENDED_MS, after two attempts of four. */
static inline struct engine_intent failed_intent(void)
{
	return (struct engine_intent){
	    .began_ms = BEGAN_MS,
	    .ended_ms = ENDED_MS,
	    .sent_ms = ENDED_MS,
	    .operations = 1,
	    .attempts = 2,
	    .extra_attempts = 1,
	    .last_failure = ENGINE_CLASS_STATUS,
	};
}

static inline struct engine_intent_result failure(enum engine_class class, int attempts, enum engine_reason reason)
{
	return (struct engine_intent_result){
	    .ended_ms = ENDED_MS,
	    .sent_ms = ENDED_MS,
	    .attempts = attempts,
	    .failure = class,
	    .reason = reason,
	};
}

#endif
