/* SPDX-License-Identifier: MIT */
/* tenacurl(1) documents the keys. */
#include <jansson.h>

#include "cli/say/plain_json.h"
#include "cli/stats/print.h"
#include "cli/stats/quantile.h"
#include "engine/engine.h"

#define SCHEMA 1

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *number_or_null(double value)
{
	return value < 0 ? json_null() : json_real(value);
}

static json_t *array_of(const uint64_t *values, size_t count)
{
	json_t *array = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, number(values[i]));
	return array;
}

/* An object of those that are not 0, by their names. */
static json_t *named(const uint64_t *values, size_t count, const char *(*name)(size_t index))
{
	json_t *object = json_object();
	for (size_t i = 0; i < count; i++) {
		const json_t *same = json_object_get(object, name(i));
		if (values[i])
			json_object_set_new(object, name(i), number(values[i] + (uint64_t)json_integer_value(same)));
	}
	return object;
}

static const char *reason_name(size_t reason)
{
	return engine_reason_name((enum engine_reason)reason);
}

static const char *class_name(size_t failure)
{
	return engine_class_name((enum engine_class)failure);
}

static json_t *durations(const uint64_t *buckets, uint64_t sum_ms)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "sum_ms", number(sum_ms), "p50_ms",
	                 number_or_null(quantile_ms(buckets, 0.5)), "p95_ms",
	                 number_or_null(quantile_ms(buckets, 0.95)), "counts", array_of(buckets, STATE_MS_BUCKETS));
}

static json_t *budget_of(const struct stats_row *row)
{
	if (row->tokens_max <= 0)
		return json_null();
	return json_pack("{s:f, s:I}", "tokens", (double)row->millitokens / 1000, "of", (json_int_t)row->tokens_max);
}

static json_t *breaker_of(const struct stats_row *row)
{
	json_t *age = row->breaker < STATS_BREAKER_HALF_OPEN ? json_null() : json_integer(row->breaker_age_ms);
	return json_pack("{s:s, s:o}", "state", stats_breaker_name(row->breaker), "for_ms", age);
}

static json_t *numbers_of(const struct stats_row *row)
{
	const struct state_view *view = &row->view;
	uint64_t operations = stats_operations(row);
	double success = operations ? (double)view->operations[1] / (double)operations : -1;
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "origin", view->origin, "section",
	                 view->section, "operations", number(operations), "succeeded", number(view->operations[1]),
	                 "failed", number(view->operations[0]), "success", number_or_null(success), "rescued",
	                 number(view->rescued), "attempts", number(view->attempts_sum), "sends",
	                 number(view->sends_sum));
}

static json_t *details_of(const struct stats_row *row)
{
	const struct state_view *view = &row->view;
	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "attempts_per_operation",
	    array_of(view->attempts, STATE_COUNT_BUCKETS), "sends_per_operation",
	    array_of(view->sends, STATE_COUNT_BUCKETS), "retries", number(row->retries), "retries_by_failure",
	    named(view->retries, STATE_CLASSES_MAX, class_name), "stops",
	    named(view->stops, STATE_REASONS_MAX, reason_name), "exhausted",
	    number(view->events[STATE_EVENT_EXHAUSTED]), "budget_empty", number(view->events[STATE_EVENT_BUDGET_EMPTY]),
	    "breaker_opened", number(view->events[STATE_EVENT_BREAKER_OPENED]), "refused",
	    number(view->events[STATE_EVENT_REFUSED]), "retrying", number(view->leases), "budget", budget_of(row),
	    "breaker", breaker_of(row), "waits", durations(view->waits_ms, view->waits_ms_sum), "time_to_success",
	    durations(view->success_ms, view->success_ms_sum));
}

static json_t *user_of(const struct stats *stats, size_t index)
{
	const struct stats_user *user = &stats->users[index];
	json_t *origins = json_array();
	for (size_t i = 0; i < stats->row_count; i++) {
		if (stats->rows[i].user != index)
			continue;
		json_t *origin = numbers_of(&stats->rows[i]);
		json_t *details = details_of(&stats->rows[i]);
		json_object_update(origin, details);
		json_decref(details);
		json_array_append_new(origins, origin);
	}
	return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "user", user->name, "uid",
	                 (json_int_t)user->uid, "table_full", number(user->table_full), "origins_dropped",
	                 number(user->origins_dropped), "lost_records", number(user->lost_records), "running",
	                 number(user->running), "died", number(user->died), "resets", number(user->resets), "origins",
	                 origins);
}

static json_t *bounds(void)
{
	json_t *array = json_array();
	for (size_t i = 0; i < STATE_MS_BUCKETS - 1; i++)
		json_array_append_new(array, json_integer(state_ms_bounds[i]));
	return array;
}

bool stats_print_json(FILE *out, const struct stats *stats)
{
	json_t *users = json_array();
	for (size_t i = 0; i < stats->user_count; i++)
		json_array_append_new(users, user_of(stats, i));
	return plain_json_print(out,
	                        json_pack("{s:i, s:o, s:o}", "schema", SCHEMA, "bounds_ms", bounds(), "users", users));
}
