/* SPDX-License-Identifier: MIT */

#include "engine/replay.h"

#include "engine/classify.h"

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
	return outcome->unsent || policy_status_in(&rules->refused_status, outcome->status);
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

bool engine_proves_unsent(const struct engine_sent_facts *facts)
{
	/* An earlier hop, or an earlier authentication round, was sent and answered. */
	if (facts->redirects != 0)
		return false;
	/* CURLINFO_REQUEST_SIZE counts the CONNECT itself in some libcurls (7.68, 7.88), so it proves nothing here. */
	if (engine_connect_refused(facts->connect_status, facts->status))
		return true;
	/* Early data and fast open send before libcurl counts, and a negative count is early data that was refused. */
	return facts->request_bytes == 0 && facts->status == 0 && facts->early_data_bytes == 0 && !facts->fast_open;
}
