/* SPDX-License-Identifier: MIT */
/* Who gets what libcurl would give: the program's callbacks and files, by libcurl's own rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/gate/deliver.h"

#define countof(array) (sizeof(array) / sizeof((array)[0]))

static char heard[64]; /* by the program's callbacks: who, with which data, what */
static char write_data, header_data;

static const char *name_of(const void *data)
{
	return data == &write_data    ? "write_data"
	       : data == &header_data ? "header_data"
	       : data == stdout       ? "stdout"
	                              : "?";
}

static size_t take_write(char *bytes, size_t size, size_t count, void *data)
{
	snprintf(heard, sizeof(heard), "write(%s): %.*s", name_of(data), (int)(size * count), bytes);
	return count - 1;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *data)
{
	snprintf(heard, sizeof(heard), "header(%s): %.*s", data ? name_of(data) : "NULL", (int)(size * count), bytes);
	return count - 1;
}

static void callbacks_are_chosen_as_libcurl_does(void **state)
{
	static const struct {
		struct program_options program;
		enum held_kind kind;
		const char *heard;
		size_t taken;
	} cases[] = {
	    {{.write_function = take_write, .write_data = &write_data, .write_data_set = true},
	     HELD_WRITE,
	     "write(write_data): abc",
	     2},
	    {{.write_function = take_write, .write_data = &write_data}, HELD_WRITE, "write(stdout): abc", 2},
	    {{.write_function = take_write, .write_data_set = true}, HELD_WRITE, "write(?): abc", 2},
	    {{.write_function = take_write, .header_function = take_header, .header_data = &header_data},
	     HELD_HEADER,
	     "header(header_data): abc",
	     2},
	    {{.write_function = take_write, .header_function = take_header}, HELD_HEADER, "header(NULL): abc", 2},
	    {{.write_function = take_write, .header_data = &header_data}, HELD_HEADER, "write(header_data): abc", 2},
	    {{.write_function = take_write}, HELD_HEADER, "", 3},
	    {{.write_function = NULL}, HELD_HEADER, "", 3},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		const struct handle handle = {.program = cases[i].program};
		char bytes[] = "abc";

		heard[0] = '\0';
		assert_int_equal(deliver_event(&handle, cases[i].kind, bytes, 3), cases[i].taken);
		assert_string_equal(heard, cases[i].heard);
	}
}

/* A program that sets no callback has its files written to. */
static void files_are_written_to(void **state)
{
	char *text = NULL;
	size_t text_bytes = 0;
	FILE *file = open_memstream(&text, &text_bytes);
	const struct handle handle = {.program = {.write_data = file, .write_data_set = true, .header_data = file}};
	char header[] = "A: b\r\n", body[] = "bo\0dy";

	(void)state;
	assert_int_equal(deliver_event(&handle, HELD_HEADER, header, 6), 6);
	assert_int_equal(deliver_event(&handle, HELD_WRITE, body, 5), 5);
	fclose(file);
	assert_int_equal(text_bytes, 11);
	assert_memory_equal(text, "A: b\r\nbo\0dy", 11);
	free(text);
}

static void header_lines_have_a_listener_or_none(void **state)
{
	static const struct {
		struct program_options program;
		bool listens;
	} cases[] = {
	    {{.write_function = take_write, .write_data = &write_data, .write_data_set = true}, false},
	    {{.header_function = take_header}, true},
	    {{.header_data = &header_data}, true},
	    {{.header_in_body = true}, true},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		const struct handle handle = {.program = cases[i].program};

		assert_int_equal(deliver_has_header_listener(&handle), cases[i].listens);
	}
}

static void what_is_held_is_delivered_once(void **state)
{
	struct handle handle = {.program = {.header_function = take_header}};

	(void)state;
	assert_int_equal(deliver_held(&handle), DELIVER_DONE);
	assert_true(held_append(&handle.held, HELD_HEADER, "abc", 3));
	assert_int_equal(deliver_held(&handle), DELIVER_REFUSED);
	/* The program had it, if it took less than all. */
	assert_int_equal(deliver_held(&handle), DELIVER_DONE);
	assert_int_equal(handle.held.event_count, 0);
	held_free(&handle.held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(callbacks_are_chosen_as_libcurl_does),
	    cmocka_unit_test(files_are_written_to),
	    cmocka_unit_test(header_lines_have_a_listener_or_none),
	    cmocka_unit_test(what_is_held_is_delivered_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
