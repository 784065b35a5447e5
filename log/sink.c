/* SPDX-License-Identifier: MIT */
/*
 * A log that its host can't feel. Each write is a stretch of its own: open, look, write once, close. What is written is
 * a whole line or nothing: a disk that fills up in the middle of a line is the one way to tear it, and then the torn
 * part is taken back.
 */
#include "log/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "base/bounded_text.h"
#include "log/quiet.h"
#include "log/syslog.h"

#define FILE_FLAGS (O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
#define FILE_MODE  0600

bool log_expand_path(const char *pattern, char *out, size_t out_bytes)
{
	struct bounded_text writer = {.out = out, .capacity_bytes = out_bytes - 1};
	while (*pattern) {
		if (pattern[0] == '%' && pattern[1] == 'u') {
			bounded_put_unsigned(&writer, geteuid());
			pattern += 2;
		} else {
			bounded_put(&writer, pattern++, 1);
		}
	}
	out[writer.used_bytes] = '\0';
	return !writer.overflow;
}

/*
 * A new file gets its mode by fchmod, since a umask of 0777 would leave one that can't be opened a second time. O_EXCL,
 * because only who made the file may change its mode.
 */
static int open_regular(const char *path)
{
	struct stat before;
	/* Opening a device or fifo can have effects of its own, even if it is closed at once. */
	if (lstat(path, &before) == 0 && !S_ISREG(before.st_mode))
		return -1;
	int fd = open(path, FILE_FLAGS);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	fd = open(path, FILE_FLAGS | O_CREAT | O_EXCL, FILE_MODE);
	if (fd >= 0) {
		fchmod(fd, FILE_MODE);
		return fd;
	}
	return errno == EEXIST ? open(path, FILE_FLAGS) : -1;
}

/* The path goes to the heap: it is as large as half of a small thread's stack. */
static int open_pattern(const char *pattern)
{
	if (!strstr(pattern, "%u"))
		return open_regular(pattern);
	char *path = malloc(PATH_MAX);
	int fd = path && log_expand_path(pattern, path, PATH_MAX) ? open_regular(path) : -1;
	free(path);
	return fd;
}

/* Whether `bytes` more at the end of the file stay below RLIMIT_FSIZE. */
static bool fits_file_limit(int fd, const struct stat *file, size_t bytes)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return true;
	off_t end = file->st_size;
	off_t offset = lseek(fd, 0, SEEK_CUR); /* a stderr without O_APPEND may be anywhere */
	if (offset > end)
		end = offset;
	return (rlim_t)end < limit.rlim_cur && bytes <= limit.rlim_cur - (rlim_t)end;
}

/* Takes back the torn line of `bytes` that we just appended, unless someone else has appended behind it. */
static void take_back(int fd, ssize_t bytes)
{
	off_t end = lseek(fd, 0, SEEK_CUR); /* after an appending write: where it ended */
	struct stat now;
	if (end >= bytes && fstat(fd, &now) == 0 && now.st_size == end)
		while (ftruncate(fd, end - bytes) != 0 && errno == EINTR)
			;
}

static bool write_once(int fd, const char *line, size_t line_bytes, ssize_t *written, int *write_errno)
{
	do {
		*written = write(fd, line, line_bytes);
	} while (*written < 0 && errno == EINTR);
	if (*written < 0)
		*write_errno = errno;
	return *written == (ssize_t)line_bytes;
}

static bool write_file(const char *pattern, const char *line, size_t line_bytes, int *write_errno)
{
	int fd = open_pattern(pattern);
	if (fd < 0)
		return false;
	bool whole = false;
	struct stat file;
	if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && fits_file_limit(fd, &file, line_bytes)) {
		ssize_t written;
		whole = write_once(fd, line, line_bytes, &written, write_errno);
		if (!whole && written > 0)
			take_back(fd, written);
	}
	close(fd);
	return whole;
}

static bool can_write_now(int fd)
{
	struct pollfd ask = {.fd = fd, .events = POLLOUT};
	return poll(&ask, 1, 0) == 1 && ask.revents == POLLOUT;
}

/*
 * O_NONBLOCK on fd 2 would change the file for everyone who shares it, and between poll() and write() another thread
 * can fill the pipe. A second opening of the same pipe has flags of its own. Where that is impossible (no /proc, no
 * permission after a change of user), poll() has to do: a pipe that is writable takes PIPE_BUF bytes.
 */
static bool write_pipe(const char *line, size_t line_bytes, int *write_errno)
{
	ssize_t written;
	if (line_bytes > PIPE_BUF || !can_write_now(STDERR_FILENO))
		return false;
	int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return write_once(STDERR_FILENO, line, line_bytes, &written, write_errno);
	bool whole = write_once(fd, line, line_bytes, &written, write_errno);
	close(fd);
	return whole;
}

static bool write_stderr(const struct log_stderr_identity *identity, const char *line, size_t line_bytes,
                         int *write_errno)
{
	struct stat now;
	if (!identity || !log_stderr_is_meant(identity) || fstat(STDERR_FILENO, &now) != 0)
		return false;
	if (S_ISFIFO(now.st_mode))
		return write_pipe(line, line_bytes, write_errno);
	if (S_ISSOCK(now.st_mode))
		return send(STDERR_FILENO, line, line_bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)line_bytes;
	if (S_ISREG(now.st_mode) && !fits_file_limit(STDERR_FILENO, &now, line_bytes))
		return false;
	ssize_t written;
	return can_write_now(STDERR_FILENO) && write_once(STDERR_FILENO, line, line_bytes, &written, write_errno);
}

bool log_write(const struct policy_rules *rules, const struct log_stderr_identity *identity, const char *line,
               size_t line_bytes)
{
	if (rules->log == POLICY_LOG_NONE)
		return true;
	struct quiet_stretch stretch;
	int write_errno = 0;
	bool whole = false;
	quiet_begin(&stretch);
	switch (rules->log) {
	case POLICY_LOG_NONE:
		break;
	case POLICY_LOG_STDERR:
	case POLICY_LOG_STDERR_JSON:
		/* Not while SIGPIPE could end the program, or SIGTTOU stop it. */
		whole = stretch.masked && write_stderr(identity, line, line_bytes, &write_errno);
		break;
	case POLICY_LOG_SYSLOG:
		whole = log_send_datagram(LOG_SYSLOG_SOCKET, LOG_INFO, line, line_bytes);
		break;
	case POLICY_LOG_FILE:
		whole = rules->log_path && write_file(rules->log_path, line, line_bytes, &write_errno);
		break;
	}
	quiet_end(&stretch, write_errno);
	return whole;
}

bool log_syslog(int severity, const char *text, size_t text_bytes)
{
	struct quiet_stretch stretch;
	quiet_begin(&stretch);
	bool sent = log_send_datagram(LOG_SYSLOG_SOCKET, severity, text, text_bytes);
	quiet_end(&stretch, 0);
	return sent;
}
