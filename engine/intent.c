/* SPDX-License-Identifier: MIT */

/*
 * An intent's account. The program's own operations can't be told from an outer layer's until something failed, so
 * everything here starts from the failure that the last operation returned: without one there is nothing to share, and
 * a caller that comes back after a success begins anew.
 */

#include "engine/intent.h"

#include "engine/limits.h"
#include "engine/saturate.h"

/* Reasons with which we gave an operation up for lack of something that its repeat lacks as well. */
static const uint32_t stopping_reasons =
    UINT32_C(1) << ENGINE_ATTEMPT_CAP | UINT32_C(1) << ENGINE_RETRY_AFTER_LIMIT | UINT32_C(1) << ENGINE_RETRY_MAX_TIME |
    UINT32_C(1) << ENGINE_WAIT_EXCEEDS_DEADLINE | UINT32_C(1) << ENGINE_BREAKER_OPEN |
    UINT32_C(1) << ENGINE_RETRY_CONCURRENCY | UINT32_C(1) << ENGINE_BUDGET_EMPTY;

/* A set of one. What is no class, as a damaged file may say, is in no set. */
static uint32_t set_of(uint32_t failure)
{
	return failure < 32 ? UINT32_C(1) << failure : 0;
}

static int64_t elapsed_ms(int64_t since_ms, int64_t now_ms)
{
	int64_t elapsed = engine_left(now_ms, since_ms);

	return elapsed > 0 ? elapsed : 0;
}

static int32_t sum_of(int32_t sum, int64_t more)
{
	int64_t total = sum + more;

	return total < INT32_MAX ? (int32_t)total : INT32_MAX;
}

enum engine_return engine_intent_return(const struct engine_intent *intent, int64_t now_ms)
{
	int64_t rhythm_ms = intent->success_gap_ms;

	if (intent->last_failure == ENGINE_CLASS_NONE)
		return ENGINE_RETURN_FRESH;
	/* A fifth sooner is still as late: no caller is punctual, and a failure may take less time than a success. */
	if (rhythm_ms > 0 && elapsed_ms(intent->ended_ms, now_ms) >= rhythm_ms - rhythm_ms / 5)
		return ENGINE_RETURN_POLL;
	return ENGINE_RETURN_RETRY;
}

static void begin_afresh(struct engine_intent *intent, int64_t now_ms)
{
	intent->began_ms = now_ms;
	intent->asked_until_ms = 0;
	intent->operations = 0;
	intent->attempts = 0;
	intent->extra_attempts = 0;
	intent->failures = 0;
	intent->stopped = false;
}

static void note_success_gap(struct engine_intent *intent, int64_t gap_ms)
{
	if (gap_ms < 1)
		gap_ms = 1;
	if (intent->success_gap_ms == 0 || gap_ms < intent->success_gap_ms)
		intent->success_gap_ms = gap_ms;
}

void engine_intent_resume(struct engine_intent *intent, enum engine_return how, int64_t now_ms)
{
	switch (how) {
	case ENGINE_RETURN_FRESH:
		if (intent->ended_ms != 0)
			note_success_gap(intent, elapsed_ms(intent->ended_ms, now_ms));
		begin_afresh(intent, now_ms);
		break;
	case ENGINE_RETURN_POLL:
		intent->extra_attempts = 0;
		intent->operations = 0;
		break;
	case ENGINE_RETURN_RETRY:
		intent->failures |= set_of(intent->last_failure);
		break;
	}
}

static bool is_used_up(const struct engine_intent *intent, const struct policy_rules *rules, int64_t now_ms)
{
	int64_t deadline_ms = engine_end_of(intent->began_ms, rules->deadline_ms);

	return intent->stopped || intent->attempts >= rules->max_attempts || now_ms < intent->asked_until_ms ||
	       now_ms > engine_end_of(intent->began_ms, rules->retry_max_time_ms) ||
	       engine_left(deadline_ms, now_ms) < engine_shortest_attempt_ms(rules);
}

static int64_t quiet_until_ms(const struct engine_intent *intent, const struct policy_rules *rules)
{
	int64_t quiet_ms = engine_after(intent->sent_ms, rules->nested_quiet_ms);

	return quiet_ms > intent->asked_until_ms ? quiet_ms : intent->asked_until_ms;
}

bool engine_intent_admit(const struct engine_intent *intent, const struct policy_rules *rules, int64_t now_ms,
                         struct engine_request *request)
{
	request->prior_attempts = 0;
	request->prior_ms = 0;
	if (intent->last_failure == ENGINE_CLASS_NONE || intent->attempts == 0)
		return true;
	if (is_used_up(intent, rules, now_ms)) {
		request->prior_attempts = (int)rules->max_attempts - 1;
		return now_ms >= quiet_until_ms(intent, rules);
	}
	request->prior_attempts = intent->attempts;
	request->prior_ms = elapsed_ms(intent->began_ms, now_ms);
	return true;
}

bool engine_intent_yields(const struct engine_intent *intent, const struct policy_rules *rules, bool returned,
                          enum engine_class failure, int made)
{
	if (!returned)
		return false;
	if (intent->failures & set_of(failure))
		return true;
	return sum_of(intent->extra_attempts, made - 1) >= rules->max_attempts - 1;
}

void engine_intent_add(struct engine_intent *intent, const struct engine_intent_result *result)
{
	int64_t requests = (int64_t)result->attempts + result->resends;

	if (result->attempts == 0)
		return;
	intent->ended_ms = result->ended_ms;
	intent->sent_ms = result->sent_ms;
	if (result->asked_until_ms > intent->asked_until_ms)
		intent->asked_until_ms = result->asked_until_ms;
	intent->operations = sum_of(intent->operations, 1);
	intent->attempts = sum_of(intent->attempts, requests);
	intent->extra_attempts = sum_of(intent->extra_attempts, requests - 1);
	intent->last_failure = result->failure;
	intent->stopped = (stopping_reasons & UINT32_C(1) << result->reason) != 0;
}
