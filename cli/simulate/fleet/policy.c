/* SPDX-License-Identifier: MIT */

/* The three ways to do without, with too many, and with the right retries, all in terms of this engine's policy. */

#include "cli/simulate/fleet/policy.h"

const char *fleet_policy_name(enum fleet_policy policy)
{
	static const char *const names[] = {
	    [FLEET_NO_RETRIES] = "no retries", [FLEET_NAIVE] = "naive", [FLEET_TENACURL] = "tenacurl"};

	return names[policy];
}

/* Nothing but the number of attempts bounds it. */
static struct policy_rules unbounded_rules(const struct fleet_scenario *scenario, int64_t attempts)
{
	struct policy_rules rules = policy_builtin()->sections[0].rules;

	rules.min_try_ms = 0;
	if (scenario->timeout_ms > 0)
		rules.per_try_ms = scenario->timeout_ms;
	else
		rules.per_try_ms = scenario->rules.per_try_ms;
	rules.retry_max_time_ms = 0;
	rules.max_attempts = attempts;
	rules.jitter = POLICY_JITTER_NONE;
	rules.backoff_base_ms = 0;
	rules.replay = POLICY_REPLAY_ALL;
	rules.budget_tokens = 0;
	rules.max_retrying = 0;
	rules.breaker = POLICY_BREAKER_OFF;
	return rules;
}

struct policy_rules fleet_rules_of(const struct fleet_scenario *scenario, enum fleet_policy policy)
{
	struct policy_rules rules = scenario->rules;

	if (policy != FLEET_TENACURL)
		return unbounded_rules(scenario, policy == FLEET_NAIVE ? scenario->naive_attempts : 1);
	if (rules.state == POLICY_STATE_NONE) {
		rules.budget_tokens = 0;
		rules.max_retrying = 0;
		rules.breaker = POLICY_BREAKER_OFF;
	}
	return rules;
}
