/* SPDX-License-Identifier: MIT */

/*
 * Drives the courses (engine/course.h) of many clients at once: each of them is between two steps (its next operation
 * begins, its attempt ends, its wait is over), and the earliest step of all comes next.
 */

#include "cli/simulate/fleet/run.h"

#include <stdlib.h>

#include "cli/simulate/fleet/dice.h"
#include "cli/simulate/fleet/host.h"
#include "cli/simulate/fleet/origin.h"
#include "cli/simulate/fleet/policy.h"
#include "cli/simulate/fleet/queue.h"
#include "engine/course.h"

/* The clock begins an hour after the host's start: instants before 0 don't exist, and 0 is no special one. */
enum { US_PER_MS = 1000, CLOCK_START_MS = 3600000 };

/* The CURLcodes of attempts without an answer. */
enum { CODE_OK = 0, CODE_COULDNT_CONNECT = 7, CODE_OPERATION_TIMEDOUT = 28 };

enum step { BEGINS_OPERATION, ENDS_ATTEMPT, ENDS_WAIT };

struct client {
	enum step step;
	struct fleet_host *host;
	struct course course;
	struct engine_outcome outcome; /* of the attempt under way */
	int64_t operations;            /* begun */
	int64_t operation_us;          /* instant: where the operation under way began */
};

struct fleet {
	const struct fleet_scenario *scenario;
	struct fleet_result *result;
	struct policy_rules rules;
	bool obeys_hints;           /* of the server: Retry-After */
	int64_t program_timeout_ms; /* of a whole operation; 0: none */
	struct fleet_origin origin;
	struct fleet_queue queue;
	struct client *clients;
	struct fleet_host *hosts;
	size_t host_count;
	uint64_t dice;
	int64_t now_us;
	bool out_of_memory;
};

/* What a port gets. */
struct asker {
	struct fleet *fleet;
	struct client *client;
};

static int64_t clock_ms(int64_t instant_us)
{
	return CLOCK_START_MS + instant_us / US_PER_MS;
}

static struct fleet_bin *bin_now(struct fleet *fleet)
{
	static struct fleet_bin nowhere;
	struct fleet_result *result = fleet->result;
	size_t index = (size_t)(fleet->now_us / US_PER_MS / FLEET_BIN_MS);

	if (index >= result->bin_count) {
		size_t count = index + 1 + index / 2;
		struct fleet_bin *bins = realloc(result->bins, count * sizeof *bins);

		if (!bins) {
			fleet->out_of_memory = true;
			return &nowhere;
		}
		for (size_t i = result->bin_count; i < count; i++)
			bins[i] = (struct fleet_bin){0};
		result->bins = bins;
		result->bin_count = count;
	}
	return &result->bins[index];
}

static void put(struct fleet *fleet, struct client *client, enum step step, int64_t at_us)
{
	client->step = step;
	fleet_queue_put(&fleet->queue, at_us, (size_t)(client - fleet->clients));
}

static double draw(void *context)
{
	struct asker *asker = context;

	return fleet_dice_draw(&asker->fleet->dice);
}

static bool breaker_admits(void *context)
{
	struct asker *asker = context;

	return fleet_host_admits(asker->client->host, clock_ms(asker->fleet->now_us));
}

static bool breaker_allows(void *context)
{
	struct asker *asker = context;

	return fleet_host_allows_retry(asker->client->host, clock_ms(asker->fleet->now_us));
}

static bool take_retrying(void *context, int64_t wait_ms)
{
	struct asker *asker = context;

	(void)wait_ms;
	return fleet_host_take_retrying(asker->client->host);
}

static void give_retrying(void *context)
{
	struct asker *asker = context;

	fleet_host_give_retrying(asker->client->host);
}

static bool take_token(void *context)
{
	struct asker *asker = context;

	return fleet_host_take_token(asker->client->host, clock_ms(asker->fleet->now_us));
}

static void plan_next_operation(struct fleet *fleet, struct client *client)
{
	const struct fleet_scenario *scenario = fleet->scenario;
	int64_t at_us = client->operation_us + scenario->interval_ms * US_PER_MS;

	if (at_us < fleet->now_us)
		at_us = fleet->now_us;
	if (scenario->operations > 0 && client->operations >= scenario->operations)
		return;
	if (scenario->duration_ms > 0 && at_us >= scenario->duration_ms * US_PER_MS)
		return;
	put(fleet, client, BEGINS_OPERATION, at_us);
}

