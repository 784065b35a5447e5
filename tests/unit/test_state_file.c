/* SPDX-License-Identifier: MIT */

/*
 * The file: what is trusted, what is replaced, and that nothing of the opening can be noticed in the host program. An
 * entry that is counted in by one opening and seen by the next shows that both share a file.
 */

#include "tests/unit/test_state_support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

static ino_t inode_of(const char *path)
{
	struct stat file;
	assert_int_equal(lstat(path, &file), 0);
	return file.st_ino;
}

static size_t count_descriptors(void)
{
	size_t count = 0;
	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void processes_share_a_private_file(void **unused)
{
	(void)unused;
	struct state state;
	struct stat file;
	leave_a_mark();
	assert_int_equal(lstat(TEST_FILE, &file), 0);
	assert_true(S_ISREG(file.st_mode));
	assert_int_equal(file.st_mode & 07777, 0600);
	assert_int_equal(file.st_size, FILE_BYTES);
	/* Every block is there already. */
	assert_true((size_t)file.st_blocks * 512 >= FILE_BYTES);
	assert_int_equal(count_files(), 1);
	open_shared(&state);
	assert_int_equal(marks_in(&state), 1);
	state_close(&state);
}

static void host_notices_nothing(void **unused)
{
	(void)unused;
	sigset_t before, after;
	struct state state;
	for (int round = 0; round < 3; round++) {
		size_t descriptors = count_descriptors();
		if (round == 2)
			write_file(TEST_FILE, "rubbish", 7, 0600);
		pthread_sigmask(SIG_SETMASK, NULL, &before);
		errno = ELOOP;
		struct state_outcome outcome = open_test_state(&state);
		assert_int_equal(errno, ELOOP);
		pthread_sigmask(SIG_SETMASK, NULL, &after);
		for (int number = 1; number < NSIG; number++)
			assert_int_equal(sigismember(&before, number), sigismember(&after, number));
		assert_int_equal(count_descriptors(), descriptors);
		assert_true(outcome.shared);
		state_close(&state);
	}
}

static void umask_does_not_matter(void **unused)
{
	(void)unused;
	static const mode_t masks[] = {0, 022, 0277, 0777};
	char shm[128];
	struct state_request request = {.boot_id = TEST_BOOT_ID, .run_directory = "/nonexistent", .shm_prefix = shm};
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		struct state first = {.shared = NULL}, second = {.shared = NULL};
		struct state_outcome outcome;
		snprintf(shm, sizeof(shm), "%s/%zu-", test_directory, i);
		mode_t before = umask(masks[i]);
		state_open(&request, &first, &outcome);
		umask(before);
		assert_true(outcome.shared);
		state_count_plain_success(state_find_entry(&first, ORIGIN, "policy"), 1);
		state_open(&request, &second, &outcome);
		assert_true(outcome.shared);
		assert_int_equal(marks_in(&second), 1);
		state_close(&first);
		state_close(&second);
	}
}

/* Each kind of file that was not made as ours are: replaced, reported, and nothing happens to what it points to. */

static void plant_short(void)
{
	leave_a_mark();
	assert_int_equal(truncate(TEST_FILE, FILE_BYTES - 1), 0);
}

static void plant_empty(void)
{
	write_file(TEST_FILE, "", 0, 0600);
}

static void plant_long(void)
{
	leave_a_mark();
	assert_int_equal(truncate(TEST_FILE, FILE_BYTES + 1), 0);
}

static void plant_readable(void)
{
	leave_a_mark();
	assert_int_equal(chmod(TEST_FILE, 0644), 0);
}

static void plant_unreadable(void)
{
	leave_a_mark();
	assert_int_equal(chmod(TEST_FILE, 0), 0);
}

static void plant_setuid(void)
{
	leave_a_mark();
	assert_int_equal(chmod(TEST_FILE, 04600), 0);
}

static void plant_link(void)
{
	leave_a_mark();
	assert_int_equal(rename(TEST_FILE, "elsewhere"), 0);
	assert_int_equal(symlink("elsewhere", TEST_FILE), 0);
}

static void plant_dangling_link(void)
{
	assert_int_equal(symlink("nothing", TEST_FILE), 0);
}

static void plant_fifo(void)
{
	assert_int_equal(mkfifo(TEST_FILE, 0600), 0);
}

static void plant_garbage(void)
{
	static unsigned char bytes[FILE_BYTES];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)rand();
	write_file(TEST_FILE, bytes, sizeof(bytes), 0600);
}

static void plant_zeros(void)
{
	static const unsigned char bytes[FILE_BYTES];
	write_file(TEST_FILE, bytes, sizeof(bytes), 0600);
}

/* Changes one word of the header of a good file. */
static void change_header(size_t word)
{
	uint64_t value;
	leave_a_mark();
	int fd = open(TEST_FILE, O_RDWR);
	assert_int_equal(pread(fd, &value, 8, (off_t)(word * 8)), 8);
	value++;
	assert_int_equal(pwrite(fd, &value, 8, (off_t)(word * 8)), 8);
	close(fd);
}

