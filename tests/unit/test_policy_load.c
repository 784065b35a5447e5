/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>

#include "config/check.h"
#include "tests/unit/test_policy_support.h"

#define LINE(section, key) ((section)->line[schema_find(key)])

/* Files that can't be fixtures. */

static void expect_refusal(const char *path, enum policy_load_result expected, const char *message)
{
	const struct policy *policy = NULL;
	struct policy_error error = {.text = ""};
	char whole[1024];

	errno = 4711;
	assert_int_equal(policy_load(path, &test_ini, NULL, NULL, &policy, &error), expected);
	assert_int_equal(errno, 4711);
	assert_null(policy);
	snprintf(whole, sizeof whole, "%s%s", path, message);
	assert_string_equal(error.text, whole);
}

static void test_missing_file(void **state)
{
	(void)state;
	expect_refusal("/nonexistent/policy.ini", POLICY_ABSENT, ": cannot be opened: No such file or directory");
}

static void test_directory_and_symlink_to_one(void **state)
{
	char folder[] = "/tmp/tenacurl-policy-XXXXXX";
	char link[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(link, sizeof link, "%s/link", folder);
	assert_int_equal(symlink(folder, link), 0);
	expect_refusal(folder, POLICY_UNREADABLE, ": is not a regular file");
	expect_refusal(link, POLICY_UNREADABLE, ": is not a regular file");
	unlink(link);
	rmdir(folder);
}

/* Without a writer a plain open would wait for ever: the alarm would end the test. */
static void test_fifo_does_not_block(void **state)
{
	char folder[] = "/tmp/tenacurl-policy-XXXXXX";
	char fifo[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(fifo, sizeof fifo, "%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	alarm(30);
	expect_refusal(fifo, POLICY_UNREADABLE, ": is not a regular file");
	alarm(0);
	unlink(fifo);
	rmdir(folder);
}

static void test_writable_by_others(void **state)
{
	char *path = make_file("[policy]\n", 9);
	char message[160];

	(void)state;
	assert_int_equal(chmod(path, 0646), 0);
	assert_int_equal(chown(path, (uid_t)-1, getegid()), 0);
	snprintf(message, sizeof message,
	         ": may be written by others (group %u, mode 0646); allowed: not writable by others (chmod go-w)",
	         (unsigned)getegid());
	expect_refusal(path, POLICY_UNREADABLE, message);
	remove_file(path);
}

static void test_size_limit(void **state)
{
	size_t limit = 64 * 1024;
	char *bytes = malloc(limit + 1);
	char *path;
	const struct policy *policy = NULL;
	struct policy_error error;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, '\n', limit + 1);
	path = make_file(bytes, limit);
	assert_int_equal(policy_load(path, &test_ini, NULL, NULL, &policy, &error), POLICY_LOADED);
	policy_free(policy);
	remove_file(path);

	path = make_file(bytes, limit + 1);
	expect_refusal(path, POLICY_UNREADABLE, ": is too large; allowed: at most 65536 bytes");
	remove_file(path);
	free(bytes);
}

static void test_nul_byte(void **state)
{
	static const char bytes[] = "[policy]\nmax_attempts = 2\0 + 3\n";
	char *path = make_file(bytes, sizeof bytes - 1);

	(void)state;
	expect_refusal(path, POLICY_INVALID, ":2: a NUL byte; allowed: a text file in UTF-8 or ASCII");
	remove_file(path);
}

static void test_too_many_sections(void **state)
{
	char *text = calloc(1, 16384);
	size_t used = 0;

	(void)state;
	assert_non_null(text);
	for (int i = 0; i < 257; i++)
		used += (size_t)snprintf(text + used, 16384 - used, "[upstream s%d]\nmatch = h%d\n", i, i);
	char *path = make_file(text, used);
	expect_refusal(path, POLICY_INVALID, ":513: too many sections; allowed: at most 256");
	remove_file(path);
	free(text);
}

static void test_long_paths_and_values_are_shortened(void **state)
{
	char path[600];
	const struct policy *policy = NULL;
	struct policy_error error = {.text = ""};

	(void)state;
	memset(path, 'p', sizeof path);
	path[0] = '/';
	path[sizeof path - 1] = '\0';
	assert_int_equal(policy_load(path, &test_ini, NULL, NULL, &policy, &error), POLICY_UNREADABLE);
	assert_int_equal(strncmp(error.text, "...ppp", 6), 0);
	assert_non_null(strstr(error.text, "File name too long"));
}

/* Values. */

static void test_values_are_read(void **state)
{
	const struct policy *policy = load_text("[policy]\n"
	                                        "mode = audit\n"
	                                        "deadline_ms = 1500\n"
	                                        "backoff_multiplier = 1.25\n"
	                                        "jitter = equal\n"
	                                        "retry_after_headers = Retry-After , retry-after-ms\n"
	                                        "retry_status = 100, 599\n"
	                                        "retry_errors = connect, timeout\n"
	                                        "final_body = \"a;b # c\" ; why\n"
	                                        "replay = none\n"
	                                        "add_idempotency_key = yes\n"
	                                        "resend = forbid\n"
	                                        "log = /var/log/t-%u.jsonl\n"
	                                        "log_url = hash\n"
	                                        "programs = php*, curl\n"
	                                        "idempotency_header = X-Key\n");
	const struct policy_rules *rules = &policy->sections[0].rules;

	(void)state;
	assert_int_equal(rules->mode, POLICY_MODE_AUDIT);
	assert_int_equal(rules->deadline_ms, 1500);
	assert_true(rules->backoff_multiplier == 1.25);
	assert_int_equal(rules->jitter, POLICY_JITTER_EQUAL);
	assert_int_equal(rules->retry_after_headers.count, 2);
	assert_string_equal(rules->retry_after_headers.items[0], "Retry-After");
	assert_string_equal(rules->retry_after_headers.items[1], "retry-after-ms");
	assert_true(policy_status_in(&rules->retry_status, 100));
	assert_true(policy_status_in(&rules->retry_status, 599));
	assert_false(policy_status_in(&rules->retry_status, 503));
	assert_false(policy_status_in(&rules->retry_status, 600));
	assert_false(policy_status_in(&rules->retry_status, 99));
	assert_false(policy_status_in(&rules->retry_status, -1));
	assert_int_equal(rules->retry_errors, POLICY_ERROR_CONNECT | POLICY_ERROR_TIMEOUT);
	assert_string_equal(rules->final_body, "a;b # c");
	assert_int_equal(rules->replay, POLICY_REPLAY_NONE);
	assert_true(rules->add_idempotency_key);
	assert_int_equal(rules->resend, POLICY_RESEND_FORBID);
	assert_int_equal(rules->log, POLICY_LOG_FILE);
	assert_string_equal(rules->log_path, "/var/log/t-%u.jsonl");
	assert_int_equal(rules->log_url, POLICY_LOG_URL_HASH);
	assert_int_equal(rules->programs.count, 2);
	assert_string_equal(rules->idempotency_header, "X-Key");
	assert_int_equal(rules->max_attempts, 4);
	policy_free(policy);
}

static void test_empty_lists_mean_none(void **state)
{
	const struct policy *policy = load_text("[policy]\nretry_errors =\nretry_status = \"\"\nfinal_body = # none\n");
	const struct policy_rules *rules = &policy->sections[0].rules;

	(void)state;
	assert_int_equal(rules->retry_errors, 0);
	assert_false(policy_status_in(&rules->retry_status, 503));
	assert_true(policy_status_in(&rules->retry_status_get_only, 500));
	assert_null(rules->final_body);
	policy_free(policy);
}

static void test_upstreams_begin_as_copies_and_know_their_lines(void **state)
{
	const struct policy *policy = load_text("[upstream Fast]\n"
	                                        "match = fast.example\n"
	                                        "max_attempts = 2\n"
	                                        "[policy]\n"
	                                        "max_attempts = 6\n"
	                                        "deadline_ms = 9000\n"
	                                        "[upstream slow]\n"
	                                        "match = slow.example\n");
	const struct policy_section *fast = &policy->sections[1];
	const struct policy_section *slow = &policy->sections[2];
	int attempts = schema_find("max_attempts");
	int deadline = schema_find("deadline_ms");
	int jitter = schema_find("jitter");

	(void)state;
	assert_int_equal(policy->section_count, 3);
	assert_string_equal(policy->sections[0].name, "policy");
	assert_string_equal(fast->name, "Fast");
	assert_int_equal(fast->rules.max_attempts, 2);
	assert_int_equal(fast->rules.deadline_ms, 9000);
	assert_int_equal(slow->rules.max_attempts, 6);

	assert_int_equal(LINE(&policy->sections[0], "max_attempts"), 5);
	assert_int_equal(fast->line[attempts], 3);
	assert_false(fast->inherited[attempts]);
	assert_int_equal(fast->line[deadline], 6);
	assert_true(fast->inherited[deadline]);
	assert_int_equal(slow->line[attempts], 5);
	assert_true(slow->inherited[attempts]);
	assert_int_equal(slow->line[jitter], 0);
	assert_false(slow->inherited[jitter]);
	policy_free(policy);
}

/* By the definition of FNV-1a 64, worked out apart from this code; of no bytes it is the offset basis. */
static void test_hash_names_the_bytes(void **state)
{
	const struct policy *empty = load_text("");
	char *path = make_file("#", 1);
	const struct policy *comment = NULL;
	struct policy_error error;

	(void)state;
	assert_string_equal(empty->hash, "cbf29ce484222325");
	assert_int_equal(policy_load(path, &test_ini, NULL, NULL, &comment, &error), POLICY_LOADED);
	assert_string_equal(comment->hash, "af639e4c86018332");
	assert_string_equal(comment->path, path);
	assert_string_equal(policy_builtin()->hash, "built-in");
	assert_null(policy_builtin()->path);
	policy_free(empty);
	policy_free(comment);
	policy_free(policy_builtin());
	policy_free(NULL);
	remove_file(path);
}

/* What iniparser reads must be what was scanned. */

static const char *lie(const dictionary *ini, const char *key, const char *fallback)
{
	const char *value = iniparser_getstring(ini, key, fallback);

	return strcmp(key, "policy:max_attempts") == 0 ? "9" : value;
}

static const char *forget(const dictionary *ini, const char *key, const char *fallback)
{
	(void)ini;
	(void)key;
	return fallback;
}

static dictionary *load_nothing(const char *path)
{
	(void)path;
	return NULL;
}

static void test_a_different_reading_is_refused(void **state)
{
	static const char text[] = "[policy]\nmax_attempts = 2\n";
	char *path = make_file(text, sizeof text - 1);
	struct ini_functions ini = test_ini;
	const struct policy *policy = NULL;
	struct policy_error error;

	(void)state;
	ini.get_string = lie;
	assert_int_equal(policy_load(path, &ini, NULL, NULL, &policy, &error), POLICY_UNREADABLE);
	assert_non_null(strstr(error.text, ":2: [policy] max_attempts = 2: iniparser reads something else"));
	ini.get_string = forget;
	assert_int_equal(policy_load(path, &ini, NULL, NULL, &policy, &error), POLICY_UNREADABLE);
	ini = test_ini;
	ini.load = load_nothing;
	ini.set_error_callback = NULL;
	assert_int_equal(policy_load(path, &ini, NULL, NULL, &policy, &error), POLICY_UNREADABLE);
	assert_null(policy);
	remove_file(path);
}

static char *changed_path;

/* Replaces the file between our reading and iniparser's. */
static dictionary *load_changed(const char *path)
{
	static const char text[] = "[policy]\nmax_attempts = 50\n[upstream x]\nmatch = x\n";
	int fd = open(changed_path, O_WRONLY | O_TRUNC);

	assert_int_equal(write(fd, text, sizeof text - 1), (ssize_t)sizeof text - 1);
	close(fd);
	return iniparser_load(path);
}

static void test_a_file_that_changes_is_refused(void **state)
{
	static const char text[] = "[policy]\nmax_attempts = 2\n";
	struct ini_functions ini = test_ini;
	const struct policy *policy = NULL;
	struct policy_error error;

	(void)state;
	changed_path = make_file(text, sizeof text - 1);
	ini.load = load_changed;
	assert_int_equal(policy_load(changed_path, &ini, NULL, NULL, &policy, &error), POLICY_UNREADABLE);
	assert_null(policy);
	remove_file(changed_path);
}

/* Overrides and copies. */

static enum policy_load_result load_with(const char *text, const char *mode, const char *log,
                                         const struct policy **policy, struct policy_error *error)
{
	const struct policy_overrides overrides = {mode, log};
	char *path = make_file(text, strlen(text));
	enum policy_load_result result = policy_load_with(path, &test_ini, &overrides, NULL, NULL, policy, error);

	remove_file(path);
	return result;
}

static void test_audit_may_get_its_log_from_outside(void **state)
{
	static const char audit[] = "[policy]\nmode = audit\n";
	const struct policy *policy = NULL;
	struct policy_error error = {.text = ""};

	(void)state;
	assert_int_equal(load_with(audit, NULL, NULL, &policy, &error), POLICY_INVALID);
	assert_int_equal(load_with(audit, NULL, "/tmp/x.jsonl", &policy, &error), POLICY_LOADED);
	assert_int_equal(policy->sections[0].rules.log, POLICY_LOG_FILE);
	assert_string_equal(policy->sections[0].rules.log_path, "/tmp/x.jsonl");
	policy_free(policy);

	policy = NULL;
	assert_int_equal(load_with("", "audit", NULL, &policy, &error), POLICY_INVALID);
	assert_non_null(strstr(error.text, "[policy] mode = audit: audit only writes a log"));
	assert_int_equal(load_with("", "audit", "stderr", &policy, &error), POLICY_LOADED);
	policy_free(policy);
}

static void test_mode_override_leaves_off_alone(void **state)
{
	static const char text[] =
	    "[policy]\nlog = syslog\n[upstream a]\nmatch = a\nmode = off\n[upstream b]\nmatch = b\n";
	const struct policy *policy = NULL;
	struct policy_error error;

	(void)state;
	assert_int_equal(load_with(text, "audit", NULL, &policy, &error), POLICY_LOADED);
	assert_int_equal(policy->sections[0].rules.mode, POLICY_MODE_AUDIT);
	assert_int_equal(policy->sections[1].rules.mode, POLICY_MODE_OFF);
	assert_int_equal(policy->sections[2].rules.mode, POLICY_MODE_AUDIT);
	assert_int_equal(LINE(&policy->sections[1], "mode"), 5);
	policy_free(policy);

	assert_int_equal(load_with(text, "off", NULL, &policy, &error), POLICY_LOADED);
	for (int i = 0; i < 3; i++)
		assert_int_equal(policy->sections[i].rules.mode, POLICY_MODE_OFF);
	policy_free(policy);
}

static void test_bad_overrides_change_nothing(void **state)
{
	struct policy *policy = policy_copy(policy_builtin());
	struct policy_error error;

	(void)state;
	assert_non_null(policy);
	assert_false(policy_override(policy, "mode", "loud", &error));
	assert_string_equal(error.text, "mode = loud: not a known word; allowed: enforce, audit, off");
	assert_false(policy_override(policy, "log", "x/y", &error));
	assert_false(policy_override(policy, "log", "", &error));
	assert_false(policy_override(policy, "max_attempts", "3", &error));
	assert_int_equal(policy->sections[0].rules.mode, POLICY_MODE_ENFORCE);
	assert_int_equal(policy->sections[0].rules.log, POLICY_LOG_NONE);
	assert_true(policy_check(policy, &error));
	policy_free(policy);
	assert_false(policy_override((struct policy *)(uintptr_t)policy_builtin(), "mode", "off", &error));
}

static void test_copies_outlive_what_they_were_made_from(void **state)
{
	const struct policy *policy = load_text("[policy]\nfinal_body = gone\nprograms = a, b\nlog = /tmp/log\n"
	                                        "[upstream n]\nmatch = https://h:1/p\n");
	struct policy *copy = policy_copy(policy);
	char *log = strdup("/tmp/other");
	struct policy_error error;

	(void)state;
	assert_non_null(copy);
	assert_non_null(log);
	policy_free(policy);
	assert_string_equal(copy->sections[1].name, "n");
	assert_string_equal(copy->sections[1].rules.final_body, "gone");
	assert_string_equal(copy->sections[0].rules.programs.items[1], "b");
	assert_string_equal(copy->sections[1].rules.match.host_glob, "h");
	assert_string_equal(copy->sections[1].rules.match.path_glob, "/p");
	assert_string_equal(copy->sections[0].rules.log_path, "/tmp/log");
	assert_true(policy_override(copy, "log", log, &error));
	free(log);
	assert_string_equal(copy->sections[1].rules.log_path, "/tmp/other");
	policy_free(copy);
}

static void test_programs_are_chosen(void **state)
{
	const struct policy *policy = load_text("[policy]\nprograms = php*, job-?\nskip_programs = php-cgi\n");
	const struct policy_rules *rules = &policy->sections[0].rules;
	const char *const php[] = {NULL, "index.php", "php8.2"};
	const char *const cgi[] = {"job-1", NULL, "php-cgi"};
	const char *const job[] = {"job-1", "x"};
	const char *const none[] = {NULL, "curl"};

	(void)state;
	assert_true(policy_allows_program(rules, php, 3));
	assert_false(policy_allows_program(rules, cgi, 3));
	assert_true(policy_allows_program(rules, job, 2));
	assert_false(policy_allows_program(rules, none, 2));
	assert_false(policy_allows_program(rules, NULL, 0));
	assert_true(policy_allows_program(&policy_builtin()->sections[0].rules, none, 2));
	policy_free(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_missing_file),
	    cmocka_unit_test(test_directory_and_symlink_to_one),
	    cmocka_unit_test(test_fifo_does_not_block),
	    cmocka_unit_test(test_writable_by_others),
	    cmocka_unit_test(test_size_limit),
	    cmocka_unit_test(test_nul_byte),
	    cmocka_unit_test(test_too_many_sections),
	    cmocka_unit_test(test_long_paths_and_values_are_shortened),
	    cmocka_unit_test(test_values_are_read),
	    cmocka_unit_test(test_empty_lists_mean_none),
	    cmocka_unit_test(test_upstreams_begin_as_copies_and_know_their_lines),
	    cmocka_unit_test(test_hash_names_the_bytes),
	    cmocka_unit_test(test_a_different_reading_is_refused),
	    cmocka_unit_test(test_a_file_that_changes_is_refused),
	    cmocka_unit_test(test_audit_may_get_its_log_from_outside),
	    cmocka_unit_test(test_mode_override_leaves_off_alone),
	    cmocka_unit_test(test_bad_overrides_change_nothing),
	    cmocka_unit_test(test_copies_outlive_what_they_were_made_from),
	    cmocka_unit_test(test_programs_are_chosen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
