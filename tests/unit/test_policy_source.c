/* SPDX-License-Identifier: MIT */
/*
 * Which policy is in force while files come, go and change, over seconds and minutes of a clock that the test moves.
 * Each test is a process of its own, as what is tested lives as long as a process does. What journal, process and
 * stacks do in the preloaded object is played here.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "interpose/host/ini.h"
#include "interpose/host/large_stack.h"
#include "interpose/host/mounts.h"
#include "interpose/host/policy_source.h"
#include "interpose/host/process.h"
#include "interpose/host/section.h"
#include "interpose/host/tell.h"
#include "tests/unit/test_policy_support.h"

/* In memory: a disk would take the most of the time. */
#define HOME_FORM "/dev/shm/tenacurl-source-XXXXXX"
#define SECOND    1000
#define USER      54321 /* who a test of root's is run as */
#define PATH_ROOM 256

static struct process_environment environment;
static char home[] = HOME_FORM;
static char folder[PATH_ROOM], file[2 * PATH_ROOM], spare[2 * PATH_ROOM];
static int64_t now_ms;
static char told[1024];
static int told_count;
static bool is_deaf; /* nobody takes a complaint */

/* The host process. */

const struct process_environment *process_environment(void)
{
	return &environment;
}

const char *const *process_names(void)
{
	return NULL;
}

const struct policy_section *section_of(const struct policy *policy, const struct url *url)
{
	(void)url;
	return policy->sections;
}

int64_t process_deadline_ms(void)
{
	return INT64_MAX;
}

uint32_t process_generation(void)
{
	return 1;
}

bool process_is_raw_child(void)
{
	return false;
}

uintptr_t process_thread_id(void)
{
	return (uintptr_t)pthread_self();
}

bool tell_log(const struct policy_rules *rules, const char *text)
{
	(void)rules;
	if (is_deaf)
		return false;
	snprintf(told, sizeof told, "%s", text);
	told_count++;
	return true;
}

bool tell_complaint(const char *text)
{
	return tell_log(NULL, text);
}

bool large_stack_call(void (*function)(void))
{
	function();
	return true;
}

const struct ini_functions *ini_functions(void)
{
	return &test_ini;
}

/* Files. */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* As editors and package managers do it. */
static void replace_file(const char *text)
{
	write_file(spare, text);
	assert_int_equal(rename(spare, file), 0);
}

static void make_home(void)
{
	static const char *const below[] = {"", "/.config", "/.config/tenacurl"};

	assert_non_null(mkdtemp(home));
	for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
		snprintf(folder, sizeof folder, "%s%s", home, below[i]);
		assert_true(mkdir(folder, 0755) == 0 || i == 0);
		assert_int_equal(chmod(folder, 0755), 0);
		/* Root has no policy at home. */
		if (geteuid() == 0)
			assert_int_equal(chown(folder, USER, USER), 0);
	}
	snprintf(file, sizeof file, "%s/policy.ini", folder);
	snprintf(spare, sizeof spare, "%s/spare", folder);
	strcpy(environment.home, home);
}

static void remove_home(void)
{
	char command[PATH_ROOM];

	snprintf(command, sizeof command, "rm -rf %s", home);
	assert_int_equal(system(command), 0);
}

/* A directory that became the root by chroot(2) alone is in no table of mounts: then no policy is looked at again. */
static bool is_home_known_as_local(void)
{
	char *table = mounts_read();
	bool known = table != NULL && mounts_find(table, home) == MOUNTS_LOCAL;

	free(table);
	return known;
}

/* Runs `body` as a process of its own, with a home of its own. */
static void apart(void (*body)(void))
{
	int status;

	if (!is_home_known_as_local())
		skip();
	make_home();
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		if (geteuid() == 0 && seteuid(USER) != 0)
			_exit(2);
		now_ms = clock_ms();
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	remove_home();
	strcpy(home, HOME_FORM);
	assert_int_equal(status, 0);
}

/* Checks in a child: cmocka's would jump to the parent's. */
#define REQUIRE(condition)                                                                                             \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: %s (told: %s)\n", __FILE__, __LINE__, #condition, told);               \
			_exit(1);                                                                                      \
		}                                                                                                      \
	} while (0)

