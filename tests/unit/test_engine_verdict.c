/* SPDX-License-Identifier: MIT */

/*
 * The verdict's order. Every cause of a stop can be switched on by itself; each must give its own reason, and of any
 * two the earlier one must win, for all pairs.
 */

#include "tests/unit/test_engine.h"

#include <limits.h>

enum { ENTRY_MS = 1000000, NOW_MS = ENTRY_MS + 500, RECV_ERROR = 56 };

/* One attempt about to be judged, at first one that is retried. */
struct scene {
	struct policy_rules rules;
	struct engine_request request;
	struct engine_outcome outcome;
	struct test_ports ports;
	int64_t now_ms;
};

static struct scene retried_scene(void)
{
	struct scene scene = {
	    .rules = test_rules(),
	    .request = test_request(ENGINE_METHOD_GET),
	    .outcome = test_status(503),
	    .ports = {.draw = 0.5, .tokens = true},
	    .now_ms = NOW_MS,
	};

	scene.rules.jitter = POLICY_JITTER_NONE;
	return scene;
}

static struct engine_verdict judge_scene(struct scene *scene)
{
	struct engine_operation operation;
	struct engine_plan plan;
	struct engine_ports ports = test_engine_ports(&scene->ports);

	engine_begin(&operation, &scene->rules, &scene->request, ENTRY_MS);
	assert_true(engine_plan(&operation, ENTRY_MS, &plan));
	return engine_judge(&operation, &scene->outcome, scene->now_ms, &ports);
}

static void cancel(struct scene *scene)
{
	scene->outcome.cancelled = true;
}

static void deliver(struct scene *scene)
{
	scene->outcome.delivered = true;
}

static void pass_deadline(struct scene *scene)
{
	scene->rules.deadline_ms = NOW_MS - ENTRY_MS;
}

static void succeed(struct scene *scene)
{
	scene->outcome.status = 200;
}

static void fail_for_good(struct scene *scene)
{
	scene->outcome.stop_hint = true;
}

static void forbid_replay(struct scene *scene)
{
	scene->rules.replay = POLICY_REPLAY_NONE;
}

static void change_request(struct scene *scene)
{
	scene->outcome.request_changed = true;
}

static void lose_body(struct scene *scene)
{
	scene->request.body_replayable = false;
}

static void leave_it_to_an_outer_layer(struct scene *scene)
{
	scene->ports.outer_layer = true;
}

static void use_up_attempts(struct scene *scene)
{
	scene->rules.max_attempts = 1;
}

static void ask_for_too_much(struct scene *scene)
{
	scene->rules.retry_after_max_ms = 10;
	scene->outcome.retry_after = (struct engine_retry_after){.kind = ENGINE_RETRY_AFTER_WAIT, .wait_ms = 11};
}

static void close_retry_window(struct scene *scene)
{
	scene->rules.retry_max_time_ms = 501;
}

static void leave_no_time(struct scene *scene)
{
	scene->request.program_timeout_ms = 1000;
}

static void let_watchdog_wait(struct scene *scene)
{
	scene->request.added_limit_ms = 1099;
}

static void let_request_expire(struct scene *scene)
{
	scene->ports.expires_ms = scene->now_ms + 1000;
}

static void open_breaker(struct scene *scene)
{
	scene->ports.breaker_open = true;
}

static void take_all_places(struct scene *scene)
{
	scene->ports.places_taken = true;
}

static void empty_budget(struct scene *scene)
{
	scene->ports.tokens = false;
}

static const struct {
	void (*cause)(struct scene *scene);
	enum engine_reason reason;
} causes[] = {
    {cancel, ENGINE_CANCELLED},
    {deliver, ENGINE_DELIVERED},
    {pass_deadline, ENGINE_DEADLINE},
    {succeed, ENGINE_SUCCESS},
    {fail_for_good, ENGINE_TERMINAL_ERROR},
    {forbid_replay, ENGINE_UNSAFE_REPLAY},
    {change_request, ENGINE_REQUEST_CHANGED},
    {lose_body, ENGINE_BODY_NOT_REPLAYABLE},
    {leave_it_to_an_outer_layer, ENGINE_NESTED},
    {use_up_attempts, ENGINE_ATTEMPT_CAP},
    {ask_for_too_much, ENGINE_RETRY_AFTER_LIMIT},
    {close_retry_window, ENGINE_RETRY_MAX_TIME},
    {leave_no_time, ENGINE_WAIT_EXCEEDS_DEADLINE},
    {let_watchdog_wait, ENGINE_WATCHDOG_LIMIT},
    {let_request_expire, ENGINE_REQUEST_EXPIRED},
    {open_breaker, ENGINE_BREAKER_OPEN},
    {take_all_places, ENGINE_RETRY_CONCURRENCY},
    {empty_budget, ENGINE_BUDGET_EMPTY},
};

