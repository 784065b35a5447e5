/* SPDX-License-Identifier: MIT */
/* Whether a deadline's launcher is gone, or only can't be seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/launcher.h"

#define OVER_MS         100000
#define LONG_AFTER_MS   160000
#define OTHER_NAMESPACE 1 /* inodes of namespaces are large */

/* This process, as a launcher. */
static struct deadline_text deadline_of_ours(void)
{
	struct deadline_text deadline;

	assert_true(launcher_be(&deadline));
	deadline.deadline_ms = OVER_MS;
	return deadline;
}

/* A number that was a process's a moment ago. */
static int64_t gone_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

static void who_lives_holds(void **state)
{
	struct deadline_text deadline = deadline_of_ours();

	(void)state;
	assert_true(launcher_is_of_this_boot(&deadline));
	assert_true(launcher_holds(&deadline, LONG_AFTER_MS));
	/* As it was written before a namespace was told. */
	deadline.pid_namespace = 0;
	assert_true(launcher_holds(&deadline, LONG_AFTER_MS));
}

static void who_is_gone_holds_nobody(void **state)
{
	struct deadline_text gone = deadline_of_ours(), another = gone;

	(void)state;
	gone.launcher_pid = gone_pid();
	assert_false(launcher_holds(&gone, 0));
	another.launcher_start++;
	assert_false(launcher_holds(&another, 0));
}

static void a_zombie_is_gone(void **state)
{
	struct deadline_text deadline;
	int ready[2];
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		struct deadline_text own;
		_exit(!launcher_be(&own) || write(ready[1], &own, sizeof(own)) != sizeof(own));
	}
	assert_int_equal(read(ready[0], &deadline, sizeof(deadline)), sizeof(deadline));
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT), 0);
	assert_false(launcher_holds(&deadline, 0));
	waitpid(pid, NULL, 0);
	close(ready[0]);
}

/* Nobody can tell there whether it lives: the deadline holds, but not for ever. */
static void another_namespaces_holds_until_long_after(void **state)
{
	struct deadline_text unseen = deadline_of_ours(), taken = unseen;

	(void)state;
	unseen.pid_namespace = taken.pid_namespace = OTHER_NAMESPACE;
	unseen.launcher_pid = gone_pid();
	taken.launcher_start++;
	for (int64_t now_ms = 0; now_ms < LONG_AFTER_MS; now_ms += OVER_MS - 1) {
		assert_true(launcher_holds(&unseen, now_ms));
		assert_true(launcher_holds(&taken, now_ms));
	}
	assert_false(launcher_holds(&unseen, LONG_AFTER_MS));
	assert_false(launcher_holds(&taken, LONG_AFTER_MS));
	unseen.deadline_ms = INT64_MAX;
	assert_true(launcher_holds(&unseen, LONG_AFTER_MS));
}

static void boots_are_told_apart(void **state)
{
	struct deadline_text deadline = deadline_of_ours();

	(void)state;
	strcpy(deadline.boot_id, "01234567-89ab-cdef-0123-456789abcdef");
	assert_false(launcher_is_of_this_boot(&deadline));
	/* Whoever wrote it could not tell. */
	strcpy(deadline.boot_id, BOOT_ID_UNKNOWN);
	assert_true(launcher_is_of_this_boot(&deadline));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(who_lives_holds),      cmocka_unit_test(who_is_gone_holds_nobody),
	    cmocka_unit_test(a_zombie_is_gone),     cmocka_unit_test(another_namespaces_holds_until_long_after),
	    cmocka_unit_test(boots_are_told_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
