/* SPDX-License-Identifier: MIT */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/simulate/simulation.h"

/* Half a century: nothing that is added up here can overflow, and no unit mistake is that small. */
#define DURATION_MAX_MS INT64_C(1577880000000)
#define ATTEMPTS_MAX    10000
#define KEYS_MAX        8
#define countof(array)  (sizeof(array) / sizeof((array)[0]))

/* An integer member: where it goes, and what it may be. */
struct integer_rule {
	const char *key;
	int64_t least;
	int64_t most;
	size_t offset; /* in struct simulation */
};

static const struct integer_rule policy_integers[] = {
    {"total_ms", 1, DURATION_MAX_MS, offsetof(struct simulation, total_ms)},
    {"per_try_ms", 1, DURATION_MAX_MS, offsetof(struct simulation, per_try_ms)},
    {"max_attempts", 1, ATTEMPTS_MAX, offsetof(struct simulation, max_attempts)},
    {"min_try_ms", 1, DURATION_MAX_MS, offsetof(struct simulation, min_try_ms)},
    {"base_ms", 1, DURATION_MAX_MS, offsetof(struct simulation, base_ms)},
    {"backoff_cap_ms", 1, DURATION_MAX_MS, offsetof(struct simulation, backoff_cap_ms)},
};

/* The members that an object may have; it must have the first `required` of them. */
struct shape {
	const char *keys[KEYS_MAX];
	size_t count;
	size_t required;
};

static const struct shape line_shape = {{"policy", "outcomes", "draws", "name", "result", "rejected"}, 6, 3};
static const struct shape policy_shape = {
    {"total_ms", "per_try_ms", "max_attempts", "min_try_ms", "base_ms", "backoff_cap_ms", "replay_safe"}, 7, 7};
static const struct shape outcome_shape = {{"duration_ms", "status", "retry_after_ms"}, 3, 3};

static bool has_key(const struct shape *shape, const char *key)
{
	for (size_t i = 0; i < shape->count; i++) {
		if (strcmp(shape->keys[i], key) == 0)
			return true;
	}
	return false;
}

static bool check_shape(json_t *object, const struct shape *shape, const char *what, struct say_error *error)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return say_refuse(error, "%s: must be an object", what);
	json_object_foreach(object, key, value)
	{
		if (!has_key(shape, key))
			return say_refuse(error, "%s: unknown key \"%.60s\"", what, key);
	}
	for (size_t i = 0; i < shape->required; i++) {
		if (!json_object_get(object, shape->keys[i]))
			return say_refuse(error, "%s: %s is missing", what, shape->keys[i]);
	}
	return true;
}

static bool read_integer(const json_t *value, int64_t least, int64_t most, const char *what, int64_t *integer,
                         struct say_error *error)
{
	if (!json_is_integer(value))
		return say_refuse(error, "%s: must be an integer", what);
	*integer = json_integer_value(value);
	if (*integer < least || *integer > most)
		return say_refuse(error, "%s: %lld is outside %lld to %lld", what, (long long)*integer,
		                  (long long)least, (long long)most);
	return true;
}

static bool read_policy(json_t *policy, struct simulation *simulation, struct say_error *error)
{
	const json_t *replay_safe;

	if (!check_shape(policy, &policy_shape, "policy", error))
		return false;
	for (size_t i = 0; i < countof(policy_integers); i++) {
		const struct integer_rule *rule = &policy_integers[i];
		char what[40];

		snprintf(what, sizeof what, "policy: %s", rule->key);
		if (!read_integer(json_object_get(policy, rule->key), rule->least, rule->most, what,
		                  (int64_t *)(void *)((char *)simulation + rule->offset), error))
			return false;
	}
	replay_safe = json_object_get(policy, "replay_safe");
	if (!json_is_boolean(replay_safe))
		return say_refuse(error, "policy: replay_safe: must be true or false");
	simulation->replay_safe = json_is_true(replay_safe);
	if (simulation->min_try_ms > simulation->per_try_ms)
		return say_refuse(error, "policy: min_try_ms: %lld is over per_try_ms (%lld)",
		                  (long long)simulation->min_try_ms, (long long)simulation->per_try_ms);
	return true;
}

static bool read_status(const json_t *value, const char *what, struct simulation_outcome *outcome,
                        struct say_error *error)
{
	const char *word = json_string_value(value);
	int64_t status;

