/* SPDX-License-Identifier: MIT */
/* `tenacurl policy`, as it is typed. It isn't part of the code that unit tests are linked with, so it is included. */
#include "cli/policy/as_user.c"
#include "cli/policy/ini.c"
#include "cli/policy/load.c"
#include "cli/policy/off_switch.c"
#include "cli/policy/policy.c"
#include "cli/policy/sink_trial.c"
#include "cli/say/options.c"
#include "cli/say/output.c"
#include "cli/say/plain_text.c"
#include "tests/unit/test_policy_support.h"

/* What one call wrote and returned. */
struct run {
	int status;
	char out[16384];
	char complaints[2048];
};

static int redirect(int fd, FILE *to)
{
	int saved = dup(fd);

	assert_true(saved >= 0);
	assert_true(dup2(fileno(to), fd) >= 0);
	return saved;
}

static void restore(int fd, int saved)
{
	assert_true(dup2(saved, fd) >= 0);
	close(saved);
}

static void read_back(FILE *file, char *text, size_t text_bytes)
{
	rewind(file);
	size_t length = fread(text, 1, text_bytes - 1, file);
	text[length] = '\0';
	fclose(file);
}

static struct run run_policy(int argc, const char *const *argv)
{
	static struct run run;
	FILE *out = tmpfile();
	FILE *complaints = tmpfile();
	char *arguments[8] = {NULL};

	assert_non_null(out);
	assert_non_null(complaints);
	for (int i = 0; i < argc; i++)
		arguments[i] = (char *)(uintptr_t)argv[i];
	fflush(stdout);
	fflush(stderr);
	int saved_out = redirect(1, out);
	int saved_complaints = redirect(2, complaints);
	run.status = policy_command(argc, arguments);
	fflush(stdout);
	fflush(stderr);
	restore(1, saved_out);
	restore(2, saved_complaints);
	read_back(out, run.out, sizeof run.out);
	read_back(complaints, run.complaints, sizeof run.complaints);
	return run;
}

#define RUN(...)                                                                                                       \
	run_policy((int)(sizeof(const char *[]){"policy", __VA_ARGS__} / sizeof(char *)),                              \
	           (const char *const[]){"policy", __VA_ARGS__})

static void test_check_says_ok(void **state)
{
	struct run run = RUN("check", "config/policy.ini");

	(void)state;
	assert_int_equal(run.status, 0);
	assert_string_equal(run.out, "config/policy.ini: ok, 1 section\n");
	assert_string_equal(run.complaints, "");
	run = RUN("check", "config/examples/internal-service.ini");
	assert_string_equal(run.out, "config/examples/internal-service.ini: ok, 3 sections\n");
}

static void test_check_tells_what_is_wrong(void **state)
{
	struct run run = RUN("check", FIXTURES "/bad/attempts-zero.ini");

	(void)state;
	assert_int_equal(run.status, 1);
	assert_string_equal(run.out, "");
	assert_string_equal(run.complaints,
	                    "tenacurl: " FIXTURES "/bad/attempts-zero.ini:2: [policy] max_attempts = 0: out "
	                    "of range; allowed: a whole number from 1 to 100\n");
	run = RUN("check", "/nonexistent/policy.ini");
	assert_int_equal(run.status, 1);
}

static void test_check_warns(void **state)
{
	struct run run = RUN("check", FIXTURES "/warn/match-twice.ini");

	(void)state;
	assert_int_equal(run.status, 0);
	assert_string_equal(run.out, FIXTURES "/warn/match-twice.ini: ok, 3 sections\n");
	assert_int_equal(strncmp(run.complaints, "tenacurl: warning: " FIXTURES "/warn/match-twice.ini:4: ", 60), 0);
}

static void test_wrong_usage(void **state)
{
	(void)state;
	assert_int_equal(run_policy(1, (const char *const[]){"policy"}).status, 2);
	assert_int_equal(RUN("chekc").status, 2);
	assert_int_equal(RUN("check").status, 2);
	assert_int_equal(RUN("check", "a", "b").status, 2);
	assert_int_equal(RUN("check", "--strict").status, 2);
	assert_int_equal(RUN("explain", "--policy").status, 2);
	assert_int_equal(RUN("explain", "--polici", "x").status, 2);
	assert_int_equal(RUN("explain", "http://a", "http://b").status, 2);
	assert_int_equal(RUN("keys", "all").status, 2);
	assert_string_equal(RUN("keys", "all").out, "");
}

static void test_help_goes_to_stdout(void **state)
{
	struct run run = RUN("--help");

	(void)state;
	assert_int_equal(run.status, 0);
	assert_int_equal(strncmp(run.out, "Usage: tenacurl policy check [--user", 36), 0);
	assert_int_equal(RUN("explain", "--help").status, 0);
}

/* The line of `key` in an answer, cut to pieces: "key = value", origin. */
static void expect_row(const struct run *run, const char *key, const char *value, const char *origin)
{
	char start[64];
	char expected_value[128];
	char expected_origin[256];

	snprintf(start, sizeof start, "\n%-22s = ", key);
	const char *row = strstr(run->out, start);
	if (row == NULL)
		fail_msg("no row for %s", key);
	char line[2048];
	snprintf(line, sizeof line, "%.*s", (int)strcspn(row + 1, "\n"), row + 1);
	snprintf(expected_value, sizeof expected_value, "= %s ", value);
	snprintf(expected_origin, sizeof expected_origin, "  %s  ", origin);
	if (strstr(line, expected_value) == NULL || strstr(line, expected_origin) == NULL)
		fail_msg("expected %s from %s: %s", value, origin, line);
	assert_non_null(strstr(line, schema_key_at((size_t)schema_find(key))->doc));
}

