/* SPDX-License-Identifier: MIT */
/*
 * Files of tests/fixtures/policy: bad/ must be refused with the very message in NAME.message, warn/ must load with that
 * one warning, good/ and the shipped examples must load without a word. FILE in a message stands for the path.
 */
#include <dirent.h>

#include "tests/unit/test_policy_support.h"

struct outcome {
	enum policy_load_result result;
	struct policy_error error;
	char warning[512];
	int warnings;
};

static void keep_warning(void *context, const char *text)
{
	struct outcome *outcome = context;

	snprintf(outcome->warning, sizeof outcome->warning, "%s", text);
	outcome->warnings++;
}

static struct outcome load_fixture(const char *path)
{
	struct outcome outcome = {.warnings = 0};
	const struct policy *policy = NULL;

	outcome.result = policy_load(path, &test_ini, keep_warning, &outcome, &policy, &outcome.error);
	assert_true((policy != NULL) == (outcome.result == POLICY_LOADED));
	policy_free(policy);
	return outcome;
}

/* NAME.message with FILE replaced by the fixture's path. */
static void read_message(const char *path, char *message, size_t message_bytes)
{
	char message_path[512];
	char line[1024] = "";
	FILE *file;

	snprintf(message_path, sizeof message_path, "%.*s.message", (int)(strlen(path) - strlen(".ini")), path);
	file = fopen(message_path, "r");
	if (file == NULL)
		fail_msg("%s is missing", message_path);
	assert_non_null(fgets(line, sizeof line, file));
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	assert_int_equal(strncmp(line, "FILE", 4), 0);
	snprintf(message, message_bytes, "%s%s", path, line + 4);
}

static void check_bad(const char *path)
{
	struct outcome outcome = load_fixture(path);
	char message[2048];

	read_message(path, message, sizeof message);
	if (outcome.result != POLICY_INVALID)
		fail_msg("%s was not refused", path);
	assert_string_equal(outcome.error.text, message);
}

static void check_warned(const char *path)
{
	struct outcome outcome = load_fixture(path);
	char message[2048];

	read_message(path, message, sizeof message);
	if (outcome.result != POLICY_LOADED)
		fail_msg("%s", outcome.error.text);
	assert_int_equal(outcome.warnings, 1);
	assert_string_equal(outcome.warning, message);
}

static void check_good(const char *path)
{
	struct outcome outcome = load_fixture(path);

	if (outcome.result != POLICY_LOADED)
		fail_msg("%s", outcome.error.text);
	if (outcome.warnings != 0)
		fail_msg("warned: %s", outcome.warning);
}

/* Runs `check` on every .ini of a folder; there must be at least `least` of them. */
static void for_each_fixture(const char *folder, int least, void (*check)(const char *path))
{
	DIR *directory = opendir(folder);
	struct dirent *entry;
	char path[512];
	int count = 0;

	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL) {
		size_t length = strlen(entry->d_name);
		if (length < 5 || strcmp(entry->d_name + length - 4, ".ini") != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		check(path);
		count++;
	}
	closedir(directory);
	assert_true(count >= least);
}

static void test_bad_files_are_refused_by_name(void **state)
{
	(void)state;
	for_each_fixture(FIXTURES "/bad", 80, check_bad);
}

static void test_unreachable_values_are_warned_of(void **state)
{
	(void)state;
	for_each_fixture(FIXTURES "/warn", 10, check_warned);
}

static void test_good_files_load(void **state)
{
	(void)state;
	for_each_fixture(FIXTURES "/good", 15, check_good);
}

static void test_examples_load(void **state)
{
	(void)state;
	for_each_fixture("config/examples", 4, check_good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bad_files_are_refused_by_name),
	    cmocka_unit_test(test_unreachable_values_are_warned_of),
	    cmocka_unit_test(test_good_files_load),
	    cmocka_unit_test(test_examples_load),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
