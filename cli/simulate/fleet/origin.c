/* SPDX-License-Identifier: MIT */

#include "cli/simulate/fleet/origin.h"

#include "cli/simulate/fleet/dice.h"

enum { US_PER_MS = 1000, US_PER_S = 1000000 };

void fleet_origin_begin(struct fleet_origin *origin, const struct fleet_scenario *scenario)
{
	*origin = (struct fleet_origin){.scenario = scenario, .dice = (uint64_t)scenario->seed * 3 + 1};
}

static const struct fleet_outage *outage_at(const struct fleet_scenario *scenario, int64_t now_us)
{
	for (size_t i = 0; i < scenario->outage_count; i++) {
		const struct fleet_outage *outage = &scenario->outages[i];

		if (now_us >= outage->begin_ms * US_PER_MS && now_us < outage->end_ms * US_PER_MS)
			return outage;
	}
	return NULL;
}

/* The instant at which that much work is done that is begun at from_us; it rests while the server stalls. */
static double after_work(const struct fleet_scenario *scenario, double from_us, double work_us)
{
	double end_us = from_us + work_us;

	if (scenario->outage_kind != FLEET_STALLS)
		return end_us;
	for (size_t i = 0; i < scenario->outage_count; i++) {
		double begin_us = (double)(scenario->outages[i].begin_ms * US_PER_MS);
		double over_us = (double)(scenario->outages[i].end_ms * US_PER_MS);

		if (from_us >= over_us || end_us < begin_us)
			continue;
		end_us += over_us - (from_us > begin_us ? from_us : begin_us);
	}
	return end_us;
}

/* The work that could be done between two instants. */
static double work_between(const struct fleet_scenario *scenario, int64_t from_us, int64_t to_us)
{
	double work_us = (double)(to_us - from_us);

	if (scenario->outage_kind != FLEET_STALLS)
		return work_us;
	for (size_t i = 0; i < scenario->outage_count; i++) {
		int64_t begin_us = scenario->outages[i].begin_ms * US_PER_MS;
		int64_t over_us = scenario->outages[i].end_ms * US_PER_MS;

		begin_us = begin_us > from_us ? begin_us : from_us;
		over_us = over_us < to_us ? over_us : to_us;
		if (over_us > begin_us)
			work_us -= (double)(over_us - begin_us);
	}
	return work_us;
}

/* Brings the queue up to now. */
static void work_off(struct fleet_origin *origin, int64_t now_us)
{
	origin->backlog_us -= work_between(origin->scenario, origin->seen_us, now_us);
	if (origin->backlog_us < 0)
		origin->backlog_us = 0;
	origin->seen_us = now_us;
}

struct fleet_answer fleet_origin_send(struct fleet_origin *origin, int64_t now_us)
{
	const struct fleet_scenario *scenario = origin->scenario;
	double service_us = scenario->capacity_per_s > 0 ? (double)US_PER_S / (double)scenario->capacity_per_s : 0;
	bool fails = fleet_dice_draw(&origin->dice) < scenario->failure;
	struct fleet_answer answer = {.at_us = now_us + scenario->latency_ms * US_PER_MS, .status = fails ? 503 : 200};

	work_off(origin, now_us);
	if (scenario->outage_kind != FLEET_STALLS && outage_at(scenario, now_us)) {
		answer.status = scenario->outage_kind == FLEET_REFUSES ? 0 : 503;
		return answer;
	}
	if (scenario->queue > 0 && origin->backlog_us > service_us * (double)scenario->queue) {
		answer.status = 503;
		return answer;
	}
	origin->backlog_us += service_us;
	answer.at_us += (int64_t)after_work(scenario, (double)now_us, origin->backlog_us) - now_us;
	return answer;
}