static void test_explain_tells_each_value_and_its_origin(void **state)
{
	struct run run = RUN("explain", "--policy", "config/examples/internal-service.ini",
	                     "https://payments.internal:8443/v1/pay?card=secret");

	(void)state;
	assert_int_equal(run.status, 0);
	assert_non_null(strstr(run.out, "policy:  config/examples/internal-service.ini (named by --policy)\n"));
	assert_non_null(
	    strstr(run.out, "section: [upstream payments] (match = https://payments.internal:8443/v1/*)\n"));
	expect_row(&run, "deadline_ms", "5000", "config/examples/internal-service.ini:33 [upstream payments]");
	expect_row(&run, "min_try_ms", "100", "config/examples/internal-service.ini:14 [policy]");
	expect_row(&run, "jitter", "equal", "default");
	assert_null(strstr(run.out, "secret"));

	run = RUN("explain", "--policy=config/examples/internal-service.ini", "http://elsewhere/");
	assert_non_null(strstr(run.out, "section: [policy] (no upstream section's match fits the URL)\n"));
	expect_row(&run, "deadline_ms", "1500", "config/examples/internal-service.ini:7 [policy]");
	assert_null(strstr(run.out, "\nmatch"));
}

/* One long list must not push what stands right of it out of sight in all rows. */
static void test_explain_stays_readable_beside_a_long_value(void **state)
{
	struct run run = RUN("explain", "--policy", FIXTURES "/good/empty.ini");
	size_t longest = strlen(schema_key_at((size_t)schema_find("nested_headers"))->default_text);
	const char *row = strstr(run.out, "\nmode ");

	(void)state;
	assert_non_null(strstr(run.out, schema_key_at((size_t)schema_find("nested_headers"))->default_text));
	assert_non_null(row);
	assert_true((size_t)(strstr(row, "  default  ") - row) < longest);
}

static void test_explain_searches_as_programs_do(void **state)
{
	(void)state;
	assert_int_equal(setenv("TENACURL_POLICY", "config/examples/cron.ini", 1), 0);
	struct run run = RUN("explain");
	assert_int_equal(run.status, 0);
	assert_non_null(strstr(run.out, "policy:  config/examples/cron.ini (named by TENACURL_POLICY)\n"));
	expect_row(&run, "replay", "idempotent", "config/examples/cron.ini:9 [policy]");

	assert_int_equal(setenv("TENACURL_POLICY", FIXTURES "/bad/mode-unknown.ini", 1), 0);
	run = RUN("explain");
	assert_int_equal(run.status, 1);
	assert_string_equal(run.out, "");
	assert_non_null(strstr(run.complaints, "named by TENACURL_POLICY"));
	assert_int_equal(unsetenv("TENACURL_POLICY"), 0);
}

static void test_explain_names_the_variables(void **state)
{
	(void)state;
	assert_int_equal(setenv("TENACURL_MODE", "audit", 1), 0);
	assert_int_equal(setenv("TENACURL_LOG", "/var/log/%u.jsonl", 1), 0);
	struct run run = RUN("explain", "--policy", "config/examples/cron.ini");
	assert_int_equal(run.status, 0);
	expect_row(&run, "mode", "audit", "TENACURL_MODE");
	expect_row(&run, "log", "/var/log/%u.jsonl", "TENACURL_LOG");
	expect_row(&run, "replay", "idempotent", "config/examples/cron.ini:9 [policy]");

	assert_int_equal(setenv("TENACURL_MODE", "", 1), 0);
	run = RUN("explain", "--policy", FIXTURES "/good/empty.ini");
	expect_row(&run, "mode", "enforce", "default");

	assert_int_equal(setenv("TENACURL_MODE", "loud", 1), 0);
	run = RUN("explain");
	assert_int_equal(run.status, 1);
	assert_string_equal(run.out, "");
	assert_int_equal(strncmp(run.complaints, "tenacurl: TENACURL_MODE: mode = loud: ", 38), 0);
	assert_int_equal(unsetenv("TENACURL_MODE"), 0);
	assert_int_equal(unsetenv("TENACURL_LOG"), 0);
}

static void test_keys_lists_the_schema(void **state)
{
	struct run run = RUN("keys");

	(void)state;
	assert_int_equal(run.status, 0);
	for (size_t i = 0; i < schema_key_count(); i++)
		assert_non_null(strstr(run.out, schema_key_at(i)->doc));
	assert_non_null(strstr(run.out, "\n    takes: yield, own, off\n    default: yield\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_check_says_ok),
	    cmocka_unit_test(test_check_tells_what_is_wrong),
	    cmocka_unit_test(test_check_warns),
	    cmocka_unit_test(test_wrong_usage),
	    cmocka_unit_test(test_help_goes_to_stdout),
	    cmocka_unit_test(test_explain_tells_each_value_and_its_origin),
	    cmocka_unit_test(test_explain_stays_readable_beside_a_long_value),
	    cmocka_unit_test(test_explain_searches_as_programs_do),
	    cmocka_unit_test(test_explain_names_the_variables),
	    cmocka_unit_test(test_keys_lists_the_schema),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