/* What is in force after that time: max_attempts of [policy], 0 for `off`, -1 if tenacurl stays out. */
static int after_ms(int64_t elapsed_ms)
{
	struct policy_hold hold;

	now_ms += elapsed_ms;
	bool is_held = policy_source_hold(now_ms, &hold);
	/* The first look has its time from the clock. */
	if (elapsed_ms == 0)
		now_ms = clock_ms();
	if (!is_held)
		return -1;
	const struct policy_rules *rules = &hold.policy->sections[0].rules;
	int seen = rules->mode == POLICY_MODE_OFF ? 0 : (int)rules->max_attempts;
	policy_slots_release(&hold);
	return seen;
}

#define BUILT_IN 4

/* A host that has a policy of its own would be another test. */
static void need_no_host_policy(void)
{
	if (access("/etc/tenacurl/policy.ini", F_OK) == 0)
		skip();
}

/* A-08, H-10: what is no instruction. */

static void stays_while_moved_away(void)
{
	write_file(file, "[policy]\nmode = off\n");
	REQUIRE(after_ms(0) == 0);
	REQUIRE(rename(file, spare) == 0);
	for (int i = 0; i < 3; i++)
		REQUIRE(after_ms(SECOND) == 0);
	REQUIRE(told_count == 1);
	REQUIRE(strstr(told, "policy.ini: isn't there any more; what it said stays in force for a minute"));
	REQUIRE(rename(spare, file) == 0);
	for (int i = 0; i < 120; i++)
		REQUIRE(after_ms(SECOND) == 0);
	/* An absence that begins anew lasts anew. */
	REQUIRE(rename(file, spare) == 0);
	for (int i = 0; i < 59; i++)
		REQUIRE(after_ms(SECOND) == 0);
}

static void test_a08_file_moved_away(void **state)
{
	(void)state;
	apart(stays_while_moved_away);
}

static void ends_once_it_lasted(void)
{
	write_file(file, "[policy]\nmax_attempts = 2\n");
	REQUIRE(after_ms(0) == 2);
	REQUIRE(unlink(file) == 0);
	REQUIRE(after_ms(SECOND) == 2);
	REQUIRE(after_ms(59 * SECOND) == 2);
	REQUIRE(after_ms(SECOND) == BUILT_IN);
	REQUIRE(told_count == 1);
	/* One that appears later counts. */
	write_file(file, "[policy]\nmax_attempts = 3\n");
	for (int i = 0; i < 12; i++)
		after_ms(SECOND);
	REQUIRE(after_ms(SECOND) == 3);
}

static void test_a08_absence_that_lasted(void **state)
{
	(void)state;
	need_no_host_policy();
	apart(ends_once_it_lasted);
}

static void stays_if_nobody_can_be_told(void)
{
	write_file(file, "[policy]\nmode = off\n");
	REQUIRE(after_ms(0) == 0);
	is_deaf = true;
	REQUIRE(unlink(file) == 0);
	for (int i = 0; i < 200; i++)
		REQUIRE(after_ms(SECOND) == 0);
}

static void test_a08_absence_that_was_not_told(void **state)
{
	(void)state;
	apart(stays_if_nobody_can_be_told);
}

static void stays_if_named(void)
{
	write_file(file, "[policy]\nmode = off\n");
	strcpy(environment.policy, file);
	environment.home[0] = '\0';
	REQUIRE(after_ms(0) == 0);
	REQUIRE(unlink(file) == 0);
	for (int i = 0; i < 200; i++)
		REQUIRE(after_ms(SECOND) == 0);
	REQUIRE(told_count == 1);
	replace_file("[policy]\nmax_attempts = 3\n");
	after_ms(SECOND);
	REQUIRE(after_ms(SECOND) == 3);
}

static void test_a08_named_file_moved_away(void **state)
{
	(void)state;
	apart(stays_if_named);
}

/* A relative name means one file, wherever the process goes. */
static void stays_after_chdir(void)
{
	REQUIRE(chdir(folder) == 0);
	write_file("policy.ini", "[policy]\nmode = off\n");
	strcpy(environment.policy, "policy.ini");
	REQUIRE(after_ms(0) == 0);
	REQUIRE(chdir("..") == 0);
	write_file("policy.ini", "[policy]\nmax_attempts = 3\n");
	for (int i = 0; i < 5; i++)
		REQUIRE(after_ms(SECOND) == 0);
	write_file(file, "[policy]\nmax_attempts = 2\n");
	after_ms(SECOND);
	REQUIRE(after_ms(SECOND) == 2);
}

