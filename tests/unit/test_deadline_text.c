/* SPDX-License-Identifier: MIT */
/* The text that hands a deadline down a process tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/deadline_text.h"

#define BOOT "01234567-89ab-cdef-0123-456789abcdef"

static void what_is_written_is_read_back(void **state)
{
	(void)state;
	static const struct deadline_text DEADLINES[] = {
	    {BOOT, 0, 1, 0, 0},
	    {BOOT, 123456789, 4711, 987654321, 4026531836},
	    {BOOT, INT64_MAX, INT32_MAX, UINT64_MAX, UINT64_MAX},
	};
	for (size_t i = 0; i < sizeof(DEADLINES) / sizeof(DEADLINES[0]); i++) {
		char text[DEADLINE_TEXT_BYTES_MAX];
		struct deadline_text read;
		deadline_text_format(&DEADLINES[i], text);
		assert_true(strlen(text) < sizeof(text));
		assert_true(deadline_text_parse(text, &read));
		assert_string_equal(read.boot_id, BOOT);
		assert_true(read.deadline_ms == DEADLINES[i].deadline_ms);
		assert_true(read.launcher_pid == DEADLINES[i].launcher_pid);
		assert_true(read.launcher_start == DEADLINES[i].launcher_start);
		assert_true(read.pid_namespace == DEADLINES[i].pid_namespace);
	}
}

static void the_format_is_fixed(void **state)
{
	(void)state;
	struct deadline_text deadline = {BOOT, 1500, 42, 777, 0};
	char text[DEADLINE_TEXT_BYTES_MAX];
	deadline_text_format(&deadline, text);
	assert_string_equal(text, BOOT ":1500:42:777");
	deadline.pid_namespace = 4026531836;
	deadline_text_format(&deadline, text);
	assert_string_equal(text, BOOT ":1500:42:777:4026531836");
}

static void anything_else_is_refused(void **state)
{
	(void)state;
	static const char *const TEXTS[] = {
	    NULL,
	    "",
	    BOOT,
	    BOOT ":",
	    BOOT ":1:2",
	    BOOT ":1:2:",
	    BOOT ":1:2:3:",
	    BOOT ":1:2:3 ",
	    BOOT ":1:2:3:4:",
	    BOOT ":1:2:3:x",
	    BOOT ":1:2:3:4:5",
	    BOOT ":-1:2:3",
	    BOOT ":+1:2:3",
	    BOOT ": 1:2:3",
	    BOOT ":1:0:3",
	    BOOT ":1:2147483648:3",
	    BOOT ":9223372036854775808:2:3",
	    BOOT ":1:2:18446744073709551616",
	    BOOT ":0x1:2:3",
	    "01234567-89AB-cdef-0123-456789abcdef:1:2:3",
	    "01234567x89ab-cdef-0123-456789abcdef:1:2:3",
	    "1:2:3",
	};
	for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
		struct deadline_text read = {.launcher_pid = -7};
		if (deadline_text_parse(TEXTS[i], &read))
			fail_msg("accepted: %s", TEXTS[i]);
		assert_int_equal(read.launcher_pid, -7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_is_read_back),
	    cmocka_unit_test(the_format_is_fixed),
	    cmocka_unit_test(anything_else_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
