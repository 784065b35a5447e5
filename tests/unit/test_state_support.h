/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_TESTS_UNIT_TEST_STATE_SUPPORT_H
#define TENACURL_TESTS_UNIT_TEST_STATE_SUPPORT_H

/* What the tests of the state share: a directory of their own, states in it, and children whose word counts. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/call_filter.h"
#include "base/hash.h"
#include "state/count.h"
#include "state/entries.h"
#include "state/flight.h"
#include "state/layout.h"
#include "state/lease.h"
#include "state/read.h"
#include "state/state.h"

#define TEST_BOOT_ID "01234567-89ab-cdef-0123-456789abcdef"
#define TEST_FILE    "state-4-" TEST_BOOT_ID
#define UNKNOWN_FILE "state-4-00000000-0000-0000-0000-000000000000"
#define ORIGIN       "https://origin.example:443"

__attribute__((unused)) static char test_directory[64];

/* In /dev/shm, where a state usually is; with the usual rights. */
__attribute__((unused)) static int make_test_directory(void **unused)
{
	(void)unused;
	strcpy(test_directory, "/dev/shm/test_state.XXXXXX");
	return mkdtemp(test_directory) ? chdir(test_directory) : -1;
}

__attribute__((unused)) static int remove_test_directory(void **unused)
{
	(void)unused;
	char command[192];
	snprintf(command, sizeof(command), "chmod -R u+rwx '%s'; rm -rf -- '%s'", test_directory, test_directory);
	return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

__attribute__((unused)) static struct state_request test_request(void)
{
	return (struct state_request){.directory = test_directory, .boot_id = TEST_BOOT_ID};
}

__attribute__((unused)) static struct state_outcome open_test_state(struct state *state)
{
	struct state_request request = test_request();
	struct state_outcome outcome;
	memset((void *)state, 0, sizeof(*state));
	state_open(&request, state, &outcome);
	return outcome;
}

/* A shared one, without any trouble. */
__attribute__((unused)) static void open_shared(struct state *state)
{
	struct state_outcome outcome = open_test_state(state);
	assert_string_equal(state_trouble_text(outcome.trouble), state_trouble_text(STATE_NO_TROUBLE));
	assert_true(outcome.shared);
}

/* Runs `body` in a child. Returns its exit status; fails the test if a signal ended it. */
__attribute__((unused)) static int run_in_child(int (*body)(void *), void *argument)
{
	int status;
	pid_t child = fork();
	if (child == 0)
		_exit(body(argument));
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_false(WIFSIGNALED(status));
	return WEXITSTATUS(status);
}

/* What a child does that uses a state of its parent's. */
__attribute__((unused)) static void begin_as_child(struct state *state)
{
	if (call_filter_may_be_there())
		state_empty_own(state);
}

/* The view of an entry of `origin` in a fresh snapshot; false if there is none. */
__attribute__((unused)) static bool view_of(const struct state *state, const char *origin, struct state_view *view)
{
	struct state_snapshot *snapshot = state_snapshot_take(state);
	bool found = false;
	assert_non_null(snapshot);
	for (size_t i = 0; i < STATE_ENTRIES && !found; i++)
		found = state_snapshot_view(snapshot, i, 0, view) && strcmp(view->origin, origin) == 0;
	state_snapshot_free(snapshot);
	return found;
}

#define FILE_BYTES sizeof(struct state_layout)

__attribute__((unused)) static size_t count_files(void)
{
	char command[128];
	size_t count;
	snprintf(command, sizeof(command), "ls -A '%s' | wc -l", test_directory);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%zu", &count), 1);
	pclose(pipe);
	return count;
}

__attribute__((unused)) static void write_file(const char *path, const void *bytes, size_t count, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), (ssize_t)count);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

/* Counts one success in what a first opening gets. */
__attribute__((unused)) static void leave_a_mark(void)
{
	struct state state;
	open_shared(&state);
	state_count_plain_success(state_find_entry(&state, ORIGIN, "policy"), 1);
	state_close(&state);
}

__attribute__((unused)) static uint64_t marks_in(const struct state *state)
{
	struct state_view view;
	return view_of(state, ORIGIN, &view) ? view.operations[1] : 0;
}

/* The n-th key that begins its walk through a table of `places` at the same place as the others, so that they meet. */
__attribute__((unused)) static uint64_t meeting_key(size_t n, size_t places)
{
	uint64_t key = 1;
	for (;; key++)
		if (hash_mix(key) % places == 100 && n-- == 0)
			return key;
}

/* Touches everything that there is. */
__attribute__((unused)) static bool use_all_entries(struct state *state)
{
	for (size_t i = 0; i < 2 * STATE_ENTRIES; i++) {
		char origin[32];
		struct state_flight flight = {0};
		snprintf(origin, sizeof(origin), "http://h%zu:80", i);
		struct state_entry *entry = state_find_entry(state, origin, "policy");
		state_count_plain_success(entry, 1);
		state_record_flight(state, &flight);
	}
	return true;
}

#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_test_directory, remove_test_directory)

#endif
