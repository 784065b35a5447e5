/* SPDX-License-Identifier: MIT */

#include "engine/replay.h"

bool engine_has_effects(enum engine_method method)
{
	switch (method) {
	case ENGINE_METHOD_GET:
	case ENGINE_METHOD_HEAD:
	case ENGINE_METHOD_OPTIONS:
	case ENGINE_METHOD_TRACE:
		return false;
	case ENGINE_METHOD_PUT:
	case ENGINE_METHOD_DELETE:
	case ENGINE_METHOD_OTHER:
		break;
	}
	return true;
}

bool engine_is_proved_unexecuted(const struct policy_rules *rules, const struct engine_outcome *outcome)
{
	/* A refusal says nothing of the requests that the attempt made before the one that got it. */
	return outcome->unsent || (outcome->single && policy_status_in(&rules->refused_status, outcome->status));
}

/*
 * Idempotent by RFC 9110 §9.2.2. A conditional PUT or DELETE isn't, as its author sees it: if the first one was
 * executed, the repeat fails its own precondition with 412.
 */
static bool is_idempotent(const struct engine_request *request)
{
	if (request->has_idempotency_key || !engine_has_effects(request->method))
		return true;
	if (request->method != ENGINE_METHOD_PUT && request->method != ENGINE_METHOD_DELETE)
		return false;
	return !request->conditional;
}

bool engine_is_safe_to_replay(const struct policy_rules *rules, const struct engine_request *request,
                              const struct engine_outcome *outcome)
{
	if (rules->replay == POLICY_REPLAY_NONE)
		return false;
	if (engine_is_proved_unexecuted(rules, outcome) || rules->replay == POLICY_REPLAY_ALL)
		return true;
	return rules->replay == POLICY_REPLAY_IDEMPOTENT && is_idempotent(request);
}
