/* SPDX-License-Identifier: MIT */

/* Where the file is: directories that are trusted, and places where there can be no file. */

#include "tests/unit/test_state_support.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <time.h>

#include "state/directory.h"

/* Directories. */

static void expect_untrusted(const struct state_request *request, enum state_trouble trouble)
{
	struct state state = {.shared = NULL};
	struct state_outcome outcome;
	state_open(request, &state, &outcome);
	assert_string_equal(state_trouble_text(outcome.trouble), state_trouble_text(trouble));
	assert_false(outcome.shared);
	assert_non_null(state_find_entry(&state, ORIGIN, "policy"));
	state_close(&state);
}

static void untrusted_directories_are_not_used(void **unused)
{
	(void)unused;
	struct state_request request = test_request();
	assert_int_equal(chmod(".", 0777), 0);
	expect_untrusted(&request, STATE_UNTRUSTED_DIRECTORY);
	assert_int_equal(chmod(".", 01777), 0);
	expect_untrusted(&request, STATE_UNTRUSTED_DIRECTORY);
	assert_int_equal(chmod(".", 0770), 0);
	expect_untrusted(&request, STATE_UNTRUSTED_DIRECTORY);
	assert_int_equal(chmod(".", 0755), 0);
	assert_int_equal(mkdir("real", 0700), 0);
	assert_int_equal(symlink("real", "link"), 0);
	request.directory = "link";
	expect_untrusted(&request, STATE_NO_DIRECTORY);
	request.directory = "no/such/directory";
	expect_untrusted(&request, STATE_NO_DIRECTORY);
	write_file("file", "", 0, 0600);
	request.directory = "file";
	expect_untrusted(&request, STATE_NO_DIRECTORY);
	assert_int_equal(count_files(), 3);
	if (geteuid() != 0)
		return;
	assert_int_equal(chown("real", 12345, 12345), 0);
	request.directory = "real";
	expect_untrusted(&request, STATE_UNTRUSTED_DIRECTORY);
}

static void missing_directory_is_made(void **unused)
{
	(void)unused;
	struct state state = {.shared = NULL};
	struct state_outcome outcome;
	struct stat directory;
	struct state_request request = {.boot_id = TEST_BOOT_ID, .directory = "made"};
	state_open(&request, &state, &outcome);
	assert_true(outcome.shared);
	assert_int_equal(stat("made", &directory), 0);
	assert_int_equal(directory.st_mode & 07777, 0700);
	state_close(&state);
}

/* Whether a state by this boot id is the one that was opened there, and by which name. */
static void expect_same_file(const char *boot_id, ino_t *inode, const char *name)
{
	struct state state = {.shared = NULL};
	struct state_outcome outcome;
	struct stat file;
	struct state_request request = {.boot_id = boot_id, .directory = test_directory};
	state_open(&request, &state, &outcome);
	assert_true(outcome.shared);
	assert_int_equal(stat(name, &file), 0);
	if (*inode != 0)
		assert_int_equal(file.st_ino, *inode);
	*inode = file.st_ino;
	struct state_snapshot *snapshot = state_snapshot_read(&request, geteuid(), &outcome);
	assert_non_null(snapshot);
	state_snapshot_free(snapshot);
	state_close(&state);
}

/* As in a unit with ProcSubset=pid, before and after those who know it. */
static void boot_id_is_hidden(void **unused)
{
	(void)unused;
	ino_t first = 0, second = 0;
	struct state_outcome outcome;
	struct state_request request = test_request();
	expect_same_file("", &first, UNKNOWN_FILE);
	expect_same_file("", &first, UNKNOWN_FILE);
	struct state_snapshot *snapshot = state_snapshot_read(&request, geteuid(), &outcome);
	assert_non_null(snapshot);
	state_snapshot_free(snapshot);
	expect_same_file(TEST_BOOT_ID, &first, TEST_FILE);
	expect_same_file("", &first, TEST_FILE);
	assert_int_equal(access(UNKNOWN_FILE, F_OK), -1);

	/* What can't be trusted gets no proper name. */
	assert_int_equal(rename(TEST_FILE, UNKNOWN_FILE), 0);
	assert_int_equal(chmod(UNKNOWN_FILE, 0644), 0);
	expect_same_file(TEST_BOOT_ID, &second, TEST_FILE);
	assert_int_not_equal(first, second);
}