static void nothing_against_it_is_retried(void **state)
{
	struct scene scene = retried_scene();
	struct engine_verdict verdict = judge_scene(&scene);

	(void)state;
	assert_int_equal(verdict.action, ENGINE_RETRY);
	assert_reason(verdict.reason, ENGINE_TRANSIENT_FAILURE);
	assert_int_equal(verdict.wait_ms, 1000);
}

static void each_cause_has_its_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(causes); i++) {
		struct scene scene = retried_scene();
		struct engine_verdict verdict;

		causes[i].cause(&scene);
		verdict = judge_scene(&scene);
		assert_int_equal(verdict.action, ENGINE_DELIVER);
		assert_reason(verdict.reason, causes[i].reason);
	}
}

static void of_two_causes_the_earlier_wins(void **state)
{
	(void)state;
	for (size_t first = 0; first < countof(causes); first++) {
		for (size_t second = first + 1; second < countof(causes); second++) {
			struct scene scene = retried_scene();

			causes[second].cause(&scene);
			causes[first].cause(&scene);
			assert_reason(judge_scene(&scene).reason, causes[first].reason);
		}
	}
}

/* A draw that nobody needs would make two runs with the same dice differ; a token that buys nothing is lost. */
static void draws_and_tokens_are_asked_for_last(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(causes); i++) {
		struct scene scene = retried_scene();

		causes[i].cause(&scene);
		judge_scene(&scene);
		assert_int_equal(scene.ports.draws_asked, causes[i].reason >= ENGINE_RETRY_MAX_TIME ? 1 : 0);
		assert_int_equal(scene.ports.tokens_asked, causes[i].reason == ENGINE_BUDGET_EMPTY ? 1 : 0);
	}
}

/* An answer that nobody needs would count in the log as an outer layer's. */
static void outer_layers_are_asked_for_once_all_else_allows_a_retry(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(causes); i++) {
		struct scene scene = retried_scene();

		causes[i].cause(&scene);
		judge_scene(&scene);
		assert_int_equal(scene.ports.yields_asked, causes[i].reason >= ENGINE_NESTED ? 1 : 0);
	}
}

static void outer_layers_are_asked_for_by_what_failed(void **state)
{
	struct scene scene = retried_scene();

	(void)state;
	judge_scene(&scene);
	assert_class(scene.ports.yields_failure, ENGINE_CLASS_STATUS);
	assert_int_equal(scene.ports.yields_status, 503);

	scene = retried_scene();
	scene.outcome = test_code(RECV_ERROR);
	judge_scene(&scene);
	assert_class(scene.ports.yields_failure, ENGINE_CLASS_RECEIVE);
	assert_int_equal(scene.ports.yields_status, 0);
}

/* Neither a place nor a token is taken for a retry whose body can't be sent. */
static void a_body_that_cannot_be_rewound_is_noticed_before_anything_is_taken(void **state)
{
	struct scene scene = retried_scene();

	(void)state;
	scene.ports.cannot_rewind = true;
	assert_reason(judge_scene(&scene).reason, ENGINE_BODY_NOT_REPLAYABLE);
	assert_int_equal(scene.ports.places_held, 0);
	assert_int_equal(scene.ports.tokens_asked, 0);
	for (size_t i = 0; i < countof(causes); i++) {
		bool is_earlier = causes[i].reason <= ENGINE_BREAKER_OPEN;

		scene = retried_scene();
		scene.ports.cannot_rewind = true;
		causes[i].cause(&scene);
		assert_reason(judge_scene(&scene).reason, is_earlier ? causes[i].reason : ENGINE_BODY_NOT_REPLAYABLE);
	}
}

