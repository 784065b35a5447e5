/* SPDX-License-Identifier: MIT */
/*
 * Sinks under faults. Every test checks two things: that a line is either written whole or reported as not written, and
 * that the host program can't notice: no signal, same mask, same errno, no descriptor left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/sink.h"
#include "log/syslog.h"

#define LINE       "{\"kind\":\"note\"}\n"
#define LINE_BYTES (sizeof(LINE) - 1)

static char directory[] = "/tmp/test_sink.XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	memcpy(strrchr(directory, '.'), ".XXXXXX", 8);
	return mkdtemp(directory) ? chdir(directory) : -1;
}

static int remove_directory(void **state)
{
	(void)state;
	char command[sizeof(directory) + 32];
	snprintf(command, sizeof(command), "rm -rf -- '%s'", directory);
	return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static size_t count_descriptors(void)
{
	size_t count = 0;
	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static volatile sig_atomic_t signals_seen;

static void see_signal(int number)
{
	(void)number;
	signals_seen++;
}

static bool same_signals(const sigset_t *one, const sigset_t *other)
{
	for (int number = 1; number < NSIG; number++)
		if (sigismember(one, number) != sigismember(other, number))
			return false;
	return true;
}

/* Writes, and checks that nothing of it can be noticed. */
static bool write_unnoticed(const struct policy_rules *rules, const struct log_stderr_identity *identity,
                            const char *line, size_t line_bytes)
{
	sigset_t mask_before, mask_after, pending;
	struct sigaction see = {.sa_handler = see_signal};
	sigaction(SIGPIPE, &see, NULL);
	sigaction(SIGXFSZ, &see, NULL);
	signals_seen = 0;
	sigemptyset(&mask_before);
	sigemptyset(&mask_after);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
	size_t descriptors_before = count_descriptors();

	errno = ELOOP;
	bool written = log_write(rules, identity, line, line_bytes);
	assert_int_equal(errno, ELOOP);

	pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
	sigpending(&pending);
	assert_true(same_signals(&mask_before, &mask_after));
	assert_int_equal(sigismember(&pending, SIGPIPE), 0);
	assert_int_equal(sigismember(&pending, SIGXFSZ), 0);
	assert_int_equal(signals_seen, 0);
	assert_int_equal(count_descriptors(), descriptors_before);
	return written;
}

static bool write_to_file(const char *path)
{
	const struct policy_rules rules = {.log = POLICY_LOG_FILE, .log_path = path};
	return write_unnoticed(&rules, NULL, LINE, LINE_BYTES);
}

static void expect_content(const char *path, const char *expected)
{
	char content[65536];
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	size_t bytes = fread(content, 1, sizeof(content) - 1, file);
	content[bytes] = '\0';
	fclose(file);
	assert_string_equal(content, expected);
}

static void a_file_is_made_private_and_appended_to(void **state)
{
	(void)state;
	static const mode_t UMASKS[] = {0, 022, 0777};
	for (size_t i = 0; i < 3; i++) {
		mode_t before = umask(UMASKS[i]);
		assert_true(write_to_file("log"));
		assert_true(write_to_file("log"));
		umask(before);
		struct stat file;
		assert_int_equal(stat("log", &file), 0);
		assert_int_equal(file.st_mode & 07777, 0600);
		expect_content("log", LINE LINE);
		unlink("log");
	}
}

static void an_existing_file_keeps_its_mode_and_content(void **state)
{
	(void)state;
	int fd = open("log", O_CREAT | O_WRONLY, 0640);
	assert_int_equal(write(fd, "before\n", 7), 7);
	fchmod(fd, 0640);
	close(fd);
	assert_true(write_to_file("log"));
	struct stat file;
	assert_int_equal(stat("log", &file), 0);
	assert_int_equal(file.st_mode & 07777, 0640);
	expect_content("log", "before\n" LINE);
}

static void percent_u_is_the_effective_user(void **state)
{
	(void)state;
	char expected[64];
	snprintf(expected, sizeof(expected), "log-%u-%%d-%u", geteuid(), geteuid());
	assert_true(write_to_file("log-%u-%d-%u"));
	expect_content(expected, LINE);
}

