/* SPDX-License-Identifier: MIT */
/* The order in which a policy is searched for. */
#include <errno.h>

#include "config/find.h"
#include "tests/unit/test_policy_support.h"

struct home {
	char path[64];
	char policy[160];
};

static void make_home(struct home *home)
{
	char folder[128];

	strcpy(home->path, "/tmp/tenacurl-home-XXXXXX");
	assert_non_null(mkdtemp(home->path));
	snprintf(folder, sizeof folder, "%s/.config", home->path);
	assert_int_equal(mkdir(folder, 0700), 0);
	snprintf(folder, sizeof folder, "%s/.config/tenacurl", home->path);
	assert_int_equal(mkdir(folder, 0700), 0);
	snprintf(home->policy, sizeof home->policy, "%s/policy.ini", folder);
}

static void remove_home(struct home *home)
{
	char folder[128];

	unlink(home->policy);
	snprintf(folder, sizeof folder, "%s/.config/tenacurl", home->path);
	rmdir(folder);
	snprintf(folder, sizeof folder, "%s/.config", home->path);
	rmdir(folder);
	rmdir(home->path);
}

static void expect(const struct policy_places *places, enum policy_found expected, const char *expected_path)
{
	char path[512];
	enum policy_found how;

	errno = 4711;
	assert_true(policy_find(places, path, sizeof path, &how));
	assert_int_equal(how, expected);
	assert_string_equal(path, expected_path);
	assert_int_equal(errno, 4711);
	assert_true(strlen(policy_found_text(how)) > 0);
}

/* This host's own default, if it has one; the test must do with or without. */
static void expect_default(const struct policy_places *places)
{
	char path[512];
	enum policy_found how;
	bool found = policy_find(places, path, sizeof path, &how);
	bool host_has_one = access("/etc/tenacurl/policy.ini", F_OK) == 0;

	assert_int_equal(found, host_has_one);
	assert_int_equal(how, host_has_one ? POLICY_FOUND_IN_ETC : POLICY_FOUND_BUILT_IN);
	assert_string_equal(path, host_has_one ? "/etc/tenacurl/policy.ini" : "");
}

static void test_order(void **state)
{
	struct home home;
	struct policy_places places = {.home = home.path};

	(void)state;
	make_home(&home);
	expect_default(&places);

	FILE *file = fopen(home.policy, "w");
	assert_non_null(file);
	fclose(file);
	expect(&places, POLICY_FOUND_IN_HOME, home.policy);

	places.is_root = true;
	expect_default(&places);
	places.is_root = false;

	places.environment = "";
	expect(&places, POLICY_FOUND_IN_HOME, home.policy);
	places.environment = "relative/env.ini";
	expect(&places, POLICY_FOUND_BY_ENVIRONMENT, "relative/env.ini");
	places.named_by_command = "/nonexistent/command.ini";
	expect(&places, POLICY_FOUND_BY_COMMAND, "/nonexistent/command.ini");
	remove_home(&home);
}

static void test_homes_that_are_none(void **state)
{
	static const char *const homes[] = {NULL, "", "relative", "/nonexistent"};

	(void)state;
	for (size_t i = 0; i < sizeof homes / sizeof homes[0]; i++) {
		const struct policy_places places = {.home = homes[i]};
		expect_default(&places);
	}
}

/* Nobody can enter it; whose it is makes the difference. */
static void test_h10_homes_that_are_closed(void **state)
{
	struct home home;
	struct policy_places places = {.home = home.path};
	char path[512];
	enum policy_found how;

	(void)state;
	make_home(&home);
	assert_int_equal(chmod(home.path, 0), 0);
	if (geteuid() == 0) {
		assert_int_equal(seteuid(54321), 0);
		expect_default(&places);
		assert_int_equal(seteuid(0), 0);
		assert_int_equal(chown(home.path, 54321, 54321), 0);
		assert_int_equal(seteuid(54321), 0);
	}
	/* It may have a policy, and it is this user's. */
	assert_true(policy_find(&places, path, sizeof path, &how));
	assert_int_equal(how, POLICY_FOUND_IN_HOME);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(home.path, 0700), 0);
	remove_home(&home);
}

static void test_paths_that_are_too_long(void **state)
{
	const struct policy_places places = {.environment = "/0123456789"};
	enum policy_found how;
	char path[12];

	(void)state;
	assert_true(policy_find(&places, path, 12, &how));
	assert_string_equal(path, "/0123456789");
	assert_false(policy_find(&places, path, 11, &how));
	assert_int_equal(how, POLICY_FOUND_TOO_LONG);
	assert_string_equal(path, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_homes_that_are_none),
	    cmocka_unit_test(test_h10_homes_that_are_closed),
	    cmocka_unit_test(test_paths_that_are_too_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
