/* SPDX-License-Identifier: MIT */
/*
 * Whose policy is taken, and what is absence: files and directories as they must not be, each made for its test. Owners
 * can be given by root only; the rest runs as anybody.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "config/find.h"
#include "tests/unit/test_policy_support.h"

#define STRANGER  54321 /* neither root nor who runs this */
#define USER      54322
#define PATH_ROOM 128

/* A directory with a policy in it. */
struct place {
	char directory[64];
	char file[PATH_ROOM];
	char other[PATH_ROOM]; /* another name in it */
};

static void make_place(struct place *place)
{
	strcpy(place->directory, "/tmp/tenacurl-trust-XXXXXX");
	assert_non_null(mkdtemp(place->directory));
	snprintf(place->file, sizeof place->file, "%s/policy.ini", place->directory);
	snprintf(place->other, sizeof place->other, "%s/other", place->directory);
	FILE *file = fopen(place->file, "w");
	assert_non_null(file);
	fputs("[policy]\nmax_attempts = 2\n", file);
	fclose(file);
	assert_int_equal(chmod(place->file, 0644), 0);
}

static void remove_place(struct place *place)
{
	unlink(place->other);
	rmdir(place->other);
	unlink(place->file);
	rmdir(place->directory);
}

static enum policy_load_result load(const char *path, struct policy_error *error)
{
	const struct policy *policy = NULL;
	enum policy_load_result result = policy_load(path, &test_ini, NULL, NULL, &policy, error);

	policy_free(policy);
	return result;
}

static void expect_good(const char *path)
{
	struct policy_error error = {.text = ""};

	if (load(path, &error) != POLICY_LOADED)
		fail_msg("%s", error.text);
}

static void expect_refused(const char *path, const char *why)
{
	struct policy_error error = {.text = ""};

	assert_int_equal(load(path, &error), POLICY_UNREADABLE);
	if (strstr(error.text, why) == NULL)
		fail_msg("not '%s' but '%s'", why, error.text);
	assert_false(error.is_passing);
}

static void need_root(void)
{
	if (geteuid() != 0)
		skip();
}

static void test_a10_modes_of_the_file(void **state)
{
	static const mode_t good[] = {0400, 0600, 0644, 0755}, bad[] = {0622, 0602, 0666, 0777};
	struct place place;

	(void)state;
	make_place(&place);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(chmod(place.file, good[i]), 0);
		expect_good(place.file);
		assert_int_equal(chmod(place.file, bad[i]), 0);
		expect_refused(place.file, "may be written by others");
	}
	remove_place(&place);
}

static void test_a10_group(void **state)
{
	struct place place;

	(void)state;
	need_root();
	make_place(&place);
	assert_int_equal(chmod(place.file, 0664), 0);
	expect_good(place.file);
	assert_int_equal(chown(place.file, 0, STRANGER), 0);
	assert_int_equal(chmod(place.file, 0664), 0);
	expect_refused(place.file, "group 54321, mode 0664");
	remove_place(&place);
}

/* bob's program, alice's file; root's file is anybody's. */
static void test_a10_owner(void **state)
{
	struct place place;

	(void)state;
	need_root();
	make_place(&place);
	assert_int_equal(chmod(place.directory, 0755), 0);
	assert_int_equal(seteuid(USER), 0);
	expect_good(place.file);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(chown(place.file, USER, USER), 0);
	expect_refused(place.file, "belongs to user 54322");
	assert_int_equal(seteuid(USER), 0);
	expect_good(place.file);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(seteuid(STRANGER), 0);
	expect_refused(place.file, "belongs to user 54322");
	assert_int_equal(seteuid(0), 0);
	remove_place(&place);
}

/* A second name for somebody else's file doesn't make it one's own. */
static void test_a10_hard_link(void **state)
{
	struct place theirs, ours;

	(void)state;
	need_root();
	make_place(&theirs);
	make_place(&ours);
	assert_int_equal(chown(theirs.file, STRANGER, STRANGER), 0);
	assert_int_equal(link(theirs.file, ours.other), 0);
	expect_refused(ours.other, "belongs to user 54321");
	remove_place(&ours);
	remove_place(&theirs);
}