/* The usual places: /run/tenacurl/<user> where an administrator made it for the user, else /dev/shm. */
static void usual_places(void **unused)
{
	(void)unused;
	char run[128], shm[128], own[160], made[192];
	struct state_request request = {.boot_id = TEST_BOOT_ID, .run_directory = run, .shm_prefix = shm};
	struct state state = {.shared = NULL};
	struct state_outcome outcome;
	snprintf(run, sizeof(run), "%s/run", test_directory);
	snprintf(shm, sizeof(shm), "%s/shm-", test_directory);
	snprintf(own, sizeof(own), "%s/%u", run, geteuid());

	state_open(&request, &state, &outcome);
	assert_true(outcome.shared);
	assert_int_equal(outcome.trouble, STATE_NO_TROUBLE);
	snprintf(made, sizeof(made), "%s%u", shm, geteuid());
	assert_string_equal(outcome.path, made);
	assert_int_equal(access(run, F_OK), -1);
	state_close(&state);

	assert_int_equal(mkdir(run, 0755), 0);
	assert_int_equal(mkdir(own, 0777), 0);
	assert_int_equal(chmod(own, 0777), 0);
	state_open(&request, &state, &outcome);
	assert_string_equal(outcome.path, made);
	state_close(&state);

	assert_int_equal(chmod(own, 0700), 0);
	state_open(&request, &state, &outcome);
	assert_true(outcome.shared);
	assert_string_equal(outcome.path, own);
	state_close(&state);
}

/* The usual places of a test, below its directory. */
struct places {
	char run[128], shm[128], common[160], own[192], own_shm[192];
	struct state_request request;
};

static void name_places(struct places *places)
{
	snprintf(places->run, sizeof(places->run), "%s/run", test_directory);
	snprintf(places->shm, sizeof(places->shm), "%s/shm-", test_directory);
	snprintf(places->common, sizeof(places->common), "%s/state", places->run);
	snprintf(places->own, sizeof(places->own), "%s/%u", places->common, geteuid());
	snprintf(places->own_shm, sizeof(places->own_shm), "%s%u", places->shm, geteuid());
	places->request =
	    (struct state_request){.boot_id = TEST_BOOT_ID, .run_directory = places->run, .shm_prefix = places->shm};
}

static void expect_place(const struct places *places, const char *expected, enum state_trouble trouble)
{
	struct state state = {.shared = NULL};
	struct state_outcome outcome;
	char file[320];
	state_open(&places->request, &state, &outcome);
	assert_true(outcome.shared);
	assert_string_equal(state_trouble_text(outcome.trouble), state_trouble_text(trouble));
	snprintf(file, sizeof(file), "%s/%s", expected, TEST_FILE);
	assert_int_equal(access(file, F_OK), 0);
	assert_int_equal(unlink(file), 0);
	state_close(&state);
}

static void make_common(const struct places *places, mode_t mode)
{
	assert_int_equal(mkdir(places->run, 0755), 0);
	assert_int_equal(mkdir(places->common, 0755), 0);
	assert_int_equal(chmod(places->common, mode), 0);
}

/* Where root made a place for everybody, a folder of one's own is made there. */
static void place_that_outlives_sessions(void **unused)
{
	(void)unused;
	struct places places;
	struct stat own;
	name_places(&places);
	make_common(&places, 01777);
	expect_place(&places, places.own, STATE_NO_TROUBLE);
	assert_int_equal(stat(places.own, &own), 0);
	assert_int_equal(own.st_mode & 07777, 0700);
	assert_int_equal(access(places.own_shm, F_OK), -1);
}

/* Without the sticky bit anybody could exchange it. */
static void common_place_must_be_sticky(void **unused)
{
	(void)unused;
	struct places places;
	name_places(&places);
	make_common(&places, 0777);
	expect_place(&places, places.own_shm, STATE_NO_TROUBLE);
	assert_int_equal(access(places.own, F_OK), -1);
}

static void common_place_must_be_no_link(void **unused)
{
	(void)unused;
	struct places places;
	name_places(&places);
	make_common(&places, 01777);
	assert_int_equal(rename(places.common, "elsewhere"), 0);
	assert_int_equal(symlink("../elsewhere", places.common), 0);
	expect_place(&places, places.own_shm, STATE_NO_TROUBLE);
}

