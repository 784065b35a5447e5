/* SPDX-License-Identifier: MIT */

/*
 * The verdict is a table: each row is a check and the reason with which it ends the operation, in the order of enum
 * engine_reason. The first row that applies decides, so the order of the rows is the precedence, and reading the table
 * is reading the rule. Whose retry it would be is asked once it is clear that there may be one, and before anything
 * that counts or paces ours: an outer layer's retries have limits of their own. What needs a wait comes after the wait
 * was drawn. What is taken comes last, so that no retry which something else forbids ever costs a place or a token; the
 * token is the very last, since it isn't given back.
 *
 * Limits are the intent's where it is ours to retry (engine/intent.h): then its time began before the operation, and
 * what it sent before counts. Otherwise both are zero, and the limits are the operation's.
 */

#include "engine/engine.h"

#include <stddef.h>

#include "engine/backoff.h"
#include "engine/classify.h"
#include "engine/limits.h"
#include "engine/replay.h"
#include "engine/saturate.h"

/* Everything the checks look at. */
struct judgement {
	const struct engine_operation *operation;
	const struct engine_outcome *outcome;
	const struct engine_ports *ports;
	struct engine_finding finding;
	int64_t now_ms;
	int64_t expires_ms;
	int64_t wait_ms;
};

struct check {
	bool (*stops)(const struct judgement *judgement);
	enum engine_reason reason;
};

void engine_begin(struct engine_operation *operation, const struct policy_rules *rules,
                  const struct engine_request *request, int64_t now_ms)
{
	int64_t intent_ms = engine_before(now_ms, request->prior_ms);

	*operation = (struct engine_operation){
	    .rules = rules,
	    .request = *request,
	    .entry_ms = now_ms,
	    .failed_ms = ENGINE_NEVER,
	    .deadline_ms = engine_earlier(engine_end_of(intent_ms, rules->deadline_ms), request->inherited_deadline_ms),
	    .program_deadline_ms = engine_end_of(now_ms, request->program_timeout_ms),
	};
}

void engine_share(struct engine_operation *operation, const struct engine_request *intent)
{
	operation->request.prior_attempts = intent->prior_attempts;
	operation->request.prior_ms = intent->prior_ms;
}

static int64_t at_least_1_ms(int64_t duration_ms)
{
	return duration_ms > 0 ? duration_ms : 1;
}

int64_t engine_end_ms(const struct engine_operation *operation)
{
	return engine_earlier(operation->deadline_ms, operation->program_deadline_ms);
}

static int64_t retry_window_end_ms(const struct engine_operation *operation)
{
	int64_t intent_ms = engine_before(operation->entry_ms, operation->request.prior_ms);

	return engine_end_of(intent_ms, operation->rules->retry_max_time_ms);
}

/* When what the retries add has to be over. */
static int64_t added_end_ms(const struct engine_operation *operation)
{
	return engine_end_of(operation->failed_ms, operation->request.added_limit_ms);
}

static int64_t attempt_limit_ms(const struct engine_operation *operation, int64_t now_ms)
{
	int64_t per_try_ms = operation->rules->per_try_ms > 0 ? operation->rules->per_try_ms : ENGINE_NEVER;
	int64_t ours_ms = engine_earlier(per_try_ms, engine_left(operation->deadline_ms, now_ms));
	int64_t programs_ms = engine_left(operation->program_deadline_ms, now_ms);

	/* A first attempt that starts at entry already has the program's own timeout. */
	if (operation->attempts == 0 && now_ms == operation->entry_ms && programs_ms <= ours_ms)
		return ENGINE_NEVER;
	return at_least_1_ms(engine_earlier(ours_ms, programs_ms));
}

bool engine_plan(struct engine_operation *operation, int64_t now_ms, struct engine_plan *plan)
{
	const struct policy_rules *rules = operation->rules;
	bool first = operation->attempts == 0;

	if (first && engine_left(operation->deadline_ms, now_ms) < engine_shortest_attempt_ms(rules))
		return false;

	plan->limit_ms = attempt_limit_ms(operation, now_ms);
	plan->connect_limit_ms = rules->connect_timeout_ms > 0 ? rules->connect_timeout_ms : ENGINE_NEVER;
	plan->header_limit_ms = ENGINE_NEVER;
	if (!first)
		plan->header_limit_ms = at_least_1_ms(
		    engine_left(engine_earlier(retry_window_end_ms(operation), added_end_ms(operation)), now_ms));
	plan->number = ++operation->attempts;
	return true;
}

void engine_replan(struct engine_operation *operation, int64_t program_timeout_ms, int64_t attempt_start_ms,
                   struct engine_plan *plan)
{
	operation->program_deadline_ms = engine_end_of(operation->entry_ms, program_timeout_ms);
	plan->limit_ms = attempt_limit_ms(operation, attempt_start_ms);
}

static bool was_cancelled(const struct judgement *judgement)
{
	return judgement->outcome->cancelled;
}

static bool was_delivered(const struct judgement *judgement)
{
	return judgement->outcome->delivered;
}

