/* SPDX-License-Identifier: MIT */
/* The schema, the built-in policy and the commented reference say the same. */
#include "tests/unit/test_policy_support.h"

#define REFERENCE "config/policy.ini"

static void test_defaults_parse_to_the_builtin_policy(void **state)
{
	(void)state;
	for (size_t i = 0; i < schema_key_count(); i++) {
		const struct schema_key *key = schema_key_at(i);
		struct policy_rules rules = {.mode = POLICY_MODE_OFF};
		struct value_fault fault = {""};
		struct arena arena = {NULL};
		char parsed[4096];
		char builtin[4096];

		if (key->type == SCHEMA_MATCH)
			continue;
		if (value_parse(key, key->default_text, &arena, &rules, &fault) != VALUE_TAKEN)
			fail_msg("%s: %s", key->name, fault.wrong);
		value_print(key, &rules, parsed, sizeof parsed);
		value_print(key, &policy_builtin()->sections[0].rules, builtin, sizeof builtin);
		assert_string_equal(parsed, builtin);
		assert_string_equal(parsed, key->default_text);
		arena_free(&arena);
	}
}

static void test_every_key_is_described(void **state)
{
	char allowed[SCHEMA_ALLOWED_BYTES];

	(void)state;
	for (size_t i = 0; i < schema_key_count(); i++) {
		const struct schema_key *key = schema_key_at(i);
		assert_int_equal(schema_find(key->name), (int)i);
		assert_true(strlen(key->doc) > 5 && strlen(key->doc) < 110);
		assert_null(strchr(key->doc, '\n'));
		assert_true(strlen(key->default_text) < SCHEMA_DEFAULT_BYTES);
		schema_allowed(key, allowed);
		assert_true(strlen(allowed) > 0 && strlen(allowed) < SCHEMA_ALLOWED_BYTES - 1);
		assert_true(strlen(schema_unit(key)) > 0);
	}
}

static void test_names_are_found_and_guessed(void **state)
{
	(void)state;
	assert_int_equal(schema_find("MAX_attempts"), schema_find("max_attempts"));
	assert_int_equal(schema_find("max_attempt"), -1);
	assert_int_equal(schema_find(""), -1);
	assert_int_equal(schema_nearest("max_attempt"), schema_find("max_attempts"));
	assert_int_equal(schema_nearest("retry-after-max-ms"), schema_find("retry_after_max_ms"));
	assert_int_equal(schema_nearest("modes"), schema_find("mode"));
	assert_int_equal(schema_nearest("colour"), -1);
	assert_int_equal(schema_nearest(""), -1);
	assert_int_equal(schema_nearest("an_absurdly_long_name_that_no_key_could_ever_be_mistaken_for"), -1);
}

static char *read_reference(void)
{
	FILE *file = fopen(REFERENCE, "r");
	char *text = calloc(1, 65536);

	assert_non_null(file);
	assert_non_null(text);
	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	return text;
}

static void test_reference_shows_every_key_at_its_default(void **state)
{
	char *reference = read_reference();

	(void)state;
	for (size_t i = 0; i < schema_key_count(); i++) {
		const struct schema_key *key = schema_key_at(i);
		bool live = key->scope != SCHEMA_UPSTREAM_ONLY;
		char line[64 + SCHEMA_DEFAULT_BYTES];

		snprintf(line, sizeof line, "\n%s%s =%s%s\n", live ? "" : "# ", key->name,
		         key->default_text[0] != '\0' ? " " : "", key->default_text);
		if (strstr(reference, line) == NULL)
			fail_msg("%s lacks the line:%s", REFERENCE, line);
	}
	free(reference);
}

static void count_warning(void *context, const char *text)
{
	(void)text;
	++*(int *)context;
}

static void test_reference_loads_as_the_builtin_policy(void **state)
{
	const struct policy *policy = NULL;
	struct policy_error error = {.text = ""};
	int warnings = 0;

	(void)state;
	if (policy_load(REFERENCE, &test_ini, count_warning, &warnings, &policy, &error) != POLICY_LOADED)
		fail_msg("%s", error.text);
	assert_int_equal(warnings, 0);
	assert_int_equal(policy->section_count, 1);
	for (size_t i = 0; i < schema_key_count(); i++) {
		const struct schema_key *key = schema_key_at(i);
		char loaded[4096];
		char builtin[4096];

		value_print(key, &policy->sections[0].rules, loaded, sizeof loaded);
		value_print(key, &policy_builtin()->sections[0].rules, builtin, sizeof builtin);
		assert_string_equal(loaded, builtin);
		if (key->scope != SCHEMA_UPSTREAM_ONLY && policy->sections[0].line[i] == 0)
			fail_msg("%s: %s isn't set", REFERENCE, key->name);
	}
	policy_free(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_defaults_parse_to_the_builtin_policy),
	    cmocka_unit_test(test_every_key_is_described),
	    cmocka_unit_test(test_names_are_found_and_guessed),
	    cmocka_unit_test(test_reference_shows_every_key_at_its_default),
	    cmocka_unit_test(test_reference_loads_as_the_builtin_policy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
