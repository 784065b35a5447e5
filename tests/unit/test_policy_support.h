/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_TESTS_UNIT_TEST_POLICY_SUPPORT_H
#define TENACURL_TESTS_UNIT_TEST_POLICY_SUPPORT_H

/* What the policy's tests share: iniparser, files of their own, and loads that must go well. Start from the
 * repository's top folder. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <iniparser/iniparser.h>

#include "config/load.h"
#include "config/schema.h"
#include "config/value.h"

#define FIXTURES "tests/fixtures/policy"

__attribute__((unused)) static const struct ini_functions test_ini = {
    .load = iniparser_load,
    .free_dictionary = iniparser_freedict,
    .section_count = iniparser_getnsec,
    .section_name = iniparser_getsecname,
    .get_string = iniparser_getstring,
    .set_error_callback = iniparser_set_error_callback,
};

/* Makes a file with these bytes; remove_file() takes it away and frees its path. */
__attribute__((unused)) static char *make_file(const void *bytes, size_t length)
{
	char *path = strdup("/tmp/tenacurl-policy-XXXXXX");
	int fd;

	assert_non_null(path);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, length), (ssize_t)length);
	assert_int_equal(close(fd), 0);
	return path;
}

__attribute__((unused)) static void remove_file(char *path)
{
	unlink(path);
	free(path);
}

/* Loads a policy from a text that must be a good one. */
__attribute__((unused)) static const struct policy *load_text(const char *text)
{
	char *path = make_file(text, strlen(text));
	const struct policy *policy = NULL;
	struct policy_error error = {.text = ""};

	if (policy_load(path, &test_ini, NULL, NULL, &policy, &error) != POLICY_LOADED)
		fail_msg("%s", error.text);
	remove_file(path);
	return policy;
}

#endif
