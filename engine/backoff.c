/* SPDX-License-Identifier: MIT */

#include "engine/backoff.h"

#include "engine/saturate.h"

/* Written so that NaN comes out as 0. */
static double clamp_draw(double draw)
{
	if (!(draw > 0))
		return 0;
	return draw < 1 ? draw : 1;
}

/* Repeated multiplication instead of pow(): libm isn't linked, and it stops at the cap after a few rounds. */
static double grown_delay_ms(const struct policy_rules *rules, int retry)
{
	double delay_ms = (double)rules->backoff_base_ms;
	double cap_ms = (double)rules->backoff_cap_ms;

	for (int step = 1; step < retry && delay_ms < cap_ms; step++)
		delay_ms *= rules->backoff_multiplier;
	return delay_ms < cap_ms ? delay_ms : cap_ms;
}

int64_t engine_backoff_ms(const struct policy_rules *rules, int retry, double draw)
{
	double delay_ms = grown_delay_ms(rules, retry);
	int64_t wait_ms;

	switch (rules->jitter) {
	case POLICY_JITTER_NONE:
		break;
	case POLICY_JITTER_EQUAL:
		delay_ms = delay_ms / 2 + delay_ms / 2 * clamp_draw(draw);
		break;
	case POLICY_JITTER_FULL:
		delay_ms *= clamp_draw(draw);
		break;
	}
	wait_ms = engine_whole_ms(delay_ms);
	return wait_ms > rules->backoff_min_ms ? wait_ms : rules->backoff_min_ms;
}

static int64_t jittered_demand_ms(const struct policy_rules *rules, double draw, int64_t asked_ms, int64_t room_ms)
{
	double share = (double)rules->retry_after_jitter_pct / 100 * clamp_draw(draw);
	int64_t wait_ms = engine_after(asked_ms, engine_whole_ms((double)asked_ms * share));

	if (wait_ms <= room_ms)
		return wait_ms;
	return asked_ms > room_ms ? asked_ms : room_ms;
}

int64_t engine_wait_ms(const struct policy_rules *rules, int retry, double draw, struct engine_retry_after asked,
                       int64_t room_ms)
{
	int64_t backoff_ms = engine_backoff_ms(rules, retry, draw);
	int64_t demand_ms = 0;

	if (asked.kind == ENGINE_RETRY_AFTER_WAIT)
		demand_ms = jittered_demand_ms(rules, draw, asked.wait_ms, room_ms);
	return demand_ms > backoff_ms ? demand_ms : backoff_ms;
}