static void common_place_must_be_roots(void **unused)
{
	(void)unused;
	struct places places;
	if (geteuid() != 0)
		skip();
	name_places(&places);
	make_common(&places, 01777);
	assert_int_equal(chown(places.common, 12345, 12345), 0);
	expect_place(&places, places.own_shm, STATE_NO_TROUBLE);
}

/* Somebody was there first: that is told, and another place serves. */
static void folder_of_somebody_else(void **unused)
{
	(void)unused;
	struct places places;
	struct state_outcome outcome;
	name_places(&places);
	make_common(&places, 01777);
	assert_int_equal(mkdir(places.own, 0700), 0);
	if (geteuid() == 0)
		assert_int_equal(chown(places.own, 12345, 12345), 0);
	else
		assert_int_equal(chmod(places.own, 0777), 0);
	assert_null(state_snapshot_read(&places.request, geteuid(), &outcome));
	assert_int_equal(outcome.trouble, STATE_FOREIGN_DIRECTORY);
	assert_string_equal(outcome.path, places.own);
	expect_place(&places, places.own_shm, STATE_FOREIGN_DIRECTORY);
	assert_int_equal(rename(places.own, "away"), 0);
	assert_int_equal(symlink("../../away", places.own), 0);
	expect_place(&places, places.own_shm, STATE_FOREIGN_DIRECTORY);
}

/* A state is read where it is. */
static void both_places_are_read(void **unused)
{
	(void)unused;
	struct places places;
	struct state state = {.shared = NULL};
	struct state_outcome outcome;
	uid_t owners[4];
	name_places(&places);
	for (int turn = 0; turn < 2; turn++) {
		if (turn == 1)
			make_common(&places, 01777);
		state_open(&places.request, &state, &outcome);
		state_count_plain_success(state_find_entry(&state, ORIGIN, "policy"), 1);
		state_close(&state);
		struct state_snapshot *snapshot = state_snapshot_read(&places.request, geteuid(), &outcome);
		assert_non_null(snapshot);
		assert_string_equal(outcome.path, turn == 0 ? places.own_shm : places.own);
		state_snapshot_free(snapshot);
		assert_int_equal(state_list_owners(&places.request, owners, 4), 1);
		assert_int_equal(owners[0], geteuid());
	}
}

/* A file that lost its name, as when a session's end tidies up: the next look finds the new one, for all pointers. */
static void file_without_a_name_is_opened_again(void **unused)
{
	(void)unused;
	struct state state;
	struct state_request request = test_request();
	open_shared(&state);
	struct state_entry *entry = state_find_entry(&state, ORIGIN, "policy");
	uint64_t key = state_entry_key(entry);
	assert_false(state_open_again(&request, &state));
	assert_int_equal(unlink(TEST_FILE), 0);
	leave_a_mark();
	assert_int_equal(marks_in(&state), 0);
	assert_true(state_open_again(&request, &state));
	assert_int_equal(marks_in(&state), 1);
	state_count_plain_success(state_find_entry(&state, ORIGIN, "policy"), 1);
	assert_int_equal(marks_in(&state), 2);
	assert_true(state_entry_holds(entry, key));
	assert_false(state_open_again(&request, &state));

	/* Nobody has made a new one yet. */
	assert_int_equal(unlink(TEST_FILE), 0);
	assert_true(state_open_again(&request, &state));
	assert_false(state_entry_holds(entry, key));
	assert_int_equal(marks_in(&state), 0);
	assert_int_equal(access(TEST_FILE, F_OK), 0);
	state_close(&state);
}

/* What can't be replaced is kept. */
static void directory_that_is_gone_is_made_again(void **unused)
{
	(void)unused;
	struct state state = {.shared = NULL};
	struct state_outcome outcome;
	struct state_request request = {.boot_id = TEST_BOOT_ID, .directory = "made"};
	state_open(&request, &state, &outcome);
	assert_true(outcome.shared);
	assert_int_equal(system("rm -r made"), 0);
	write_file("made", "", 0, 0600);
	assert_false(state_open_again(&request, &state));
	state_count_plain_success(state_find_entry(&state, ORIGIN, "policy"), 1);
	assert_int_equal(unlink("made"), 0);
	assert_true(state_open_again(&request, &state));
	assert_int_equal(access("made/" TEST_FILE, F_OK), 0);
	state_close(&state);
}