/* A place that is kept although there is no retry would be missed until its lease ends. */
static void a_place_is_held_for_a_retry_only(void **state)
{
	struct scene scene = retried_scene();

	(void)state;
	judge_scene(&scene);
	assert_int_equal(scene.ports.places_held, 1);
	assert_int_equal(scene.ports.place_wait_ms, 1000);
	for (size_t i = 0; i < countof(causes); i++) {
		scene = retried_scene();
		causes[i].cause(&scene);
		judge_scene(&scene);
		assert_int_equal(scene.ports.places_held, 0);
	}
}

static void without_ports_nothing_is_asked(void **state)
{
	struct scene scene = retried_scene();
	struct engine_operation operation;
	struct engine_plan plan;
	struct engine_ports ports = test_engine_ports(&scene.ports);

	(void)state;
	ports.yields = NULL;
	ports.breaker_allows = NULL;
	ports.can_rewind = NULL;
	ports.is_probe = NULL;
	ports.expires_ms = NULL;
	ports.take_retrying = NULL;
	ports.take_token = NULL;
	engine_begin(&operation, &scene.rules, &scene.request, ENTRY_MS);
	assert_true(engine_plan(&operation, ENTRY_MS, &plan));
	assert_int_equal(engine_judge(&operation, &scene.outcome, NOW_MS, &ports).action, ENGINE_RETRY);
}

static void deadline_is_reached_at_its_instant(void **state)
{
	static const struct {
		int64_t policy_ms, inherited_ms, program_ms, now_ms;
		enum engine_reason reason;
	} cases[] = {
	    {600, ENGINE_NEVER, 0, ENTRY_MS + 599, ENGINE_SUCCESS},
	    {600, ENGINE_NEVER, 0, ENTRY_MS + 600, ENGINE_DEADLINE},
	    {0, ENTRY_MS + 600, 0, ENTRY_MS + 599, ENGINE_SUCCESS},
	    {0, ENTRY_MS + 600, 0, ENTRY_MS + 600, ENGINE_DEADLINE},
	    {0, ENGINE_NEVER, 600, ENTRY_MS + 599, ENGINE_SUCCESS},
	    {0, ENGINE_NEVER, 600, ENTRY_MS + 600, ENGINE_DEADLINE},
	    {700, ENTRY_MS + 600, 800, ENTRY_MS + 650, ENGINE_DEADLINE},
	    {0, ENGINE_NEVER, 0, INT64_MAX, ENGINE_DEADLINE},
	    {0, ENGINE_NEVER, 0, INT64_MAX - 1, ENGINE_SUCCESS},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene scene = retried_scene();

		scene.rules.deadline_ms = cases[i].policy_ms;
		scene.request.inherited_deadline_ms = cases[i].inherited_ms;
		scene.request.program_timeout_ms = cases[i].program_ms;
		scene.now_ms = cases[i].now_ms;
		scene.outcome = test_status(200);
		assert_reason(judge_scene(&scene).reason, cases[i].reason);
	}
}

/* Backoff is 1000 ms, min_try_ms 100. */
static void wait_fits_to_the_millisecond(void **state)
{
	static const struct {
		int64_t deadline_ms, program_ms, window_ms, min_try_ms;
		enum engine_reason reason;
	} cases[] = {
	    {1600, 0, 0, 100, ENGINE_TRANSIENT_FAILURE}, {1599, 0, 0, 100, ENGINE_WAIT_EXCEEDS_DEADLINE},
	    {0, 1600, 0, 100, ENGINE_TRANSIENT_FAILURE}, {0, 1599, 0, 100, ENGINE_WAIT_EXCEEDS_DEADLINE},
	    {0, 0, 1500, 100, ENGINE_TRANSIENT_FAILURE}, {0, 0, 1499, 100, ENGINE_RETRY_MAX_TIME},
	    {1501, 0, 0, 0, ENGINE_TRANSIENT_FAILURE},   {1500, 0, 0, 0, ENGINE_WAIT_EXCEEDS_DEADLINE},
	    {0, 0, 0, 100, ENGINE_TRANSIENT_FAILURE},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene scene = retried_scene();

		scene.rules.deadline_ms = cases[i].deadline_ms;
		scene.rules.retry_max_time_ms = cases[i].window_ms;
		scene.rules.min_try_ms = cases[i].min_try_ms;
		scene.request.program_timeout_ms = cases[i].program_ms;
		assert_reason(judge_scene(&scene).reason, cases[i].reason);
	}
}