static bool deadline_passed(const struct judgement *judgement)
{
	return judgement->now_ms >= engine_end_ms(judgement->operation);
}

static bool succeeded(const struct judgement *judgement)
{
	return judgement->finding.failure == ENGINE_CLASS_NONE;
}

static bool is_final(const struct judgement *judgement)
{
	return !judgement->finding.passing || judgement->outcome->stop_hint;
}

static bool is_unsafe(const struct judgement *judgement)
{
	return !engine_is_safe_to_replay(judgement->operation->rules, &judgement->operation->request,
	                                 judgement->outcome);
}

static bool was_changed(const struct judgement *judgement)
{
	return judgement->outcome->request_changed;
}

static bool lacks_body(const struct judgement *judgement)
{
	/* What was never sent was never read either. */
	return !judgement->operation->request.body_replayable && !judgement->outcome->unsent;
}

static bool is_an_outer_layers(const struct judgement *judgement)
{
	const struct engine_ports *ports = judgement->ports;

	return ports->yields && ports->yields(ports->context, judgement->finding.failure, judgement->outcome->status);
}

static bool attempts_used_up(const struct judgement *judgement)
{
	const struct engine_operation *operation = judgement->operation;
	int64_t made = (int64_t)operation->attempts + judgement->outcome->resends + operation->request.prior_attempts;

	return made >= operation->rules->max_attempts;
}

static bool asks_too_much(const struct judgement *judgement)
{
	const struct engine_retry_after *asked = &judgement->outcome->retry_after;
	int64_t longest_ms = judgement->operation->rules->retry_after_max_ms;

	if (asked->kind == ENGINE_RETRY_AFTER_BEYOND)
		return true;
	return asked->kind == ENGINE_RETRY_AFTER_WAIT && longest_ms > 0 && asked->wait_ms > longest_ms;
}

static bool leaves_retry_window(const struct judgement *judgement)
{
	return judgement->wait_ms > engine_left(retry_window_end_ms(judgement->operation), judgement->now_ms);
}

/* The longest wait after which an attempt still fits before end_ms; negative if none does. */
static int64_t room_before_ms(const struct judgement *judgement, int64_t end_ms)
{
	int64_t left_ms = engine_left(end_ms, judgement->now_ms);

	if (left_ms == ENGINE_NEVER)
		return ENGINE_NEVER;
	return left_ms - engine_shortest_attempt_ms(judgement->operation->rules);
}

static bool exceeds_deadline(const struct judgement *judgement)
{
	return judgement->wait_ms > room_before_ms(judgement, engine_end_ms(judgement->operation));
}

static bool exceeds_watchdog(const struct judgement *judgement)
{
	return judgement->wait_ms > room_before_ms(judgement, added_end_ms(judgement->operation));
}

static bool outlives_request(const struct judgement *judgement)
{
	return judgement->wait_ms >= engine_left(judgement->expires_ms, judgement->now_ms);
}

static bool cannot_rewind(const struct judgement *judgement)
{
	const struct engine_ports *ports = judgement->ports;

	return ports->can_rewind && !ports->can_rewind(ports->context);
}

static bool finds_breaker_open(const struct judgement *judgement)
{
	const struct engine_ports *ports = judgement->ports;

	return ports->breaker_allows && !ports->breaker_allows(ports->context);
}

static bool finds_no_place(const struct judgement *judgement)
{
	const struct engine_ports *ports = judgement->ports;

	return ports->take_retrying && !ports->take_retrying(ports->context, judgement->wait_ms);
}

static bool finds_budget_empty(const struct judgement *judgement)
{
	const struct engine_ports *ports = judgement->ports;

	if (!ports->take_token || ports->take_token(ports->context))
		return false;
	if (ports->give_retrying)
		ports->give_retrying(ports->context);
	return true;
}

static const struct check checks_before_wait[] = {
    {was_cancelled, ENGINE_CANCELLED},         {was_delivered, ENGINE_DELIVERED},
    {deadline_passed, ENGINE_DEADLINE},        {succeeded, ENGINE_SUCCESS},
    {is_final, ENGINE_TERMINAL_ERROR},         {is_unsafe, ENGINE_UNSAFE_REPLAY},
    {was_changed, ENGINE_REQUEST_CHANGED},     {lacks_body, ENGINE_BODY_NOT_REPLAYABLE},
    {is_an_outer_layers, ENGINE_NESTED},       {attempts_used_up, ENGINE_ATTEMPT_CAP},
    {asks_too_much, ENGINE_RETRY_AFTER_LIMIT},
};

static const struct check checks_of_wait[] = {
    {leaves_retry_window, ENGINE_RETRY_MAX_TIME}, {exceeds_deadline, ENGINE_WAIT_EXCEEDS_DEADLINE},
    {exceeds_watchdog, ENGINE_WATCHDOG_LIMIT},    {outlives_request, ENGINE_REQUEST_EXPIRED},
    {finds_breaker_open, ENGINE_BREAKER_OPEN},    {cannot_rewind, ENGINE_BODY_NOT_REPLAYABLE},
    {finds_no_place, ENGINE_RETRY_CONCURRENCY},   {finds_budget_empty, ENGINE_BUDGET_EMPTY},
};