static void test_a08_relative_name(void **state)
{
	(void)state;
	apart(stays_after_chdir);
}

static void move_to_other_root(void)
{
	write_file(file, "[policy]\nmode = off\n");
	REQUIRE(after_ms(0) == 0);
	REQUIRE(after_ms(SECOND) == 0);
	REQUIRE(seteuid(0) == 0 && chroot(folder) == 0 && chdir("/") == 0 && seteuid(USER) == 0);
	for (int i = 0; i < 200; i++)
		REQUIRE(after_ms(SECOND) == 0);
	REQUIRE(strstr(told, "stays in force") && !strstr(told, "for a minute"));
}

static void test_a08_chroot(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	apart(move_to_other_root);
}

/* The daemon drops root, and its new user may read nothing; the other way round nothing changes either. */
static void drop_root(void)
{
	REQUIRE(seteuid(0) == 0);
	write_file(file, "[policy]\nmode = off\n");
	REQUIRE(chmod(folder, 0700) == 0 && chown(folder, 0, 0) == 0);
	strcpy(environment.policy, file);
	REQUIRE(after_ms(0) == 0);
	REQUIRE(seteuid(54322) == 0);
	for (int i = 0; i < 200; i++)
		REQUIRE(after_ms(SECOND) == 0);
	REQUIRE(told_count == 1);
	REQUIRE(strstr(told, "cannot be opened: Permission denied; the policy that was loaded stays in force"));
	REQUIRE(seteuid(0) == 0);
	replace_file("[policy]\nmax_attempts = 3\n");
	after_ms(SECOND);
	REQUIRE(after_ms(SECOND) == 3);
}

static void test_a08_dropped_root(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	apart(drop_root);
}

/* What may become of a file; each leaves something that is no policy. */
static void make_empty(void)
{
	write_file(file, "");
}

static void make_blank(void)
{
	write_file(file, "\n");
}

static void make_half_written(void)
{
	write_file(file, "[policy]\nmode = o");
}

static void make_directory(void)
{
	REQUIRE(unlink(file) == 0 && mkdir(file, 0755) == 0);
}

static void make_fifo(void)
{
	REQUIRE(unlink(file) == 0 && mkfifo(file, 0644) == 0);
}

static void make_loop(void)
{
	REQUIRE(unlink(file) == 0 && symlink(file, file) == 0);
}

static void make_broken_link(void)
{
	REQUIRE(unlink(file) == 0 && symlink("/nonexistent/policy.ini", file) == 0);
}

static void make_unreadable(void)
{
	REQUIRE(chmod(folder, 0) == 0);
}

static void make_writable(void)
{
	write_file(file, "[policy]\nmax_attempts = 3\n");
	REQUIRE(chmod(file, 0666) == 0);
}

static void make_public_folder(void)
{
	replace_file("[policy]\nmax_attempts = 3\n");
	REQUIRE(chmod(folder, 0777) == 0);
}

static void make_large(void)
{
	REQUIRE(truncate(file, 1024 * 1024) == 0);
}

static const struct {
	void (*make)(void);
	const char *complaint;
} spoilers[] = {
    {make_empty, "says nothing"},
    {make_blank, "says nothing"},
    {make_half_written, "mode = o: not a known word"},
    {make_directory, "is not a regular file"},
    {make_fifo, "is not a regular file"},
    {make_loop, "cannot be opened: Too many levels of symbolic links"},
    {make_broken_link, "cannot be opened: No such file or directory"},
    {make_unreadable, "cannot be opened: Permission denied"},
    {make_writable, "may be written by others"},
    {make_public_folder, "its directory may be changed by others"},
    {make_large, "is too large"},
};
static size_t spoiler;

static void stays_with_what_was_loaded(void)
{
	write_file(file, "[policy]\nmode = off\n");
	REQUIRE(after_ms(0) == 0);
	spoilers[spoiler].make();
	for (int i = 0; i < 200; i++)
		REQUIRE(after_ms(SECOND) == 0);
	REQUIRE(told_count == 1);
	REQUIRE(strstr(told, spoilers[spoiler].complaint));
	REQUIRE(strstr(told, "; the policy that was loaded stays in force"));
	REQUIRE(chmod(folder, 0755) == 0);
	rmdir(file);
	replace_file("[policy]\nmax_attempts = 2\n");
	after_ms(SECOND);
	REQUIRE(after_ms(SECOND) == 2);
}

