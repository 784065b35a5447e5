/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error_text.h"

static void test_words_are_those_of_strerror(void **state)
{
	static const int common[] = {EACCES, ELOOP, EMFILE, ENOENT, ENOMEM, ENOTDIR, EPERM};
	(void)state;
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		assert_string_equal(error_text(common[i]), strerror(common[i]));
	for (int number = 0; number < 200; number++)
		if (strcmp(error_text(number), "an unknown error") != 0)
			assert_string_equal(error_text(number), strerror(number));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_words_are_those_of_strerror)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
