/* SPDX-License-Identifier: MIT */
#include "interpose/record/witness.h"

#define DIE_SIDES ((double)((UINT64_C(1) << 53) - 1)) /* of interpose/host/dice.c */

/* The ports that the engine gets, and those that answer. */
struct ear {
	struct witness *seen;
	const struct engine_ports *ports;
};

static signed char note(signed char *answer, bool yes)
{
	return *answer = yes ? RECORD_YES : RECORD_NO;
}

static double draw(void *context)
{
	struct ear *ear = context;
	double drawn = ear->ports->draw(ear->ports->context);
	ear->seen->die = (int64_t)(drawn * DIE_SIDES + 0.5);
	return drawn;
}

static bool is_probe(void *context)
{
	struct ear *ear = context;
	return note(&ear->seen->probe, ear->ports->is_probe(ear->ports->context)) == RECORD_YES;
}

static int64_t expires_ms(void *context)
{
	struct ear *ear = context;
	return ear->seen->expires_ms = ear->ports->expires_ms(ear->ports->context);
}

static bool yields(void *context, enum engine_class failure, int status)
{
	struct ear *ear = context;
	return note(&ear->seen->outer_retries, ear->ports->yields(ear->ports->context, failure, status)) == RECORD_YES;
}

static bool breaker_allows(void *context)
{
	struct ear *ear = context;
	return note(&ear->seen->breaker_allows, ear->ports->breaker_allows(ear->ports->context)) == RECORD_YES;
}

static bool can_rewind(void *context)
{
	struct ear *ear = context;
	return note(&ear->seen->can_rewind, ear->ports->can_rewind(ear->ports->context)) == RECORD_YES;
}

static bool take_retrying(void *context, int64_t wait_ms)
{
	struct ear *ear = context;
	return note(&ear->seen->place, ear->ports->take_retrying(ear->ports->context, wait_ms)) == RECORD_YES;
}

static void give_retrying(void *context)
{
	struct ear *ear = context;
	ear->ports->give_retrying(ear->ports->context);
}

static bool take_token(void *context)
{
	struct ear *ear = context;
	return note(&ear->seen->token, ear->ports->take_token(ear->ports->context)) == RECORD_YES;
}

void witness_judge(struct witness *seen, struct course *course, const struct engine_outcome *outcome,
                   const struct engine_ports *ports)
{
	struct ear ear = {.seen = seen, .ports = ports};
	const struct engine_ports heard = {
	    .draw = draw,
	    .is_probe = is_probe,
	    .expires_ms = expires_ms,
	    .yields = yields,
	    .breaker_allows = breaker_allows,
	    .can_rewind = can_rewind,
	    .take_retrying = take_retrying,
	    .give_retrying = give_retrying,
	    .take_token = take_token,
	    .context = &ear,
	};
	seen->die = RECORD_UNKNOWN_MS;
	seen->expires_ms = ENGINE_NEVER;
	seen->probe = seen->outer_retries = seen->breaker_allows = RECORD_NOT_ASKED;
	seen->can_rewind = seen->place = seen->token = RECORD_NOT_ASKED;
	seen->retracted = false;
	course_judge(course, outcome, seen->at_ms, &heard);
	seen->drawn_ms = seen->die != RECORD_UNKNOWN_MS ? course->verdict.wait_ms : RECORD_UNKNOWN_MS;
}

/* An instant as a duration since the operation began. */
static int64_t since_begin_ms(const struct engine_operation *engine, int64_t instant_ms)
{
	return instant_ms == ENGINE_NEVER ? RECORD_UNKNOWN_MS : instant_ms - engine->entry_ms;
}

static void tell_request(const struct engine_operation *engine, struct record_judgement *judged)
{
	static const char *const METHODS[] = {
	    [ENGINE_METHOD_GET] = "GET",     [ENGINE_METHOD_HEAD] = "HEAD", [ENGINE_METHOD_OPTIONS] = "OPTIONS",
	    [ENGINE_METHOD_TRACE] = "TRACE", [ENGINE_METHOD_PUT] = "PUT",   [ENGINE_METHOD_DELETE] = "DELETE",
	    [ENGINE_METHOD_OTHER] = "other",
	};
	const struct engine_request *request = &engine->request;
	judged->treated_as = METHODS[request->method];
	judged->conditional = request->conditional;
	judged->has_idempotency_key = request->has_idempotency_key;
	judged->body_replayable = request->body_replayable;
	judged->program_timeout_ms = since_begin_ms(engine, engine->program_deadline_ms);
	judged->inherited_deadline_ms = since_begin_ms(engine, request->inherited_deadline_ms);
	judged->added_limit_ms = request->added_limit_ms > 0 ? request->added_limit_ms : RECORD_UNKNOWN_MS;
	judged->prior_attempts = request->prior_attempts;
	judged->prior_ms = request->prior_ms;
}

static void tell_outcome(const struct engine_outcome *outcome, struct record_judgement *judged)
{
	judged->status = outcome->status;
	judged->curl_code = outcome->curl_code;
	judged->unsent = outcome->unsent;
	judged->connect_status = outcome->connect_status;
	judged->os_errno = outcome->os_errno;
	judged->single = outcome->single;
	judged->request_changed = outcome->request_changed;
	judged->not_http = outcome->not_http;
	judged->headers_complete = outcome->header_block_complete;
	judged->cancelled = outcome->cancelled;
	judged->delivered = outcome->delivered;
	judged->stop_hint = outcome->stop_hint;
	judged->retry_after_beyond = outcome->retry_after.kind == ENGINE_RETRY_AFTER_BEYOND;
	judged->resends = outcome->resends;
}

void witness_tell(const struct witness *seen, const struct engine_operation *engine,
                  const struct engine_outcome *outcome, struct record_judgement *judged)
{
	bool expires = seen->expires_ms != ENGINE_NEVER;
	tell_request(engine, judged);
	tell_outcome(outcome, judged);
	judged->at_ms = seen->at_ms - engine->entry_ms;
	judged->retracted = seen->retracted;
	judged->probe = seen->probe;
	judged->outer_retries = seen->outer_retries;
	judged->breaker_allows = seen->breaker_allows;
	judged->can_rewind = seen->can_rewind;
	judged->place = seen->place;
	judged->token = seen->token;
	judged->expires_ms = expires ? seen->expires_ms - seen->at_ms : RECORD_UNKNOWN_MS;
	judged->die = seen->die;
	judged->drawn_ms = seen->drawn_ms;
	judged->millitokens = seen->millitokens;
	judged->breaker = seen->breaker;
}