static void process_scope_makes_nothing(void **unused)
{
	(void)unused;
	struct state_request request = test_request();
	struct state state = {.shared = NULL};
	struct state_outcome outcome;
	request.scope = STATE_SCOPE_PROCESS;
	state_open(&request, &state, &outcome);
	assert_false(outcome.shared);
	assert_int_equal(outcome.trouble, STATE_NO_TROUBLE);
	state_find_entry(&state, ORIGIN, "policy");
	state_close(&state);
	assert_int_equal(count_files(), 0);
}

static void other_boots_files_go_when_they_are_old(void **unused)
{
	(void)unused;
	static const char *const names[] = {
	    "state-3-00000000-0000-0000-0000-000000000001", /* old: goes */
	    "state-7-00000000-0000-0000-0000-000000000001", /* old, of another version: goes */
	    "new-123-456-789",                              /* old: goes */
	    "state-3-00000000-0000-0000-0000-000000000002", /* of yesterday at most: stays */
	    ("state-7-" TEST_BOOT_ID),                      /* of this boot: stays */
	    "notes-00000000-0000-0000-0000-000000000001",   /* not ours: stays */
	    "state-3-short",                                /* not ours: stays */
	    "state-",                                       /* not ours: stays */
	};
	static const bool stays[] = {false, false, false, true, true, true, true, true};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct timespec times[2] = {{.tv_sec = time(NULL) - (i == 3 ? 3600 : 200000)}};
		times[1] = times[0];
		write_file(names[i], "", 0, 0600);
		assert_int_equal(utimensat(AT_FDCWD, names[i], times, 0), 0);
	}
	leave_a_mark();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(access(names[i], F_OK) == 0, stays[i]);
}

/* Where it can't be made. */

static int open_under_file_limit(void *unused)
{
	struct rlimit limit = {.rlim_cur = FILE_BYTES - 1, .rlim_max = FILE_BYTES - 1};
	struct state state;
	(void)unused;
	setrlimit(RLIMIT_FSIZE, &limit);
	struct state_outcome outcome = open_test_state(&state);
	if (outcome.shared || outcome.trouble != STATE_CANT_MAKE || outcome.os_errno != EFBIG)
		return 1;
	/* A file that is there already can be shared all the same. */
	return 0;
}

static int open_existing_under_file_limit(void *unused)
{
	struct rlimit limit = {0};
	struct state state;
	(void)unused;
	setrlimit(RLIMIT_FSIZE, &limit);
	if (!open_test_state(&state).shared)
		return 1;
	for (size_t i = 0; i < STATE_ENTRIES; i++) {
		char origin[32];
		snprintf(origin, sizeof(origin), "http://h%zu:80", i);
		state_count_plain_success(state_find_entry(&state, origin, "policy"), 1);
	}
	return 0;
}

static void file_limit_raises_no_signal(void **unused)
{
	(void)unused;
	assert_int_equal(run_in_child(open_under_file_limit, NULL), 0);
	assert_int_equal(count_files(), 0);
	leave_a_mark();
	assert_int_equal(run_in_child(open_existing_under_file_limit, NULL), 0);
}

static int open_without_memory(void *unused)
{
	struct rlimit limit = {0};
	struct state state;
	(void)unused;
	setrlimit(RLIMIT_AS, &limit);
	struct state_outcome outcome = open_test_state(&state);
	if (outcome.shared || outcome.trouble != STATE_CANT_MAP || outcome.os_errno != ENOMEM)
		return 1;
	struct state_entry *entry = state_find_entry(&state, ORIGIN, "policy");
	state_count_plain_success(entry, 1);
	return state_entry_is_spare(entry) ? 0 : 2;
}

static void no_memory_is_no_trouble_for_the_host(void **unused)
{
	(void)unused;
	leave_a_mark();
	assert_int_equal(run_in_child(open_without_memory, NULL), 0);
}

#define NEEDS_PRIVILEGE 77

/* Mounts a tmpfs with these options over the test directory, for this process alone. */
static bool mount_tmpfs(const char *options)
{
	return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tmpfs", test_directory, "tmpfs", 0, options) == 0 && chdir(test_directory) == 0;
}

static bool fill_file_system(void)
{
	static const char bytes[4096];
	int fd = open("ballast", O_WRONLY | O_CREAT, 0600);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	close(fd);
	return errno == ENOSPC;
}

