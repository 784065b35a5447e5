/* SPDX-License-Identifier: MIT */

#include "cli/simulate/fleet/host.h"

#include "engine/budget.h"

bool fleet_host_admits(struct fleet_host *host, int64_t now_ms)
{
	bool admitted;

	host->breaker = breaker_admit(host->breaker, host->rules, now_ms, &admitted);
	return admitted;
}

bool fleet_host_note(struct fleet_host *host, const struct engine_outcome *outcome, int64_t began_ms, int64_t now_ms)
{
	struct breaker_attempt attempt = {
	    .result = breaker_result_of(outcome), .began_ms = began_ms, .ended_ms = now_ms};
	uint64_t before = host->breaker;

	if (breaker_counts_rate(host->rules)) {
		uint64_t *half = &host->halves[breaker_half_of(host->rules, now_ms)];

		*half = breaker_count(*half, host->rules, attempt.result, now_ms);
		attempt.rate_exceeded = breaker_exceeds_rate(host->halves, host->rules, now_ms);
	}
	host->breaker = breaker_note(before, host->rules, &attempt);
	if (breaker_closes(before, host->breaker))
		host->halves[0] = host->halves[1] = 0;
	return breaker_opens(before, host->breaker);
}

bool fleet_host_allows_retry(const struct fleet_host *host, int64_t now_ms)
{
	return breaker_look(host->breaker, host->rules, now_ms) == BREAKER_CLOSED;
}

bool fleet_host_take_retrying(struct fleet_host *host)
{
	if (host->rules->max_retrying > 0 && host->retrying >= host->rules->max_retrying)
		return false;
	host->retrying++;
	return true;
}

void fleet_host_give_retrying(struct fleet_host *host)
{
	host->retrying--;
}

bool fleet_host_take_token(struct fleet_host *host, int64_t now_ms)
{
	bool granted;

	host->budget = budget_take(host->budget, host->rules, now_ms, &granted);
	return granted;
}

void fleet_host_give_token(struct fleet_host *host, int64_t now_ms)
{
	host->budget = budget_give(host->budget, host->rules, now_ms);
}