static void test_a10_modes_of_the_directory(void **state)
{
	struct place place;

	(void)state;
	make_place(&place);
	assert_int_equal(chmod(place.directory, 0777), 0);
	expect_refused(place.file, "its directory may be changed by others");
	assert_int_equal(chmod(place.directory, 01777), 0);
	expect_good(place.file);
	assert_int_equal(chmod(place.directory, 0755), 0);
	expect_good(place.file);
	if (geteuid() == 0) {
		assert_int_equal(chmod(place.directory, 0775), 0);
		expect_good(place.file);
		assert_int_equal(chown(place.directory, 0, STRANGER), 0);
		expect_refused(place.file, "its directory may be changed by others (user 0, group 54321, mode 0775)");
		assert_int_equal(chown(place.directory, STRANGER, 0), 0);
		assert_int_equal(chmod(place.directory, 0755), 0);
		expect_refused(place.file, "its directory may be changed by others (user 54321");
		/* Who owns a sticky directory exchanges what is in it none the less. */
		assert_int_equal(chmod(place.directory, 01777), 0);
		expect_refused(place.file, "its directory may be changed by others (user 54321");
	}
	remove_place(&place);
}

static void test_a10_links(void **state)
{
	struct place place, elsewhere;

	(void)state;
	make_place(&place);
	make_place(&elsewhere);
	assert_int_equal(symlink(elsewhere.file, place.other), 0);
	expect_good(place.other);
	assert_int_equal(chmod(elsewhere.directory, 0777), 0);
	expect_refused(place.other, "a directory on its way may be changed by others");
	assert_int_equal(chmod(elsewhere.directory, 0755), 0);
	assert_int_equal(chmod(place.directory, 0777), 0);
	expect_refused(place.other, "its directory may be changed by others");
	/* In a sticky directory anybody may have made the link. */
	assert_int_equal(chmod(place.directory, 01777), 0);
	expect_good(place.other);
	if (geteuid() == 0) {
		assert_int_equal(lchown(place.other, STRANGER, STRANGER), 0);
		expect_refused(place.other, "a symbolic link on its way belongs to somebody else");
	}
	remove_place(&elsewhere);
	remove_place(&place);
}

/* What a Kubernetes ConfigMap looks like from inside; that its mount is read-only makes the difference. */
static void test_a10_config_map_on_a_writable_mount(void **state)
{
	struct place place;
	char data[PATH_ROOM], named[PATH_ROOM], file[2 * PATH_ROOM];

	(void)state;
	make_place(&place);
	snprintf(data, sizeof data, "%s/..2026_12_01", place.directory);
	snprintf(named, sizeof named, "%s/..data", place.directory);
	snprintf(file, sizeof file, "%s/policy.ini", data);
	assert_int_equal(mkdir(data, 0755), 0);
	assert_int_equal(rename(place.file, file), 0);
	assert_int_equal(symlink("..2026_12_01", named), 0);
	assert_int_equal(symlink("..data/policy.ini", place.file), 0);
	expect_good(place.file);
	assert_int_equal(chmod(place.directory, 0777), 0);
	expect_refused(place.file, "its directory may be changed by others");
	unlink(file);
	unlink(named);
	rmdir(data);
	remove_place(&place);
}