/* H-05: counted from the first failure, however long the first attempt took. */
static void watchdog_limits_what_is_added(void **state)
{
	struct scene scene = retried_scene();
	struct engine_operation operation;
	struct engine_plan plan;
	const struct engine_ports ports = test_engine_ports(&scene.ports);

	(void)state;
	scene.request.added_limit_ms = 3000;
	engine_begin(&operation, &scene.rules, &scene.request, 0);
	assert_true(engine_plan(&operation, 0, &plan));
	assert_true(plan.header_limit_ms == ENGINE_NEVER);
	assert_reason(engine_judge(&operation, &scene.outcome, 10000, &ports).reason, ENGINE_TRANSIENT_FAILURE);
	/* The retry is ended when what it may add is over. */
	assert_true(engine_plan(&operation, 11000, &plan));
	assert_int_equal(plan.header_limit_ms, 2000);
	/* The second wait is 2 s. */
	assert_reason(engine_judge(&operation, &scene.outcome, 11001, &ports).reason, ENGINE_WATCHDOG_LIMIT);
}

/* H-07. */
static void no_attempt_starts_when_the_request_has_expired(void **state)
{
	struct scene scene = retried_scene();

	(void)state;
	scene.ports.expires_ms = scene.now_ms + 1001;
	assert_reason(judge_scene(&scene).reason, ENGINE_TRANSIENT_FAILURE);
	/* The jitter of a Retry-After is cut to what fits. */
	scene = retried_scene();
	scene.outcome.retry_after = (struct engine_retry_after){.kind = ENGINE_RETRY_AFTER_WAIT, .wait_ms = 5000};
	scene.ports.draw = 1;
	scene.ports.expires_ms = scene.now_ms + 5101;
	assert_int_equal(judge_scene(&scene).wait_ms, 5100);
	scene.ports.expires_ms = scene.now_ms + 5000;
	assert_reason(judge_scene(&scene).reason, ENGINE_REQUEST_EXPIRED);
	/* Before it began. */
	scene.ports.expires_ms = 1;
	assert_reason(judge_scene(&scene).reason, ENGINE_REQUEST_EXPIRED);
}

/* H-08. */
static void failures_of_a_probe_are_final(void **state)
{
	struct scene scene = retried_scene();

	(void)state;
	scene.ports.probe = true;
	assert_reason(judge_scene(&scene).reason, ENGINE_TERMINAL_ERROR);
	assert_false(judge_scene(&scene).passing);
	scene.outcome = test_status(200);
	assert_reason(judge_scene(&scene).reason, ENGINE_SUCCESS);
}

/* The wait that was considered goes to the log, whether it was made or not. */
static void verdict_tells_the_considered_wait(void **state)
{
	struct scene scene = retried_scene();

	(void)state;
	ask_for_too_much(&scene);
	assert_int_equal(judge_scene(&scene).wait_ms, 11);
	scene = retried_scene();
	leave_no_time(&scene);
	assert_int_equal(judge_scene(&scene).wait_ms, 1000);
	scene = retried_scene();
	succeed(&scene);
	assert_int_equal(judge_scene(&scene).wait_ms, 0);
}

static void demand_beyond_all_bounds_always_stops(void **state)
{
	struct scene scene = retried_scene();

	(void)state;
	scene.rules.retry_after_max_ms = 0;
	scene.rules.retry_max_time_ms = 0;
	scene.outcome.retry_after.kind = ENGINE_RETRY_AFTER_BEYOND;
	assert_reason(judge_scene(&scene).reason, ENGINE_RETRY_AFTER_LIMIT);
	scene.outcome.retry_after =
	    (struct engine_retry_after){.kind = ENGINE_RETRY_AFTER_WAIT, .wait_ms = INT64_C(86400000) * 365};
	assert_int_equal(judge_scene(&scene).action, ENGINE_RETRY);
}