static void plant_other_magic(void)
{
	change_header(0);
}

static void plant_other_version(void)
{
	change_header(1);
}

static void plant_other_entry_size(void)
{
	change_header(3);
}

static void plant_foreign(void)
{
	leave_a_mark();
	assert_int_equal(chown(TEST_FILE, 12345, 12345), 0);
}

static const struct planted {
	const char *name;
	void (*plant)(void);
	enum state_trouble trouble;
	bool needs_root;
} planted[] = {
    {"truncated", plant_short, STATE_WRONG_SIZE, false},
    {"empty", plant_empty, STATE_WRONG_SIZE, false},
    {"too long", plant_long, STATE_WRONG_SIZE, false},
    {"readable by others", plant_readable, STATE_WRONG_MODE, false},
    {"not readable", plant_unreadable, STATE_WRONG_MODE, false},
    {"setuid", plant_setuid, STATE_WRONG_MODE, false},
    {"symbolic link", plant_link, STATE_NOT_REGULAR, false},
    {"dangling link", plant_dangling_link, STATE_NOT_REGULAR, false},
    {"fifo", plant_fifo, STATE_NOT_REGULAR, false},
    {"garbage", plant_garbage, STATE_WRONG_HEADER, false},
    {"zeros", plant_zeros, STATE_WRONG_HEADER, false},
    {"other magic", plant_other_magic, STATE_WRONG_HEADER, false},
    {"other version", plant_other_version, STATE_WRONG_HEADER, false},
    {"other entry size", plant_other_entry_size, STATE_WRONG_HEADER, false},
    {"foreign owner", plant_foreign, STATE_WRONG_OWNER, true},
};

static void untrusted_files_are_replaced(void **unused)
{
	for (size_t i = 0; i < sizeof(planted) / sizeof(planted[0]); i++) {
		struct state state;
		if (planted[i].needs_root && geteuid() != 0)
			continue;
		planted[i].plant();
		ino_t before = inode_of(TEST_FILE);
		struct state_outcome outcome = open_test_state(&state);
		if (outcome.trouble != planted[i].trouble || !outcome.shared)
			fail_msg("%s: %s", planted[i].name, state_trouble_text(outcome.trouble));
		assert_string_equal(outcome.path, test_directory);
		assert_int_not_equal(inode_of(TEST_FILE), before);
		assert_int_equal(marks_in(&state), 0);
		state_close(&state);
		/* The fresh one is like any other. */
		open_shared(&state);
		state_close(&state);
		assert_int_equal(remove_test_directory(unused), 0);
		assert_int_equal(make_test_directory(unused), 0);
	}
}

static void what_a_link_points_to_stays_as_it_is(void **unused)
{
	(void)unused;
	struct state state;
	struct stat file;
	plant_link();
	ino_t target = inode_of("elsewhere");
	open_test_state(&state);
	state_count_plain_success(state_find_entry(&state, "http://other.example:80", "policy"), 1);
	state_close(&state);
	assert_int_equal(stat("elsewhere", &file), 0);
	assert_int_equal(file.st_ino, target);
	assert_int_equal(rename("elsewhere", TEST_FILE), 0);
	open_shared(&state);
	assert_int_equal(marks_in(&state), 1);
	state_close(&state);
}

/* A directory in the file's place won't go away; the state is there all the same, and the process's own. */
static void what_will_not_go_away_is_left(void **unused)
{
	(void)unused;
	struct state state;
	struct state_view view;
	assert_int_equal(mkdir(TEST_FILE, 0700), 0);
	struct state_outcome outcome = open_test_state(&state);
	assert_false(outcome.shared);
	assert_int_equal(outcome.trouble, STATE_CANT_REPLACE);
	state_count_plain_success(state_find_entry(&state, ORIGIN, "policy"), 1);
	assert_true(view_of(&state, ORIGIN, &view));
	assert_int_equal(view.operations[1], 1);
	state_close(&state);
}

/* Somebody who stopped in the middle of replacing holds the lock: nobody waits for him. */
static void nobody_waits_for_a_replacer(void **unused)
{
	(void)unused;
	struct state state;
	plant_empty();
	const struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int lock = open("new-lock", O_RDWR | O_CREAT, 0600);
	assert_int_equal(fcntl(lock, F_OFD_SETLK, &whole), 0);
	struct state_outcome outcome = open_test_state(&state);
	assert_false(outcome.shared);
	assert_int_equal(outcome.trouble, STATE_CANT_REPLACE);
	state_close(&state);
	close(lock);
	outcome = open_test_state(&state);
	assert_true(outcome.shared);
	state_close(&state);
}

/* Many at once. */

enum { OPENERS = 16 };

