/* SPDX-License-Identifier: MIT */
/*
 * Judges a log again: replay POLICY <LOG
 *
 * Gives the engine, attempt by attempt, what the records say that it was given, and prints each verdict that isn't the
 * recorded one. The last line tells how many were judged. Exit status: 0 if all are the same.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/policy/ini.c"
#include "cli/policy/load.c"
#include "engine/engine.h"

#define BEGIN_MS        INT64_C(1000000000)
#define DIE_SIDES       ((double)((UINT64_C(1) << 53) - 1))
#define OPERATIONS_MAX  4096
#define INSTANT_UNKNOWN (-1)

/* An operation whose attempts are in the log. */
struct replayed {
	long long pid, number;
	struct engine_operation engine;
};

/* What the engine's ports answer from. */
struct answers {
	const json_t *judged;
	int64_t now_ms;
};

static struct replayed operations[OPERATIONS_MAX];
static size_t operation_count;

static long long number_of(const json_t *object, const char *name, long long if_null)
{
	const json_t *value = json_object_get(object, name);
	return json_is_integer(value) ? (long long)json_integer_value(value) : if_null;
}

static bool is_true(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text ? text : "";
}

/* Whoever is asked now and wasn't then says what lets the verdict pass: a wrong one is seen all the same. */
static bool answer(const struct answers *answers, const char *name, bool otherwise)
{
	const json_t *value = json_object_get(answers->judged, name);
	return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

static double draw(void *context)
{
	const struct answers *answers = context;
	return (double)number_of(answers->judged, "die", 0) / DIE_SIDES;
}

static bool is_probe(void *context)
{
	return answer(context, "probe", false);
}

static int64_t expires_ms(void *context)
{
	const struct answers *answers = context;
	long long left_ms = number_of(answers->judged, "expires_ms", -1);
	return left_ms < 0 ? ENGINE_NEVER : answers->now_ms + left_ms;
}

static bool yields(void *context, enum engine_class failure, int status)
{
	(void)failure;
	(void)status;
	return answer(context, "outer_retries", false);
}

/* The breaker of another policy would look at `breaker`; here both say the same. */
static bool breaker_allows(void *context)
{
	const struct answers *answers = context;
	const char *view = text_of(answers->judged, "breaker");
	return !view[0] || strcmp(view, "closed") == 0;
}

static bool can_rewind(void *context)
{
	return answer(context, "can_rewind", true);
}

static bool take_retrying(void *context, int64_t wait_ms)
{
	(void)wait_ms;
	return answer(context, "place", true);
}

/* By the tokens that there were, not by what was answered. */
static bool take_token(void *context)
{
	const struct answers *answers = context;
	long long millitokens = number_of(answers->judged, "millitokens", -1);
	return millitokens < 0 || millitokens >= 1000;
}

static enum engine_method method_of(const char *word)
{
	return strcmp(word, "other") == 0 ? ENGINE_METHOD_OTHER : engine_method_from_verb(word);
}

static struct engine_request request_of(const json_t *judged)
{
	long long inherited_ms = number_of(judged, "inherited_deadline_ms", INSTANT_UNKNOWN);
	return (struct engine_request){
	    .method = method_of(text_of(judged, "treated_as")),
	    .conditional = is_true(judged, "conditional"),
	    .has_idempotency_key = is_true(judged, "has_idempotency_key"),
	    .body_replayable = is_true(judged, "body_replayable"),
	    .program_timeout_ms = number_of(judged, "program_timeout_ms", 0),
	    .inherited_deadline_ms = inherited_ms == INSTANT_UNKNOWN ? ENGINE_NEVER : BEGIN_MS + inherited_ms,
	    .added_limit_ms = number_of(judged, "added_limit_ms", 0),
	    .prior_attempts = (int)number_of(judged, "prior_attempts", 0),
	    .prior_ms = number_of(judged, "prior_ms", 0),
	};
}

static struct engine_outcome outcome_of(const json_t *attempt, const json_t *judged)
{
	struct engine_outcome outcome = {
	    .curl_code = (int)number_of(judged, "curl_code", 0),
	    .status = (int)number_of(judged, "status", 0),
	    .connect_status = (int)number_of(judged, "connect_status", 0),
	    .os_errno = (int)number_of(judged, "os_errno", 0),
	    .unsent = is_true(judged, "unsent"),
	    .single = is_true(judged, "single"),
	    .request_changed = is_true(judged, "request_changed"),
	    .not_http = is_true(judged, "not_http"),
	    .header_block_complete = is_true(judged, "headers_complete"),
	    .cancelled = is_true(judged, "cancelled"),
	    .delivered = is_true(judged, "delivered"),
	    .resends = (int)number_of(judged, "resends", 0),
	    .stop_hint = is_true(judged, "stop_hint"),
	};
	long long asked_ms = number_of(attempt, "retry_after_ms", -1);
	if (is_true(judged, "retry_after_beyond"))
		outcome.retry_after.kind = ENGINE_RETRY_AFTER_BEYOND;
	else if (asked_ms >= 0)
		outcome.retry_after = (struct engine_retry_after){ENGINE_RETRY_AFTER_WAIT, asked_ms};
	return outcome;
}

/* The operation of the attempt, begun if this is its first. */
static struct engine_operation *find(const json_t *attempt, const struct policy_rules *rules,
                                     const struct engine_request *request)
{
	long long pid = number_of(attempt, "pid", 0), number = number_of(attempt, "operation", 0);
	for (size_t i = 0; i < operation_count; i++)
		if (operations[i].pid == pid && operations[i].number == number)
			return &operations[i].engine;
	if (operation_count == OPERATIONS_MAX)
		exit(2);
	struct replayed *added = &operations[operation_count++];
	*added = (struct replayed){.pid = pid, .number = number};
	engine_begin(&added->engine, rules, request, BEGIN_MS);
	return &added->engine;
}

static const struct policy_rules *rules_of(const struct policy *policy, const char *section)
{
	for (size_t i = 0; i < policy->section_count; i++)
		if (strcmp(policy->sections[i].name, section) == 0)
			return &policy->sections[i].rules;
	return &policy->sections[0].rules;
}

static struct engine_verdict judge(const json_t *attempt, const json_t *judged, const struct policy *policy)
{
	struct engine_request request = request_of(judged);
	struct engine_outcome outcome = outcome_of(attempt, judged);
	struct engine_operation *operation = find(attempt, rules_of(policy, text_of(attempt, "section")), &request);
	struct answers answers = {.judged = judged, .now_ms = BEGIN_MS + number_of(judged, "at_ms", 0)};
	const struct engine_ports ports = {
	    .draw = draw,
	    .is_probe = is_probe,
	    .expires_ms = expires_ms,
	    .yields = yields,
	    .breaker_allows = breaker_allows,
	    .can_rewind = can_rewind,
	    .take_retrying = take_retrying,
	    .take_token = take_token,
	    .context = &answers,
	};
	struct engine_plan plan;
	engine_plan(operation, operation->attempts == 0 ? BEGIN_MS : answers.now_ms, &plan);
	engine_replan(operation, request.program_timeout_ms, BEGIN_MS, &plan);
	engine_share(operation, &request);
	struct engine_verdict verdict = engine_judge(operation, &outcome, answers.now_ms, &ports);
	if (is_true(judged, "retracted"))
		engine_retract(operation, &verdict);
	return verdict;
}

/* Whether the verdict is the recorded one; says so if not. */
static bool is_same(const json_t *attempt, const struct engine_verdict *verdict)
{
	const char *reason = engine_reason_name(verdict->reason);
	long long wait_ms = number_of(attempt, "wait_ms", -1),
	          again_ms = verdict->action == ENGINE_RETRY ? verdict->wait_ms : -1;
	bool is_switched_off = strcmp(text_of(attempt, "reason"), "passed_through") == 0;
	bool same = is_switched_off || (strcmp(reason, text_of(attempt, "reason")) == 0 && wait_ms == again_ms &&
	                                verdict->ambiguous == is_true(attempt, "ambiguous") &&
	                                strcmp(engine_class_name(verdict->failure), text_of(attempt, "failure")) == 0);
	if (!same)
		printf("attempt %lld of operation %lld: %s, wait %lld; recorded: %s, wait %lld\n",
		       number_of(attempt, "attempt", 0), number_of(attempt, "operation", 0), reason, again_ms,
		       text_of(attempt, "reason"), wait_ms);
	return same;
}

int main(int argc, char **argv)
{
	const struct policy_overrides none = {0};
	struct policy_error error;
	const struct policy *policy = argc == 2 ? cli_load_policy(argv[1], &none, NULL, NULL, &error) : NULL;
	char line[8192];
	size_t judged_count = 0;
	bool same = true;
	if (!policy)
		return 2;
	while (fgets(line, sizeof(line), stdin)) {
		json_t *record = json_loads(line, 0, NULL);
		const json_t *judged = json_object_get(record, "judged");
		if (json_is_object(judged)) {
			struct engine_verdict verdict = judge(record, judged, policy);
			same = is_same(record, &verdict) && same;
			judged_count++;
		}
		json_decref(record);
	}
	printf("%zu judged\n", judged_count);
	policy_free(policy);
	return same ? 0 : 1;
}
