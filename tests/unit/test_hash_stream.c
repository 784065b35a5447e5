/* SPDX-License-Identifier: MIT */
/* A hash of bytes that come piece by piece is the same however they are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"

#define BYTES 97

static uint64_t hash_in_pieces(const char *bytes, size_t count, size_t piece)
{
	struct hash_stream stream;

	hash_stream_begin(&stream);
	for (size_t at = 0; at < count; at += piece)
		hash_stream_add(&stream, bytes + at, count - at < piece ? count - at : piece);
	return hash_stream_value(&stream);
}

static void fill(char *bytes)
{
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (char)(i * 7);
}

static void test_cuts_change_nothing(void **state)
{
	char bytes[BYTES];

	(void)state;
	fill(bytes);
	for (size_t count = 0; count <= BYTES; count++)
		for (size_t piece = 1; piece <= BYTES; piece++)
			assert_int_equal(hash_in_pieces(bytes, count, piece), hash_in_pieces(bytes, count, BYTES));
}

static void test_each_byte_and_the_length_count(void **state)
{
	char bytes[BYTES];
	const char zeros[2] = {0, 0};

	(void)state;
	fill(bytes);
	for (size_t i = 0; i < BYTES; i++) {
		uint64_t before = hash_in_pieces(bytes, BYTES, 5);
		bytes[i]++;
		assert_int_not_equal(hash_in_pieces(bytes, BYTES, 5), before);
	}
	assert_int_not_equal(hash_in_pieces(zeros, 1, 1), hash_in_pieces(zeros, 2, 1));
	assert_int_not_equal(hash_in_pieces(zeros, 0, 1), hash_in_pieces(zeros, 1, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cuts_change_nothing),
	    cmocka_unit_test(test_each_byte_and_the_length_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