static int open_when_told(void *start)
{
	struct state state;
	char byte;
	/* The end of the pipe is the sign for all of them at once. */
	if (read(*(int *)start, &byte, 1) != 0)
		return 1;
	if (!open_test_state(&state).shared)
		return 2;
	state_count_plain_success(state_find_entry(&state, ORIGIN, "policy"), 1);
	return 0;
}

static void open_at_once(void)
{
	int start[2];
	pid_t children[OPENERS];
	assert_int_equal(pipe(start), 0);
	for (int i = 0; i < OPENERS; i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (children[i] == 0) {
			close(start[1]);
			_exit(open_when_told(&start[0]));
		}
	}
	close(start[0]);
	close(start[1]);
	for (int i = 0; i < OPENERS; i++) {
		int status;
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

static void expect_all_in_one_file(void)
{
	struct state state;
	assert_int_equal(count_files(), 1);
	open_shared(&state);
	assert_int_equal(marks_in(&state), OPENERS);
	state_close(&state);
}

static void those_who_open_at_once_share_one_file(void **unused)
{
	for (int round = 0; round < 8; round++) {
		open_at_once();
		expect_all_in_one_file();
		assert_int_equal(remove_test_directory(unused), 0);
		assert_int_equal(make_test_directory(unused), 0);
	}
}

static void those_who_replace_at_once_share_one_file(void **unused)
{
	for (int round = 0; round < 8; round++) {
		plant_empty();
		open_at_once();
		expect_all_in_one_file();
		assert_int_equal(remove_test_directory(unused), 0);
		assert_int_equal(make_test_directory(unused), 0);
	}
}

/* Whatever a file of ours holds behind its header: numbers come out wrong, and nothing else happens. */
static void random_words_do_no_harm(void **unused)
{
	(void)unused;
	static unsigned char bytes[FILE_BYTES];
	struct state_flight flights[STATE_FLIGHTS];
	struct state state;
	for (unsigned int seed = 1; seed <= 5; seed++) {
		srand(seed);
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (unsigned char)rand();
		state_layout_identity((uint64_t *)(void *)bytes);
		write_file(TEST_FILE, bytes, sizeof(bytes), 0600);
		open_shared(&state);
		use_all_entries(&state);
		struct state_snapshot *snapshot = state_snapshot_take(&state);
		for (size_t i = 0; i < STATE_ENTRIES; i++) {
			struct state_view view;
			if (state_snapshot_view(snapshot, i, 1000, &view))
				for (const char *c = view.origin; *c; c++)
					assert_in_range(*c, 0x20, 0x7E);
		}
		/* What was recorded now is there, and nothing of the rubbish. */
		assert_int_equal(state_snapshot_flights(snapshot, flights), STATE_FLIGHTS);
		state_snapshot_free(snapshot);
		state_close(&state);
	}
}

static void reader_sees_the_file_and_makes_nothing(void **unused)
{
	(void)unused;
	struct state_request request = test_request();
	struct state_outcome outcome;
	struct state_view view;
	bool found = false;
	assert_null(state_snapshot_read(&request, geteuid(), &outcome));
	assert_int_equal(outcome.trouble, STATE_NO_FILE);
	request.directory = "missing";
	assert_null(state_snapshot_read(&request, geteuid(), &outcome));
	assert_int_equal(outcome.trouble, STATE_NO_FILE);
	assert_int_equal(count_files(), 0);

	leave_a_mark();
	request = test_request();
	struct state_snapshot *snapshot = state_snapshot_read(&request, geteuid(), &outcome);
	assert_non_null(snapshot);
	for (size_t i = 0; i < STATE_ENTRIES && !found; i++)
		found = state_snapshot_view(snapshot, i, 0, &view);
	assert_true(found);
	assert_string_equal(view.origin, ORIGIN);
	state_snapshot_free(snapshot);

	/* Another user's directory would have to be that user's. */
	assert_null(state_snapshot_read(&request, geteuid() + 1, &outcome));
	assert_int_equal(outcome.trouble, STATE_UNTRUSTED_DIRECTORY);
	plant_short();
	assert_null(state_snapshot_read(&request, geteuid(), &outcome));
	assert_int_equal(outcome.trouble, STATE_WRONG_SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_DIRECTORY(processes_share_a_private_file),
	    WITH_DIRECTORY(host_notices_nothing),
	    WITH_DIRECTORY(umask_does_not_matter),
	    WITH_DIRECTORY(untrusted_files_are_replaced),
	    WITH_DIRECTORY(what_a_link_points_to_stays_as_it_is),
	    WITH_DIRECTORY(what_will_not_go_away_is_left),
	    WITH_DIRECTORY(nobody_waits_for_a_replacer),
	    WITH_DIRECTORY(those_who_open_at_once_share_one_file),
	    WITH_DIRECTORY(those_who_replace_at_once_share_one_file),
	    WITH_DIRECTORY(random_words_do_no_harm),
	    WITH_DIRECTORY(reader_sees_the_file_and_makes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