	outcome->end = SIMULATION_STATUS;
	if (word && strcmp(word, "timeout") == 0)
		outcome->end = SIMULATION_TIMEOUT;
	else if (word && strcmp(word, "cancel") == 0)
		outcome->end = SIMULATION_CANCEL;
	if (outcome->end != SIMULATION_STATUS)
		return true;
	if (!json_is_integer(value))
		return say_refuse(error, "%s: status: must be an integer, \"timeout\" or \"cancel\"", what);
	if (!read_integer(value, 200, 599, what, &status, error))
		return false;
	outcome->status = (int)status;
	return true;
}

static bool read_outcome(json_t *object, size_t index, struct simulation_outcome *outcome, struct say_error *error)
{
	char what[64];
	const json_t *retry_after;

	snprintf(what, sizeof what, "outcomes[%zu]", index);
	if (!check_shape(object, &outcome_shape, what, error))
		return false;
	if (!read_status(json_object_get(object, "status"), what, outcome, error))
		return false;
	snprintf(what, sizeof what, "outcomes[%zu]: duration_ms", index);
	if (!read_integer(json_object_get(object, "duration_ms"), 0, DURATION_MAX_MS, what, &outcome->duration_ms,
	                  error))
		return false;
	retry_after = json_object_get(object, "retry_after_ms");
	if (json_is_null(retry_after))
		return true;
	snprintf(what, sizeof what, "outcomes[%zu]: retry_after_ms", index);
	return read_integer(retry_after, 0, DURATION_MAX_MS, what, &outcome->retry_after_ms, error);
}

static bool read_outcomes(json_t *array, struct simulation *simulation, struct say_error *error)
{
	if (!json_is_array(array))
		return say_refuse(error, "outcomes: must be an array");
	simulation->outcome_count = json_array_size(array);
	simulation->outcomes = calloc(simulation->outcome_count + 1, sizeof *simulation->outcomes);
	if (!simulation->outcomes)
		return say_refuse(error, "out of memory");
	for (size_t i = 0; i < simulation->outcome_count; i++) {
		if (!read_outcome(json_array_get(array, i), i, &simulation->outcomes[i], error))
			return false;
	}
	return true;
}

static bool read_draws(json_t *array, struct simulation *simulation, struct say_error *error)
{
	if (!json_is_array(array))
		return say_refuse(error, "draws: must be an array");
	simulation->draw_count = json_array_size(array);
	simulation->draws = calloc(simulation->draw_count + 1, sizeof *simulation->draws);
	if (!simulation->draws)
		return say_refuse(error, "out of memory");
	for (size_t i = 0; i < simulation->draw_count; i++) {
		const json_t *draw = json_array_get(array, i);

		if (!json_is_number(draw))
			return say_refuse(error, "draws[%zu]: must be a number", i);
		simulation->draws[i] = json_number_value(draw);
		if (!(simulation->draws[i] >= 0 && simulation->draws[i] <= 1))
			return say_refuse(error, "draws[%zu]: %g is outside 0 to 1", i, simulation->draws[i]);
	}
	return true;
}

static bool read_members(json_t *line, struct simulation *simulation, struct say_error *error)
{
	const json_t *name;

	if (!check_shape(line, &line_shape, "line", error))
		return false;
	name = json_object_get(line, "name");
	if (name && !json_is_string(name))
		return say_refuse(error, "name: must be a string");
	return read_policy(json_object_get(line, "policy"), simulation, error) &&
	       read_outcomes(json_object_get(line, "outcomes"), simulation, error) &&
	       read_draws(json_object_get(line, "draws"), simulation, error);
}

bool simulation_read(const char *text, size_t text_bytes, struct simulation *simulation, struct say_error *error)
{
	json_error_t json_error;
	json_t *line;
	bool read;

	*simulation = (struct simulation){0};
	if (memchr(text, '\0', text_bytes))
		return say_refuse(error, "a NUL byte");
	line = json_loadb(text, text_bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &json_error);
	if (!line)
		return say_refuse(error, "not JSON: %.160s, byte %d", json_error.text, json_error.position);
	read = read_members(line, simulation, error);
	json_decref(line);
	if (!read)
		simulation_free(simulation);
	return read;
}

void simulation_free(struct simulation *simulation)
{
	free(simulation->outcomes);
	free(simulation->draws);
	*simulation = (struct simulation){0};
}