static void demand_of_the_maximum_is_met(void **state)
{
	struct scene scene = retried_scene();

	(void)state;
	ask_for_too_much(&scene);
	scene.outcome.retry_after.wait_ms = scene.rules.retry_after_max_ms;
	assert_int_equal(judge_scene(&scene).action, ENGINE_RETRY);
}

/* A Retry-After of a day against a limit of five seconds: at once, with nothing shortened. */
static void demand_that_does_not_fit_is_not_shortened(void **state)
{
	struct scene scene = retried_scene();
	struct engine_verdict verdict;

	(void)state;
	scene.rules.retry_after_max_ms = 0;
	scene.rules.retry_max_time_ms = 0;
	scene.request.program_timeout_ms = 5000;
	scene.outcome.retry_after = (struct engine_retry_after){.kind = ENGINE_RETRY_AFTER_WAIT, .wait_ms = 86400000};
	verdict = judge_scene(&scene);
	assert_reason(verdict.reason, ENGINE_WAIT_EXCEEDS_DEADLINE);
	assert_true(verdict.wait_ms >= 86400000);
}

static void retries_add_up_until_the_cap(void **state)
{
	struct scene scene = retried_scene();
	struct engine_operation operation;
	struct engine_ports ports = test_engine_ports(&scene.ports);
	struct engine_plan plan;
	int64_t now_ms = ENTRY_MS;

	(void)state;
	engine_begin(&operation, &scene.rules, &scene.request, now_ms);
	for (int attempt = 1; attempt <= 4; attempt++) {
		struct engine_verdict verdict;

		assert_true(engine_plan(&operation, now_ms, &plan));
		assert_int_equal(plan.number, attempt);
		verdict = engine_judge(&operation, &scene.outcome, now_ms, &ports);
		assert_reason(verdict.reason, attempt < 4 ? ENGINE_TRANSIENT_FAILURE : ENGINE_ATTEMPT_CAP);
		now_ms += verdict.wait_ms;
	}
	assert_int_equal(operation.attempts, 4);
	assert_int_equal(operation.waited_ms, 1000 + 2000 + 4000);
}

/* max_attempts is 4: what libcurl sent again and what the intent had before are attempts as well. */
static void all_that_was_sent_counts_against_the_cap(void **state)
{
	static const struct {
		int resends, prior_attempts;
		enum engine_reason reason;
	} cases[] = {
	    {0, 0, ENGINE_TRANSIENT_FAILURE},
	    {2, 0, ENGINE_TRANSIENT_FAILURE},
	    {3, 0, ENGINE_ATTEMPT_CAP},
	    {0, 2, ENGINE_TRANSIENT_FAILURE},
	    {0, 3, ENGINE_ATTEMPT_CAP},
	    {1, 1, ENGINE_TRANSIENT_FAILURE},
	    {1, 2, ENGINE_ATTEMPT_CAP},
	    {100, 0, ENGINE_ATTEMPT_CAP},
	    {0, INT_MAX, ENGINE_ATTEMPT_CAP},
	    {INT_MAX, 0, ENGINE_ATTEMPT_CAP},
	    {INT_MAX, INT_MAX, ENGINE_ATTEMPT_CAP},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene scene = retried_scene();

		scene.outcome.resends = cases[i].resends;
		scene.request.prior_attempts = cases[i].prior_attempts;
		assert_reason(judge_scene(&scene).reason, cases[i].reason);
	}
}

static bool finds_what_came_before(void *context, enum engine_class failure, int status)
{
	const struct engine_request intent = {.prior_attempts = 3, .prior_ms = 100};

	(void)failure, (void)status;
	engine_share(context, &intent);
	return false;
}

static void what_the_intent_had_may_come_out_with_the_verdict(void **state)
{
	struct scene scene = retried_scene();
	struct engine_operation operation;
	struct engine_plan plan;
	const struct engine_ports ports = {.draw = test_draw, .yields = finds_what_came_before, .context = &operation};

	(void)state;
	engine_begin(&operation, &scene.rules, &scene.request, ENTRY_MS);
	assert_true(engine_plan(&operation, ENTRY_MS, &plan));
	assert_reason(engine_judge(&operation, &scene.outcome, NOW_MS, &ports).reason, ENGINE_ATTEMPT_CAP);
	assert_int_equal(operation.request.prior_ms, 100);
}