static void test_h10_only_nothing_is_absence(void **state)
{
	struct place place;
	struct policy_error error;
	char below[2 * PATH_ROOM];

	(void)state;
	make_place(&place);
	assert_int_equal(load(place.other, &error), POLICY_ABSENT);
	assert_true(policy_is_absent(place.other));
	snprintf(below, sizeof below, "%s/policy.ini", place.file);
	assert_int_equal(load(below, &error), POLICY_ABSENT);
	assert_true(policy_is_absent(below));

	assert_int_equal(symlink("nowhere", place.other), 0);
	expect_refused(place.other, "cannot be opened: No such file or directory where a symbolic link leads to");
	assert_false(policy_is_absent(place.other));
	snprintf(below, sizeof below, "%s/a/b/policy.ini", place.other);
	assert_false(policy_is_absent(below));
	assert_string_equal(below + strlen(place.other), "/a/b/policy.ini");

	unlink(place.other);
	assert_int_equal(symlink("other", place.other), 0);
	expect_refused(place.other, "cannot be opened: Too many levels of symbolic links");
	assert_false(policy_is_absent(place.other));

	unlink(place.other);
	assert_int_equal(mkdir(place.other, 0755), 0);
	expect_refused(place.other, "is not a regular file");
	expect_refused("/dev/null", "is not a regular file");
	expect_refused("/proc/self/fd/", "is not a regular file");
	remove_place(&place);
}

static void test_h10_no_permission(void **state)
{
	struct place place;

	(void)state;
	make_place(&place);
	if (geteuid() == 0)
		assert_int_equal(seteuid(USER), 0);
	else
		assert_int_equal(chmod(place.directory, 0600), 0);
	expect_refused(place.file, "cannot be opened: Permission denied");
	assert_false(policy_is_absent(place.file));
	assert_false(policy_is_absent(place.other));
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(place.directory, 0700), 0);
	remove_place(&place);
}

static void test_a13_no_descriptor(void **state)
{
	struct place place;
	struct rlimit limit, none;
	struct policy_error error = {.text = ""};

	(void)state;
	make_place(&place);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_cur = 3, .rlim_max = limit.rlim_max};
	for (rlim_t free_descriptors = 0; free_descriptors < 2; free_descriptors++) {
		none.rlim_cur = 3 + free_descriptors;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
		enum policy_load_result result = load(place.file, &error);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		assert_int_equal(result, POLICY_UNREADABLE);
		assert_true(error.is_passing);
		assert_non_null(strstr(error.text, "Too many open files"));
	}
	expect_good(place.file);
	remove_place(&place);
}

static void test_a15_known_bytes_are_not_loaded_again(void **state)
{
	struct place place;
	const struct policy *policy = NULL, *again = NULL;
	struct policy_error error;

	(void)state;
	make_place(&place);
	assert_int_equal(policy_load(place.file, &test_ini, NULL, NULL, &policy, &error), POLICY_LOADED);
	assert_int_equal(policy_load_changed(place.file, policy->hash, &test_ini, NULL, &again, &error),
	                 POLICY_UNCHANGED);
	assert_null(again);
	assert_int_equal(policy_load_changed(place.file, "0", &test_ini, NULL, &again, &error), POLICY_LOADED);
	policy_free(again);
	policy_free(policy);
	remove_place(&place);
}

static void test_descriptors_have_no_directory(void **state)
{
	struct place place;
	char path[32];

	(void)state;
	make_place(&place);
	int fd = open(place.file, O_RDONLY | O_CLOEXEC);
	unlink(place.file);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	expect_good(path);
	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	expect_good(path);
	close(fd);
	remove_place(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a10_modes_of_the_file),
	    cmocka_unit_test(test_a10_group),
	    cmocka_unit_test(test_a10_owner),
	    cmocka_unit_test(test_a10_hard_link),
	    cmocka_unit_test(test_a10_modes_of_the_directory),
	    cmocka_unit_test(test_a10_links),
	    cmocka_unit_test(test_a10_config_map_on_a_writable_mount),
	    cmocka_unit_test(test_h10_only_nothing_is_absence),
	    cmocka_unit_test(test_h10_no_permission),
	    cmocka_unit_test(test_a13_no_descriptor),
	    cmocka_unit_test(test_a15_known_bytes_are_not_loaded_again),
	    cmocka_unit_test(test_descriptors_have_no_directory),
	};
	umask(022);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
