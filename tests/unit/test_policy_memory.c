/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of a load, and of a copy, fails once: nothing is leaked, crashes or half done, and the error is
 * POLICY_UNREADABLE. The program's own malloc() and calloc() take the place of the C library's; iniparser's calls are
 * spared, since it doesn't look at what calloc() gives. Sanitizers have their own malloc(), so this runs without them.
 */
#include "tests/unit/test_policy_support.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

static bool counting;
static long calls;
static long failing_call; /* 0: none */
static long blocks;       /* allocated and not freed while counting */

#ifndef HAS_SANITIZER
/* glibc's own, under the names it exports them by. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void __libc_free(void *memory);

static bool fails(void)
{
	if (!counting)
		return false;
	if (++calls == failing_call)
		return true;
	blocks++;
	return false;
}

void *malloc(size_t bytes)
{
	return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	return fails() ? NULL : __libc_calloc(count, bytes);
}

void free(void *memory)
{
	if (counting && memory != NULL)
		blocks--;
	__libc_free(memory);
}
#endif

static dictionary *load_spared(const char *path)
{
	counting = false;
	dictionary *ini = iniparser_load(path);
	counting = true;
	return ini;
}

static void free_spared(dictionary *ini)
{
	counting = false;
	iniparser_freedict(ini);
	counting = true;
}

static const char text[] = "[policy]\nfinal_body = gone\nprograms = a, b, c\nlog = /tmp/x\nretry_after_headers = A, B\n"
                           "[upstream one]\nmatch = https://one:1/x*\nidempotency_header = Key\n"
                           "[upstream two]\nmatch = two\n";

static void test_loads_without_memory(void **state)
{
	char *path = make_file(text, sizeof text - 1);
	const struct policy_overrides overrides = {"audit", "/tmp/y"};
	struct ini_functions ini = test_ini;
	enum policy_load_result result = POLICY_UNREADABLE;
	const struct policy *policy = NULL;
	struct policy_error error;

	(void)state;
#ifdef HAS_SANITIZER
	remove_file(path);
	skip();
#endif
	ini.load = load_spared;
	ini.free_dictionary = free_spared;
	for (failing_call = 1; result != POLICY_LOADED; failing_call++) {
		memset(&error, 0, sizeof error);
		calls = 0;
		blocks = 0;
		counting = true;
		result = policy_load_with(path, &ini, &overrides, NULL, NULL, &policy, &error);
		if (result == POLICY_LOADED)
			policy_free(policy);
		counting = false;
		assert_int_equal(blocks, 0);
		if (result != POLICY_LOADED) {
			assert_int_equal(result, POLICY_UNREADABLE);
			assert_null(policy);
			assert_non_null(strstr(error.text, "no memory"));
		}
	}
	assert_true(failing_call > 5);
	remove_file(path);
}

static void test_copies_without_memory(void **state)
{
	const struct policy *policy = load_text(text);
	struct policy *copy = NULL;

	(void)state;
#ifdef HAS_SANITIZER
	policy_free(policy);
	skip();
#endif
	for (failing_call = 1; copy == NULL; failing_call++) {
		calls = 0;
		blocks = 0;
		counting = true;
		copy = policy_copy(policy);
		policy_free(copy);
		counting = false;
		assert_int_equal(blocks, 0);
	}
	assert_true(failing_call > 2);
	policy_free(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_loads_without_memory),
	    cmocka_unit_test(test_copies_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