static void end_operation(struct fleet *fleet, struct client *client, enum engine_reason reason)
{
	struct fleet_result *result = fleet->result;
	struct fleet_bin *bin = bin_now(fleet);
	int64_t took_ms = (fleet->now_us - client->operation_us) / US_PER_MS;

	result->operations++;
	result->stops[reason]++;
	bin->ended++;
	if (reason == ENGINE_SUCCESS) {
		result->succeeded++;
		bin->succeeded++;
		fleet_host_give_token(client->host, clock_ms(fleet->now_us));
	}
	if (took_ms > result->longest_ms)
		result->longest_ms = took_ms;
	if (fleet->now_us / US_PER_MS > result->elapsed_ms)
		result->elapsed_ms = fleet->now_us / US_PER_MS;
	plan_next_operation(fleet, client);
}

/* A call that makes no request takes a moment, too: time would stand still for a program without a pause. */
static void refuse_operation(struct fleet *fleet, struct client *client, enum engine_reason reason)
{
	fleet->now_us += US_PER_MS;
	end_operation(fleet, client, reason);
	fleet->now_us -= US_PER_MS;
}

static struct engine_outcome outcome_of(const struct fleet *fleet, const struct fleet_answer *answer)
{
	struct engine_outcome outcome = {.status = answer->status, .single = true, .header_block_complete = true};

	if (answer->status == 0) {
		outcome.curl_code = CODE_COULDNT_CONNECT;
		outcome.unsent = true;
	} else if (answer->status == 503 && fleet->scenario->retry_after_ms > 0 && fleet->obeys_hints) {
		outcome.retry_after = (struct engine_retry_after){.kind = ENGINE_RETRY_AFTER_WAIT,
		                                                  .wait_ms = fleet->scenario->retry_after_ms};
	}
	return outcome;
}

/* How long the attempt may take, in ms: ENGINE_NEVER if nothing bounds it. */
static int64_t limit_of(const struct fleet *fleet, const struct engine_plan *plan)
{
	int64_t limit_ms = plan->limit_ms < plan->header_limit_ms ? plan->limit_ms : plan->header_limit_ms;

	/* The engine leaves a first attempt to the program's own timeout. */
	if (limit_ms == ENGINE_NEVER && fleet->program_timeout_ms > 0)
		return fleet->program_timeout_ms;
	return limit_ms;
}

/* Makes the attempt that the course has planned. */
static void begin_attempt(struct fleet *fleet, struct client *client)
{
	struct fleet_answer answer;
	int64_t limit_ms = limit_of(fleet, &client->course.plan);

	fleet->result->requests++;
	bin_now(fleet)->requests++;
	answer = fleet_origin_send(&fleet->origin, fleet->now_us);
	client->outcome = outcome_of(fleet, &answer);
	if (limit_ms != ENGINE_NEVER && answer.at_us - fleet->now_us > limit_ms * US_PER_MS) {
		answer.at_us = fleet->now_us + limit_ms * US_PER_MS;
		client->outcome = (struct engine_outcome){.curl_code = CODE_OPERATION_TIMEDOUT};
	}
	put(fleet, client, ENDS_ATTEMPT, answer.at_us);
}

static void begin_operation(struct fleet *fleet, struct client *client)
{
	const struct engine_request request = {
	    .method = ENGINE_METHOD_GET,
	    .body_replayable = true,
	    .inherited_deadline_ms = ENGINE_NEVER,
	    .program_timeout_ms = fleet->program_timeout_ms,
	};

	struct asker asker = {.fleet = fleet, .client = client};
	const struct course_admission admission = {.breaker_admits = breaker_admits, .context = &asker};

	client->operation_us = fleet->now_us;
	client->operations++;
	course_begin(&client->course, &fleet->rules, &request, clock_ms(fleet->now_us));
	if (course_start(&client->course, &admission) == COURSE_SEND)
		begin_attempt(fleet, client);
	else
		refuse_operation(fleet, client, client->course.verdict.reason);
}

static void end_attempt(struct fleet *fleet, struct client *client)
{
	struct asker asker = {.fleet = fleet, .client = client};
	const struct engine_ports ports = {
	    .draw = draw,
	    .breaker_allows = breaker_allows,
	    .take_retrying = take_retrying,
	    .give_retrying = give_retrying,
	    .take_token = take_token,
	    .context = &asker,
	};
	struct course *course = &client->course;
	int64_t now_ms = clock_ms(fleet->now_us);

	fleet->result->breaker_opened += fleet_host_note(client->host, &client->outcome, course->start_ms, now_ms);
	course_judge(course, &client->outcome, now_ms, &ports);
	if (course_ended(course) == COURSE_WAIT)
		put(fleet, client, ENDS_WAIT, fleet->now_us + course->verdict.wait_ms * US_PER_MS);
	else
		end_operation(fleet, client, course->verdict.reason);
}

