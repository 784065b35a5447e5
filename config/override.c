/* SPDX-License-Identifier: MIT */
#include "config/override.h"

#include <string.h>

#include "config/block.h"
#include "config/complaint.h"
#include "config/value.h"

static void override_mode(struct policy *policy, size_t key, enum policy_mode mode)
{
	for (size_t i = 0; i < policy->section_count; i++) {
		struct policy_section *section = &policy->sections[i];
		if (section->rules.mode == POLICY_MODE_OFF && mode != POLICY_MODE_OFF)
			continue;
		section->rules.mode = mode;
		section->line[key] = 0;
		section->inherited[key] = false;
	}
}

static void override_log(struct policy *policy, size_t key, const struct policy_rules *parsed)
{
	for (size_t i = 0; i < policy->section_count; i++) {
		struct policy_section *section = &policy->sections[i];
		section->rules.log = parsed->log;
		section->rules.log_path = parsed->log_path;
		section->line[key] = 0;
		section->inherited[key] = false;
	}
}

/* Apart, so that its text isn't on the stack beside the rules. */
static __attribute__((noinline)) bool complain_of_value(const struct complaint_place *place, size_t key,
                                                        const struct value_fault *fault, struct policy_error *error)
{
	char allowed[SCHEMA_ALLOWED_BYTES];
	schema_allowed(schema_key_at(key), allowed);
	complain(error, place, "%s; allowed: %s", fault->wrong, allowed);
	return false;
}

bool policy_override(struct policy *policy, const char *key, const char *value, struct policy_error *error)
{
	const struct complaint_place place = {.key = key, .value = value};
	struct policy_rules parsed = policy_builtin()->sections[0].rules;
	bool is_mode = strcmp(key, "mode") == 0;
	struct value_fault fault;

	if (policy == policy_builtin() || (!is_mode && strcmp(key, "log") != 0)) {
		complain(error, &place, "can't be overridden; allowed: mode, log");
		return false;
	}

	size_t index = (size_t)schema_find(key);
	switch (value_parse(schema_key_at(index), value, block_arena(policy), &parsed, &fault)) {
	case VALUE_TAKEN:
		break;
	case VALUE_NO_MEMORY:
		complain(error, &place, "there is no memory to keep it");
		return false;
	case VALUE_WRONG:
		return complain_of_value(&place, index, &fault, error);
	}
	if (is_mode)
		override_mode(policy, index, parsed.mode);
	else
		override_log(policy, index, &parsed);
	return true;
}
