/* SPDX-License-Identifier: MIT */
/* tenacurl(1) documents the keys. */
#include <jansson.h>

#include "cli/say/plain_json.h"
#include "cli/stats/print.h"
#include "engine/engine.h"

#define SCHEMA 1

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *origin_of(const struct stats_row *row)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o}", "origin", row->view.origin, "section", row->view.section,
	                 "operations", number(stats_operations(row)), "left", number(stats_left(row)), "refused",
	                 number(stats_refused(row)));
}

/* An object of those that are not 0, by their names. */
static json_t *repeats_of(const struct state_learned *learned)
{
	json_t *object = json_object();
	for (size_t i = 0; i < STATE_LEARNED_CLASSES; i++)
		if (learned->repeats[i])
			json_object_set_new(object, engine_class_name((enum engine_class)i),
			                    number(learned->repeats[i]));
	return object;
}

static json_t *caller_of(const struct stats_caller *caller)
{
	const struct state_learned *learned = &caller->learned;
	json_t *expected = caller->promised_ms < 0 ? json_null() : json_integer(caller->promised_ms);
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:I, s:I, s:o}", "program", learned->program, "caller",
	                 learned->caller, "origin", learned->origin, "repeats_after", repeats_of(learned), "kept",
	                 number(learned->kept), "age_ms", (json_int_t)caller->age_ms, "expires_in_ms",
	                 (json_int_t)caller->expires_in_ms, "expected_for_ms", expected);
}

static json_t *user_of(const struct stats *stats, size_t index)
{
	const struct stats_user *user = &stats->users[index];
	json_t *origins = json_array(), *callers = json_array();
	for (size_t i = 0; i < stats->row_count; i++)
		if (stats->rows[i].user == index)
			json_array_append_new(origins, origin_of(&stats->rows[i]));
	for (size_t i = 0; i < stats->caller_count; i++)
		if (stats->callers[i].user == index)
			json_array_append_new(callers, caller_of(&stats->callers[i]));
	return json_pack("{s:s, s:I, s:o, s:o}", "user", user->name, "uid", (json_int_t)user->uid, "origins", origins,
	                 "callers", callers);
}

bool owners_print_json(FILE *out, const struct stats *stats)
{
	json_t *users = json_array();
	for (size_t i = 0; i < stats->user_count; i++)
		json_array_append_new(users, user_of(stats, i));
	return plain_json_print(out, json_pack("{s:i, s:o}", "schema", SCHEMA, "users", users));
}