static void end_wait(struct fleet *fleet, struct client *client)
{
	fleet_host_give_retrying(client->host);
	course_due(&client->course, clock_ms(fleet->now_us));
	begin_attempt(fleet, client);
}

static bool begin_fleet(struct fleet *fleet)
{
	const struct fleet_scenario *scenario = fleet->scenario;
	size_t client_count = (size_t)scenario->clients;
	uint64_t phases = (uint64_t)scenario->seed * 3 + 2;

	fleet->dice = (uint64_t)scenario->seed * 3;
	fleet->host_count = scenario->rules.state == POLICY_STATE_USER ? (size_t)scenario->hosts : client_count;
	fleet->clients = calloc(client_count, sizeof *fleet->clients);
	fleet->hosts = calloc(fleet->host_count, sizeof *fleet->hosts);
	if (!fleet_queue_begin(&fleet->queue, client_count) || !fleet->clients || !fleet->hosts)
		return false;
	fleet_origin_begin(&fleet->origin, scenario);
	for (size_t i = 0; i < fleet->host_count; i++)
		fleet->hosts[i].rules = &fleet->rules;
	for (size_t i = 0; i < client_count; i++) {
		double phase = fleet_dice_draw(&phases);

		fleet->clients[i].host = &fleet->hosts[i % fleet->host_count];
		put(fleet, &fleet->clients[i], BEGINS_OPERATION,
		    (int64_t)(phase * (double)(scenario->interval_ms * US_PER_MS)));
	}
	return true;
}

static void run_to_end(struct fleet *fleet)
{
	static void (*const steps[])(struct fleet *, struct client *) = {
	    [BEGINS_OPERATION] = begin_operation, [ENDS_ATTEMPT] = end_attempt, [ENDS_WAIT] = end_wait};
	struct fleet_event event;

	while (!fleet->out_of_memory && fleet_queue_take(&fleet->queue, &event)) {
		struct client *client = &fleet->clients[event.client];

		fleet->now_us = event.at_us;
		steps[client->step](fleet, client);
	}
}

static bool is_bad(const struct fleet_bin *bin, double usual_share)
{
	return (double)bin->succeeded < FLEET_RECOVERED * usual_share * (double)bin->ended;
}

/* Looks from the end for the last span in which too little succeeded. */
static int64_t recovery_of(const struct fleet_scenario *scenario, const struct fleet_result *result)
{
	int64_t over_ms = scenario->outage_count > 0 ? scenario->outages[scenario->outage_count - 1].end_ms : 0;
	int64_t end_ms = scenario->duration_ms > 0 ? scenario->duration_ms : result->elapsed_ms;
	size_t bin = (size_t)(end_ms / FLEET_BIN_MS);

	if (over_ms == 0 || over_ms >= end_ms)
		return 0;
	if (bin > result->bin_count)
		bin = result->bin_count;
	while (bin > 0 && !is_bad(&result->bins[bin - 1], 1 - scenario->failure))
		bin--;
	if ((int64_t)bin * FLEET_BIN_MS <= over_ms)
		return 0;
	if ((int64_t)(bin + 1) * FLEET_BIN_MS > end_ms)
		return FLEET_NEVER;
	return (int64_t)bin * FLEET_BIN_MS - over_ms;
}

bool fleet_run(const struct fleet_scenario *scenario, enum fleet_policy policy, struct fleet_result *result)
{
	struct fleet fleet = {
	    .scenario = scenario,
	    .result = result,
	    .rules = fleet_rules_of(scenario, policy),
	    .obeys_hints = policy == FLEET_TENACURL,
	    .program_timeout_ms = policy == FLEET_TENACURL ? scenario->timeout_ms : 0,
	};
	bool ran;

	*result = (struct fleet_result){0};
	ran = begin_fleet(&fleet);
	if (ran)
		run_to_end(&fleet);
	ran = ran && !fleet.out_of_memory;
	if (ran)
		result->recovery_ms = recovery_of(scenario, result);
	fleet_queue_end(&fleet.queue);
	free(fleet.clients);
	free(fleet.hosts);
	return ran;
}

void fleet_result_end(struct fleet_result *result)
{
	free(result->bins);
}

int64_t fleet_peak_per_s(const struct fleet_result *result)
{
	int64_t most = 0;

	for (size_t i = 0; i < result->bin_count; i++)
		most = result->bins[i].requests > most ? result->bins[i].requests : most;
	return most * 1000 / FLEET_BIN_MS;
}