static int open_on_full_tmpfs(void *unused)
{
	struct state state;
	(void)unused;
	if (!mount_tmpfs("size=8m,mode=700"))
		return NEEDS_PRIVILEGE;
	if (!fill_file_system())
		return 1;
	struct state_outcome outcome = open_test_state(&state);
	if (outcome.shared || outcome.trouble != STATE_CANT_MAKE || outcome.os_errno != ENOSPC || count_files() != 1)
		return 2;
	return use_all_entries(&state) ? 0 : 3;
}

static int fill_tmpfs_behind_it(void *unused)
{
	struct state state;
	(void)unused;
	if (!mount_tmpfs("size=8m,mode=700"))
		return NEEDS_PRIVILEGE;
	if (!open_test_state(&state).shared || !fill_file_system())
		return 1;
	return use_all_entries(&state) ? 0 : 2;
}

static int open_read_only(void *unused)
{
	struct state state;
	struct state_outcome outcome;
	(void)unused;
	if (!mount_tmpfs("size=8m,mode=700"))
		return NEEDS_PRIVILEGE;
	if (mount(NULL, test_directory, NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0)
		return NEEDS_PRIVILEGE;
	outcome = open_test_state(&state);
	return !outcome.shared && outcome.trouble == STATE_CANT_MAKE && outcome.os_errno == EROFS ? 0 : 1;
}

static int open_in_chroot(void *unused)
{
	struct state state = {.shared = NULL};
	struct state_request request = {0};
	struct state_outcome outcome;
	(void)unused;
	if (chroot(test_directory) != 0)
		return NEEDS_PRIVILEGE;
	state_open(&request, &state, &outcome);
	if (outcome.shared || outcome.trouble != STATE_NO_DIRECTORY)
		return 1;
	request.boot_id = TEST_BOOT_ID;
	state_open(&request, &state, &outcome);
	if (outcome.shared || outcome.trouble != STATE_NO_DIRECTORY)
		return 2;
	return use_all_entries(&state) ? 0 : 3;
}

static void expect_in_own_mounts(int (*body)(void *))
{
	int status = run_in_child(body, NULL);
	if (status == NEEDS_PRIVILEGE)
		skip();
	assert_int_equal(status, 0);
}

static void full_file_system(void **unused)
{
	(void)unused;
	expect_in_own_mounts(open_on_full_tmpfs);
}

static void file_system_that_fills_up(void **unused)
{
	(void)unused;
	expect_in_own_mounts(fill_tmpfs_behind_it);
}

static void read_only_file_system(void **unused)
{
	(void)unused;
	expect_in_own_mounts(open_read_only);
}

static void chroot_without_anything(void **unused)
{
	(void)unused;
	expect_in_own_mounts(open_in_chroot);
}

static void unsuited_file_systems_are_not_used(void **unused)
{
	(void)unused;
	char path[64];
	struct state_request request = {.boot_id = TEST_BOOT_ID, .directory = path};
	/* Ours, writable by nobody else, and no place for files. */
	snprintf(path, sizeof(path), "/proc/self/task/%d", getpid());
	expect_untrusted(&request, STATE_UNSUITED_FILE_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_DIRECTORY(untrusted_directories_are_not_used),
	    WITH_DIRECTORY(missing_directory_is_made),
	    WITH_DIRECTORY(place_that_outlives_sessions),
	    WITH_DIRECTORY(common_place_must_be_sticky),
	    WITH_DIRECTORY(common_place_must_be_no_link),
	    WITH_DIRECTORY(common_place_must_be_roots),
	    WITH_DIRECTORY(folder_of_somebody_else),
	    WITH_DIRECTORY(both_places_are_read),
	    WITH_DIRECTORY(file_without_a_name_is_opened_again),
	    WITH_DIRECTORY(directory_that_is_gone_is_made_again),
	    WITH_DIRECTORY(boot_id_is_hidden),
	    WITH_DIRECTORY(usual_places),
	    WITH_DIRECTORY(process_scope_makes_nothing),
	    WITH_DIRECTORY(other_boots_files_go_when_they_are_old),
	    WITH_DIRECTORY(file_limit_raises_no_signal),
	    WITH_DIRECTORY(no_memory_is_no_trouble_for_the_host),
	    WITH_DIRECTORY(full_file_system),
	    WITH_DIRECTORY(file_system_that_fills_up),
	    WITH_DIRECTORY(read_only_file_system),
	    WITH_DIRECTORY(chroot_without_anything),
	    WITH_DIRECTORY(unsuited_file_systems_are_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