/* The reason of the first check that stops the operation, or ENGINE_TRANSIENT_FAILURE if none does. */
static enum engine_reason first_reason(const struct judgement *judgement, const struct check *checks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (checks[i].stops(judgement))
			return checks[i].reason;
	}
	return ENGINE_TRANSIENT_FAILURE;
}

/* The longest wait that nothing forbids. */
static int64_t room_ms(const struct judgement *judgement)
{
	const struct engine_operation *operation = judgement->operation;
	int64_t window_ms = engine_left(retry_window_end_ms(operation), judgement->now_ms);
	int64_t end_ms = engine_earlier(engine_end_ms(operation), added_end_ms(operation));
	int64_t expiry_ms = engine_left(judgement->expires_ms, judgement->now_ms);

	/* At the very instant it is expired. */
	if (expiry_ms != ENGINE_NEVER)
		expiry_ms--;
	return engine_earlier(engine_earlier(window_ms, expiry_ms), room_before_ms(judgement, end_ms));
}

static int64_t draw_wait_ms(const struct judgement *judgement)
{
	const struct engine_operation *operation = judgement->operation;

	return engine_wait_ms(operation->rules, operation->attempts, judgement->ports->draw(judgement->ports->context),
	                      judgement->outcome->retry_after, room_ms(judgement));
}

static enum engine_reason judge(struct judgement *judgement)
{
	enum engine_reason reason =
	    first_reason(judgement, checks_before_wait, sizeof checks_before_wait / sizeof checks_before_wait[0]);

	if (reason == ENGINE_RETRY_AFTER_LIMIT)
		judgement->wait_ms = judgement->outcome->retry_after.wait_ms;
	if (reason != ENGINE_TRANSIENT_FAILURE)
		return reason;
	if (judgement->ports->expires_ms)
		judgement->expires_ms = judgement->ports->expires_ms(judgement->ports->context);
	judgement->wait_ms = draw_wait_ms(judgement);
	return first_reason(judgement, checks_of_wait, sizeof checks_of_wait / sizeof checks_of_wait[0]);
}

bool engine_may_retry(const struct engine_operation *operation, const struct engine_outcome *outcome)
{
	const struct judgement judgement = {
	    .operation = operation,
	    .outcome = outcome,
	    .finding = engine_classify(operation->rules, operation->request.method, outcome),
	};

	return !succeeded(&judgement) && !is_final(&judgement) && !is_unsafe(&judgement) && !lacks_body(&judgement) &&
	       !attempts_used_up(&judgement);
}

struct engine_verdict engine_judge(struct engine_operation *operation, const struct engine_outcome *outcome,
                                   int64_t now_ms, const struct engine_ports *ports)
{
	struct judgement judgement = {
	    .operation = operation,
	    .outcome = outcome,
	    .ports = ports,
	    .finding = engine_classify(operation->rules, operation->request.method, outcome),
	    .now_ms = now_ms,
	    .expires_ms = ENGINE_NEVER,
	};
	if (judgement.finding.passing && ports->is_probe && ports->is_probe(ports->context))
		judgement.finding.passing = false;
	struct engine_verdict verdict = {
	    .action = ENGINE_DELIVER,
	    .failure = judgement.finding.failure,
	    .passing = judgement.finding.passing,
	};

	if (!engine_is_proved_unexecuted(operation->rules, outcome))
		operation->maybe_executed = true;
	if (operation->failed_ms == ENGINE_NEVER)
		operation->failed_ms = now_ms;
	verdict.reason = judge(&judgement);
	verdict.wait_ms = judgement.wait_ms;
	if (verdict.reason != ENGINE_TRANSIENT_FAILURE)
		return verdict;

	operation->waited_ms = engine_after(operation->waited_ms, verdict.wait_ms);
	verdict.action = ENGINE_RETRY;
	verdict.ambiguous = operation->maybe_executed && engine_has_effects(operation->request.method);
	verdict.fresh_connection = engine_is_transport_failure(verdict.failure);
	verdict.fresh_lookup = verdict.failure == ENGINE_CLASS_RESOLVE;
	return verdict;
}

void engine_break_off(struct engine_operation *operation, struct engine_verdict *verdict, enum engine_reason reason,
                      int64_t waited_ms)
{
	operation->waited_ms -= verdict->wait_ms - waited_ms;
	verdict->action = ENGINE_DELIVER;
	verdict->reason = reason;
	verdict->wait_ms = waited_ms;
}

void engine_retract(struct engine_operation *operation, struct engine_verdict *verdict)
{
	operation->waited_ms -= verdict->wait_ms;
	*verdict = (struct engine_verdict){
	    .action = ENGINE_DELIVER,
	    .reason = ENGINE_TERMINAL_ERROR,
	    .failure = verdict->failure,
	};
}