static void test_a08_spoiled_files(void **state)
{
	(void)state;
	for (spoiler = 0; spoiler < sizeof spoilers / sizeof spoilers[0]; spoiler++)
		apart(stays_with_what_was_loaded);
}

/* A file that is there at the start and can't be used keeps us out until it can. */
static void stays_out(void)
{
	write_file(file, "[policy]\nmode = off\n");
	spoilers[spoiler].make();
	for (int i = 0; i < 200; i++)
		REQUIRE(after_ms(SECOND) == -1);
	REQUIRE(told_count == 1);
	REQUIRE(strstr(told, spoilers[spoiler].complaint));
	REQUIRE(strstr(told, "; tenacurl stays out"));
	REQUIRE(chmod(folder, 0755) == 0);
	rmdir(file);
	replace_file("[policy]\nmax_attempts = 2\n");
	REQUIRE(after_ms(SECOND) == 2);
}

static void test_h10_files_that_cannot_be_used_at_first(void **state)
{
	(void)state;
	/* An empty file is a policy of defaults where there was none before. */
	for (spoiler = 2; spoiler < sizeof spoilers / sizeof spoilers[0]; spoiler++)
		apart(stays_out);
}

/* Seen half written: "[policy]" alone would be a policy of defaults. */
static void waits_for_the_rest(void)
{
	int64_t began_ms;
	int seen;

	write_file(file, "[policy]\nmax_attempts = 2\n");
	REQUIRE(after_ms(0) == 2);
	/* Only what is looked at at once is seen in the making: on a busy host it takes more than one try. */
	do {
		began_ms = clock_ms();
		write_file(file, "[policy]\n");
		seen = after_ms(SECOND);
	} while (seen != 2 && clock_ms() - began_ms >= 200);
	REQUIRE(seen == 2);
	write_file(file, "[policy]\nmax_attempts = 3\n");
	after_ms(SECOND);
	REQUIRE(after_ms(SECOND) == 3);
	REQUIRE(told_count == 0);
	/* To switch off can only be meant. */
	write_file(file, "[policy]\nmode = off\n");
	REQUIRE(after_ms(SECOND) == 0);
}

static void test_a08_file_that_is_being_written(void **state)
{
	(void)state;
	apart(waits_for_the_rest);
}

/* */

static rlim_t limit_descriptors(rlim_t count)
{
	struct rlimit limit;

	REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	rlim_t before = limit.rlim_cur;
	limit.rlim_cur = count;
	REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	return before;
}

static void loses_nothing_for_want_of_a_descriptor(void)
{
	write_file(file, "[policy]\nmax_attempts = 2\n");
	rlim_t before = limit_descriptors(3);
	REQUIRE(after_ms(0) == -1);
	REQUIRE(after_ms(SECOND) == -1);
	limit_descriptors(before);
	REQUIRE(after_ms(SECOND) == 2);

	replace_file("[policy]\nmode = off\n");
	limit_descriptors(3);
	REQUIRE(after_ms(SECOND) == 2);
	REQUIRE(after_ms(SECOND) == 2);
	limit_descriptors(before);
	REQUIRE(after_ms(SECOND) == 0);
}

static void test_a13_no_descriptor(void **state)
{
	(void)state;
	apart(loses_nothing_for_want_of_a_descriptor);
}

/* */