static void only_regular_files_are_written_to(void **state)
{
	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(symlink("target", "dangling"), 0);
	int fd = open("victim", O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_int_equal(symlink("victim", "link"), 0);

	assert_false(write_to_file("fifo"));
	int reader = open("fifo", O_RDONLY | O_NONBLOCK);
	assert_false(write_to_file("fifo"));
	close(reader);
	assert_false(write_to_file("link"));
	assert_false(write_to_file("dangling"));
	assert_false(write_to_file(directory));
	assert_false(write_to_file("/dev/null"));
	assert_false(write_to_file("/dev/full"));
	assert_false(write_to_file("missing/log"));
	assert_false(write_to_file(""));
	expect_content("victim", "");
	assert_int_equal(access("target", F_OK), -1);
}

static void a_path_that_is_too_long_is_refused(void **state)
{
	(void)state;
	char path[8192];
	memset(path, 'x', sizeof(path));
	memcpy(path, "%u", 2);
	path[sizeof(path) - 1] = '\0';
	assert_false(write_to_file(path));
}

static void no_log_is_no_loss(void **state)
{
	(void)state;
	const struct policy_rules rules = {.log = POLICY_LOG_NONE};
	assert_true(write_unnoticed(&rules, NULL, LINE, LINE_BYTES));
}

static void a_line_that_would_pass_the_file_size_limit_is_skipped(void **state)
{
	(void)state;
	struct rlimit before, limit;
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 2 * LINE_BYTES + 1;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	bool first = write_to_file("log"), second = write_to_file("log"), third = write_to_file("log");
	setrlimit(RLIMIT_FSIZE, &before);
	assert_true(first);
	assert_true(second);
	assert_false(third);
	expect_content("log", LINE LINE);
}

/* Two threads' worth of appends between the look at the size and the write can't be staged; a limit of 0 can. */
static void a_file_size_limit_of_zero_raises_nothing(void **state)
{
	(void)state;
	struct rlimit before, limit;
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 0;
	setrlimit(RLIMIT_FSIZE, &limit);
	bool written = write_to_file("log");
	setrlimit(RLIMIT_FSIZE, &before);
	assert_false(written);
	expect_content("log", "");
}

/* Runs `body` in a child that may change mounts and descriptors; its exit status is 0 if all was well. */
static int run_in_child(int (*body)(void))
{
	fflush(NULL);
	pid_t child = fork();
	if (child == 0)
		_exit(body());
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define CANT_TEST 77

/* Fills a tiny file system with lines; each that counts as written must be there, whole, and nothing else. */
static int fill_a_disk(void)
{
	if (mkdir("disk", 0700) != 0 || unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", "disk", "tmpfs", 0, "size=16k") != 0)
		return CANT_TEST;
	char line[1000];
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	const struct policy_rules rules = {.log = POLICY_LOG_FILE, .log_path = "disk/log"};
	off_t written = 0;
	for (int i = 0; i < 40; i++)
		if (log_write(&rules, NULL, line, sizeof(line)))
			written++;
	struct stat file;
	if (stat("disk/log", &file) != 0)
		return 1;
	if (written < 8 || written > 39)
		return 2;
	return file.st_size == written * (off_t)sizeof(line) ? 0 : 3;
}

static void a_full_disk_tears_no_line(void **state)
{
	(void)state;
	int result = run_in_child(fill_a_disk);
	if (result == CANT_TEST)
		skip();
	assert_int_equal(result, 0);
}

struct stderr_swap {
	int saved;
	struct log_stderr_identity identity;
};

static void become_stderr(struct stderr_swap *swap, int fd)
{
	swap->saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
	dup2(fd, STDERR_FILENO);
	log_remember_stderr(&swap->identity);
}

static void restore_stderr(const struct stderr_swap *swap)
{
	dup2(swap->saved, STDERR_FILENO);
	close(swap->saved);
}

static const struct policy_rules TO_STDERR = {.log = POLICY_LOG_STDERR};

static void stderr_gets_lines_while_it_is_the_same_file(void **state)
{
	(void)state;
	int first = open("first", O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	struct stderr_swap swap;
	become_stderr(&swap, first);
	bool same = write_unnoticed(&TO_STDERR, &swap.identity, LINE, LINE_BYTES);
	close(STDERR_FILENO);
	bool closed = write_unnoticed(&TO_STDERR, &swap.identity, LINE, LINE_BYTES);
	restore_stderr(&swap);
	assert_true(same);
	assert_false(closed);
	expect_content("first", LINE);
	close(first);
}

/* Another fd 2 than that of the start. `file`, if it isn't NULL, is what it is now, and the current one is closed. */
struct other_stderr {
	const char *name;
	int flags;       /* of open() */
	bool by_dup2;    /* else close() and open() */
	bool and_output; /* fd 1 as well */
	bool is_followed;
};

static const struct other_stderr OTHERS[] = {
    {"a log", O_WRONLY | O_APPEND, true, false, true},
    {"a log, both", O_WRONLY | O_APPEND, true, true, true},
    {"a new file, both", O_WRONLY | O_TRUNC, true, true, true},
    {"a data file", O_RDWR, false, false, false},
    {"a data file to append to", O_RDWR | O_APPEND, false, false, false},
    {"a data file from its begin", O_WRONLY | O_TRUNC, false, false, false},
    {"a journal", O_WRONLY | O_APPEND | O_CLOEXEC, false, false, false},
    {"what is read", O_RDONLY, false, false, false},
};

static void put_at(int fd, const struct other_stderr *other)
{
	if (!other->by_dup2) {
		close(STDERR_FILENO);
		assert_int_equal(open("other", O_CREAT | other->flags, 0600), STDERR_FILENO);
		return;
	}
	int opened = open("other", O_CREAT | other->flags, 0600);
	dup2(opened, fd);
	if (other->and_output)
		dup2(opened, STDOUT_FILENO);
	close(opened);
}

static void stderr_is_followed_where_it_was_redirected(void **state)
{
	(void)state;
	int first = open("first", O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	for (size_t i = 0; i < sizeof(OTHERS) / sizeof(OTHERS[0]); i++) {
		struct stderr_swap swap;
		int saved_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
		unlink("other");
		become_stderr(&swap, first);
		put_at(STDERR_FILENO, &OTHERS[i]);
		bool written = write_unnoticed(&TO_STDERR, &swap.identity, LINE, LINE_BYTES);
		restore_stderr(&swap);
		dup2(saved_output, STDOUT_FILENO);
		close(saved_output);
		if (written != OTHERS[i].is_followed)
			fail_msg("%s: %d", OTHERS[i].name, written);
		expect_content("other", written ? LINE : "");
	}
	close(first);
}

/* Puts what socket(), pipe() and the like give at fd 2, as a program has them that closed all three. */
static void stderr_is_no_socket_pipe_or_device(void **state)
{
	(void)state;
	int first = open("first", O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	int sockets[2], pipes[2], null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	assert_int_equal(pipe(pipes), 0);
	const int others[][2] = {
	    {STDOUT_FILENO, sockets[0]}, {sockets[1], pipes[1]}, {pipes[0], pipes[1]}, {STDOUT_FILENO, null}};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct stderr_swap swap;
		int saved_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
		become_stderr(&swap, first);
		dup2(others[i][0], STDOUT_FILENO);
		dup2(others[i][1], STDERR_FILENO);
		bool written = write_unnoticed(&TO_STDERR, &swap.identity, LINE, LINE_BYTES);
		restore_stderr(&swap);
		dup2(saved_output, STDOUT_FILENO);
		close(saved_output);
		if (written)
			fail_msg("case %zu", i);
	}
	for (int i = 0; i < 2; i++) {
		close(sockets[i]);
		close(pipes[i]);
	}
	close(null);
	close(first);
}

static void a_stderr_that_was_closed_at_load_is_never_written_to(void **state)
{
	(void)state;
	int later = open("later", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	int saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
	struct log_stderr_identity identity;
	close(STDERR_FILENO);
	log_remember_stderr(&identity);
	dup2(later, STDERR_FILENO);
	bool written = write_unnoticed(&TO_STDERR, &identity, LINE, LINE_BYTES);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(later);
	assert_false(identity.error.known);
	assert_false(written);
	expect_content("later", "");
}

static void a_full_pipe_takes_whole_lines_and_never_blocks(void **state)
{
	(void)state;
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	char line[1000];
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	struct stderr_swap swap;
	become_stderr(&swap, ends[1]);
	size_t written = 0;
	bool refused = false;
	while (!refused && written < 10000) {
		refused = !write_unnoticed(&TO_STDERR, &swap.identity, line, sizeof(line));
		written += !refused;
	}
	int flags = fcntl(STDERR_FILENO, F_GETFL);
	restore_stderr(&swap);
	close(ends[1]);
	assert_true(refused);
	assert_int_equal(flags & O_NONBLOCK, 0);

	size_t received = 0;
	char content[4096];
	for (ssize_t got; (got = read(ends[0], content, sizeof(content))) > 0;)
		received += (size_t)got;
	assert_int_equal(received, written * sizeof(line));
	close(ends[0]);
}

static void a_pipe_without_reader_raises_nothing(void **state)
{
	(void)state;
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	struct stderr_swap swap;
	become_stderr(&swap, ends[1]);
	bool written = write_unnoticed(&TO_STDERR, &swap.identity, LINE, LINE_BYTES);
	restore_stderr(&swap);
	close(ends[1]);
	assert_false(written);
}

static void a_full_socket_never_blocks(void **state)
{
	(void)state;
	int ends[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	struct stderr_swap swap;
	become_stderr(&swap, ends[1]);
	int lines = 0;
	while (lines < 1000000 && write_unnoticed(&TO_STDERR, &swap.identity, LINE, LINE_BYTES))
		lines++;
	close(ends[0]);
	bool after_close = write_unnoticed(&TO_STDERR, &swap.identity, LINE, LINE_BYTES);
	restore_stderr(&swap);
	close(ends[1]);
	assert_true(lines > 0 && lines < 1000000);
	assert_false(after_close);
}

static void a_signal_that_the_program_had_pending_stays(void **state)
{
	(void)state;
	int ends[2];
	sigset_t pipe_signal, before, pending;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
	raise(SIGPIPE);
	struct stderr_swap swap;
	become_stderr(&swap, ends[1]);
	bool written = log_write(&TO_STDERR, &swap.identity, LINE, LINE_BYTES);
	restore_stderr(&swap);
	sigpending(&pending);
	int still_pending = sigismember(&pending, SIGPIPE);
	int ignored;
	sigwait(&pipe_signal, &ignored);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	assert_false(written);
	assert_int_equal(still_pending, 1);
}

static void *write_and_return(void *result)
{
	pthread_cancel(pthread_self());
	*(bool *)result = write_to_file("log");
	int cancel_state;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	return cancel_state == PTHREAD_CANCEL_ENABLE ? result : NULL;
}

static void a_thread_is_not_cancelled_inside(void **state)
{
	(void)state;
	pthread_t thread;
	bool written = false;
	void *returned;
	assert_int_equal(pthread_create(&thread, NULL, write_and_return, &written), 0);
	pthread_join(thread, &returned);
	assert_ptr_equal(returned, &written);
	assert_true(written);
}

#define WRITERS          4
#define LINES_PER_WRITER 200

static void *append_lines(void *letter)
{
	char line[1500];
	memset(line, *(const char *)letter, sizeof(line));
	line[sizeof(line) - 1] = '\n';
	const struct policy_rules rules = {.log = POLICY_LOG_FILE, .log_path = "log"};
	for (int i = 0; i < LINES_PER_WRITER; i++)
		if (!log_write(&rules, NULL, line, sizeof(line)))
			return NULL;
	return letter;
}

static void lines_of_several_writers_stay_whole(void **state)
{
	(void)state;
	static char letters[WRITERS] = {'a', 'b', 'c', 'd'};
	pthread_t threads[WRITERS];
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, append_lines, &letters[i]), 0);
	for (int i = 0; i < WRITERS; i++) {
		void *finished;
		pthread_join(threads[i], &finished);
		assert_non_null(finished);
	}
	FILE *file = fopen("log", "re");
	char line[2000];
	int lines = 0;
	while (fgets(line, sizeof(line), file)) {
		assert_int_equal(strlen(line), 1500);
		assert_int_equal(strspn(line, (char[]){line[0], '\0'}), 1499);
		lines++;
	}
	fclose(file);
	assert_int_equal(lines, WRITERS * LINES_PER_WRITER);
}

static int bind_socket(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void syslog_gets_one_datagram_per_line(void **state)
{
	(void)state;
	int daemon_fd = bind_socket("daemon");
	assert_true(log_send_datagram("daemon", 4, "no policy\n", 10));
	char message[256];
	ssize_t bytes = recv(daemon_fd, message, sizeof(message) - 1, 0);
	assert_true(bytes > 0);
	message[bytes] = '\0';
	close(daemon_fd);

	char month[4], text[64];
	int priority, day, hour, minute, second, pid, end = 0;
	assert_int_equal(sscanf(message, "<%d>%3s %2d %2d:%2d:%2d tenacurl[%d]: %63[^\n]%n", &priority, month, &day,
	                        &hour, &minute, &second, &pid, text, &end),
	                 8);
	assert_int_equal(end, bytes);
	assert_int_equal(priority, 1 << 3 | 4);
	assert_int_equal(pid, getpid());
	assert_string_equal(text, "no policy");
}

static void syslog_without_a_daemon_loses_the_line(void **state)
{
	(void)state;
	int daemon_fd = bind_socket("gone");
	close(daemon_fd);
	size_t descriptors = count_descriptors();
	assert_false(log_send_datagram("gone", 4, "x", 1));
	assert_false(log_send_datagram("missing", 4, "x", 1));
	char path[200];
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_false(log_send_datagram(path, 4, "x", 1));
	assert_int_equal(count_descriptors(), descriptors);
}

static void a_syslog_daemon_that_hangs_blocks_nobody(void **state)
{
	(void)state;
	int daemon_fd = bind_socket("stuck");
	int sent = 0;
	while (sent < 1000000 && log_send_datagram("stuck", 6, LINE, LINE_BYTES))
		sent++;
	close(daemon_fd);
	assert_true(sent > 0 && sent < 1000000);
}

#define sink_test(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    sink_test(a_file_is_made_private_and_appended_to),
	    sink_test(an_existing_file_keeps_its_mode_and_content),
	    sink_test(percent_u_is_the_effective_user),
	    sink_test(only_regular_files_are_written_to),
	    sink_test(a_path_that_is_too_long_is_refused),
	    sink_test(no_log_is_no_loss),
	    sink_test(a_line_that_would_pass_the_file_size_limit_is_skipped),
	    sink_test(a_file_size_limit_of_zero_raises_nothing),
	    sink_test(a_full_disk_tears_no_line),
	    sink_test(stderr_gets_lines_while_it_is_the_same_file),
	    sink_test(stderr_is_followed_where_it_was_redirected),
	    sink_test(stderr_is_no_socket_pipe_or_device),
	    sink_test(a_stderr_that_was_closed_at_load_is_never_written_to),
	    sink_test(a_full_pipe_takes_whole_lines_and_never_blocks),
	    sink_test(a_pipe_without_reader_raises_nothing),
	    sink_test(a_full_socket_never_blocks),
	    sink_test(a_signal_that_the_program_had_pending_stays),
	    sink_test(a_thread_is_not_cancelled_inside),
	    sink_test(lines_of_several_writers_stay_whole),
	    sink_test(syslog_gets_one_datagram_per_line),
	    sink_test(syslog_without_a_daemon_loses_the_line),
	    sink_test(a_syslog_daemon_that_hangs_blocks_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