/* Backoff is 1000 ms, min_try_ms 100; the program's own timeout is each operation's alone. */
static void the_intents_time_counts_from_its_begin(void **state)
{
	static const struct {
		int64_t deadline_ms, program_ms, window_ms, prior_ms;
		enum engine_reason reason;
	} cases[] = {
	    {1700, 0, 0, 100, ENGINE_TRANSIENT_FAILURE},    {1699, 0, 0, 100, ENGINE_WAIT_EXCEEDS_DEADLINE},
	    {10500, 0, 0, 10000, ENGINE_DEADLINE},          {0, 0, 1600, 100, ENGINE_TRANSIENT_FAILURE},
	    {0, 0, 1599, 100, ENGINE_RETRY_MAX_TIME},       {0, 1600, 0, 100000, ENGINE_TRANSIENT_FAILURE},
	    {0, 0, 0, INT64_MAX, ENGINE_TRANSIENT_FAILURE}, {0, 0, 30000, INT64_MAX, ENGINE_RETRY_MAX_TIME},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct scene scene = retried_scene();

		scene.rules.deadline_ms = cases[i].deadline_ms;
		scene.rules.retry_max_time_ms = cases[i].window_ms;
		scene.request.program_timeout_ms = cases[i].program_ms;
		scene.request.prior_ms = cases[i].prior_ms;
		assert_reason(judge_scene(&scene).reason, cases[i].reason);
	}
}

/* Whether a repeat would be worth it doesn't depend on what it was that kept us from one. */
static void verdict_tells_what_may_pass(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(causes); i++) {
		struct scene scene = retried_scene();

		causes[i].cause(&scene);
		assert_int_equal(judge_scene(&scene).passing,
		                 causes[i].reason != ENGINE_CANCELLED && causes[i].reason != ENGINE_SUCCESS);
	}
}

static void what_is_final_does_not_pass(void **state)
{
	struct scene scene = retried_scene();
	struct engine_operation operation = {.waited_ms = 1000};
	struct engine_verdict verdict;

	(void)state;
	scene.outcome.status = 404;
	assert_false(judge_scene(&scene).passing);
	scene = retried_scene();
	verdict = judge_scene(&scene);
	engine_retract(&operation, &verdict);
	assert_false(verdict.passing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_against_it_is_retried),
	    cmocka_unit_test(each_cause_has_its_reason),
	    cmocka_unit_test(of_two_causes_the_earlier_wins),
	    cmocka_unit_test(draws_and_tokens_are_asked_for_last),
	    cmocka_unit_test(outer_layers_are_asked_for_once_all_else_allows_a_retry),
	    cmocka_unit_test(outer_layers_are_asked_for_by_what_failed),
	    cmocka_unit_test(a_body_that_cannot_be_rewound_is_noticed_before_anything_is_taken),
	    cmocka_unit_test(a_place_is_held_for_a_retry_only),
	    cmocka_unit_test(without_ports_nothing_is_asked),
	    cmocka_unit_test(deadline_is_reached_at_its_instant),
	    cmocka_unit_test(wait_fits_to_the_millisecond),
	    cmocka_unit_test(watchdog_limits_what_is_added),
	    cmocka_unit_test(no_attempt_starts_when_the_request_has_expired),
	    cmocka_unit_test(failures_of_a_probe_are_final),
	    cmocka_unit_test(verdict_tells_the_considered_wait),
	    cmocka_unit_test(demand_beyond_all_bounds_always_stops),
	    cmocka_unit_test(demand_of_the_maximum_is_met),
	    cmocka_unit_test(demand_that_does_not_fit_is_not_shortened),
	    cmocka_unit_test(retries_add_up_until_the_cap),
	    cmocka_unit_test(all_that_was_sent_counts_against_the_cap),
	    cmocka_unit_test(what_the_intent_had_may_come_out_with_the_verdict),
	    cmocka_unit_test(the_intents_time_counts_from_its_begin),
	    cmocka_unit_test(verdict_tells_what_may_pass),
	    cmocka_unit_test(what_is_final_does_not_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