static long resident_kib(void)
{
	long pages = 0, ignored;
	FILE *statm = fopen("/proc/self/statm", "r");

	REQUIRE(statm && fscanf(statm, "%ld %ld", &ignored, &pages) == 2);
	fclose(statm);
	return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static void write_version(int version)
{
	char text[128];

	snprintf(text, sizeof text, "[policy]\nmax_attempts = %d\nfinal_body = version %d\n", 1 + version % 100,
	         version);
	replace_file(text);
}

static void leaks_nothing(void)
{
	long before_kib = 0;

	write_version(0);
	REQUIRE(after_ms(0) == 1);
	for (int i = 0; i < 10000; i++) {
		/* touched, written anew as it was, changed for bad, truly changed; an operation goes on meanwhile */
		struct policy_hold hold;
		REQUIRE(policy_source_hold(now_ms, &hold));
		if (i % 4 == 2)
			write_file(file, "[policy]\nmode = o\n");
		else if (i % 4 == 3)
			write_version(i);
		else if (i % 4 == 1)
			write_version(i > 4 ? i - 2 : 0);
		else
			REQUIRE(utimensat(AT_FDCWD, file, NULL, 0) == 0);
		after_ms(SECOND);
		int seen = after_ms(SECOND);
		REQUIRE(seen == (i < 3 ? 1 : 1 + (i % 4 == 3 ? i : i - 1 - i % 4) % 100));
		policy_slots_release(&hold);
		if (i == 1000)
			before_kib = resident_kib();
	}
	REQUIRE(resident_kib() - before_kib < 200);
}

static void test_a15_ten_thousand_reloads(void **state)
{
	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip();
#endif
	apart(leaks_nothing);
}

static void keeps_the_policy_of_same_bytes(void)
{
	struct policy_hold first, second;

	write_version(1);
	REQUIRE(after_ms(0) == 2);
	REQUIRE(policy_source_hold(now_ms, &first));
	write_version(1);
	after_ms(SECOND);
	after_ms(SECOND);
	REQUIRE(policy_source_hold(now_ms, &second));
	REQUIRE(second.policy == first.policy && second.version == first.version);
}

static void test_a15_same_bytes(void **state)
{
	(void)state;
	apart(keeps_the_policy_of_same_bytes);
}

/* Threads perform by the policy in force while it changes; each must see one policy, whole, until it lets go of it. */
static _Atomic bool is_over;

static void *perform(void *unused)
{
	(void)unused;
	while (!atomic_load(&is_over)) {
		struct policy_hold hold;
		policy_slots_hold(&hold);
		for (int i = 0; i < 100; i++) {
			char text[64];
			const struct policy_rules *rules = &hold.policy->sections[0].rules;
			int version = (int)strtol(rules->final_body + strlen("version "), NULL, 10);
			snprintf(text, sizeof text, "version %d", version);
			if (strcmp(text, rules->final_body) != 0 || rules->max_attempts != 1 + version % 100)
				abort();
		}
		policy_slots_release(&hold);
	}
	return NULL;
}

static void changes_under_threads(void)
{
	enum { THREADS = 8 };
	pthread_t threads[THREADS];

	write_version(0);
	REQUIRE(after_ms(0) == 1);
	for (int i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, perform, NULL) == 0);
	for (int i = 1; i < 500; i++) {
		write_version(i);
		after_ms(SECOND);
		REQUIRE(after_ms(SECOND) == 1 + i % 100);
	}
	atomic_store(&is_over, true);
	for (int i = 0; i < THREADS; i++)
		REQUIRE(pthread_join(threads[i], NULL) == 0);
}

static void test_a15_threads(void **state)
{
	(void)state;
	apart(changes_under_threads);
}

/* More operations that don't end than there are slots: nothing is freed under them. */
static void keeps_what_is_held(void)
{
	enum { HOLDS = 20 };
	struct policy_hold holds[HOLDS];

	write_version(0);
	REQUIRE(after_ms(0) == 1);
	for (int i = 0; i < HOLDS; i++) {
		write_version(i);
		after_ms(SECOND);
		after_ms(SECOND);
		REQUIRE(policy_source_hold(now_ms, &holds[i]));
	}
	for (int i = 0; i < HOLDS; i++) {
		REQUIRE(holds[i].policy->sections[0].rules.max_attempts == 1 + i);
		policy_slots_release(&holds[i]);
	}
}

static void test_a15_operations_that_never_end(void **state)
{
	(void)state;
	apart(keeps_what_is_held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a08_file_moved_away),
	    cmocka_unit_test(test_a08_absence_that_lasted),
	    cmocka_unit_test(test_a08_absence_that_was_not_told),
	    cmocka_unit_test(test_a08_named_file_moved_away),
	    cmocka_unit_test(test_a08_relative_name),
	    cmocka_unit_test(test_a08_chroot),
	    cmocka_unit_test(test_a08_dropped_root),
	    cmocka_unit_test(test_a08_spoiled_files),
	    cmocka_unit_test(test_a08_file_that_is_being_written),
	    cmocka_unit_test(test_h10_files_that_cannot_be_used_at_first),
	    cmocka_unit_test(test_a13_no_descriptor),
	    cmocka_unit_test(test_a15_ten_thousand_reloads),
	    cmocka_unit_test(test_a15_same_bytes),
	    cmocka_unit_test(test_a15_threads),
	    cmocka_unit_test(test_a15_operations_that_never_end),
	};
	umask(022);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
