/* SPDX-License-Identifier: MIT */
/*
 * Nothing in the kernel tells a descriptor that dup2() made from one that open() or accept() made, and we don't see
 * these calls. What tells them apart is what the two leave behind:
 *
 *   dup2() clears FD_CLOEXEC, which whoever opens something for himself sets;
 *   a log is written at its end and not read: O_WRONLY with O_APPEND, or the writing end of a pipe. Data files, sockets
 *   and terminals that a program opens for itself are O_RDWR, or written from their begin;
 *   open() and accept() take the lowest number. Who closed all three gets 0 and 1 first, so an accident at 2 shows in
 *   1: there is something that no one would have as standard output. Who redirects leaves 1 as it was, or gives it the
 *   same file, /dev/null or another pipe.
 *
 * All of these are asked for. What remains is a file that a program opened for itself, only to append to it, without
 * O_CLOEXEC, after it closed 2 alone: that is what redirecting looks like, too.
 */
#include "log/stderr.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static struct log_start_file look(int fd)
{
	struct stat now;
	struct log_start_file file = {.known = fstat(fd, &now) == 0};
	if (file.known) {
		file.device = (uint64_t)now.st_dev;
		file.inode = (uint64_t)now.st_ino;
	}
	return file;
}

void log_remember_stderr(struct log_stderr_identity *identity)
{
	int saved_errno = errno;
	identity->output = look(STDOUT_FILENO);
	identity->error = look(STDERR_FILENO);
	errno = saved_errno;
}

static bool is_of_start(const struct log_start_file *start, const struct stat *file)
{
	return start->known && (uint64_t)file->st_dev == start->device && (uint64_t)file->st_ino == start->inode;
}

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

static bool is_null_device(const struct stat *file)
{
	return S_ISCHR(file->st_mode) && file->st_rdev == makedev(1, 3);
}

static bool is_for_writing(int flags)
{
	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

static bool is_for_writing_only(int flags)
{
	return flags >= 0 && (flags & O_ACCMODE) == O_WRONLY;
}

/* The writing end of a pipe to somebody else. */
static bool is_pipe_out(const struct stat *pipe, int flags)
{
	struct stat input;
	return S_ISFIFO(pipe->st_mode) && is_for_writing_only(flags) &&
	       !(fstat(STDIN_FILENO, &input) == 0 && is_same(&input, pipe));
}

/* Whether fd 1 is what a program leaves there that redirects fd 2 to `error`. */
static bool is_output(const struct log_stderr_identity *start, const struct stat *output, const struct stat *error)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);
	return is_for_writing(flags) && (is_of_start(&start->output, output) || is_same(output, error) ||
	                                 is_null_device(output) || is_pipe_out(output, flags));
}

/* Whether it is what one writes messages to. */
static bool takes_messages(const struct stat *error, int flags, bool is_output_too)
{
	if (S_ISREG(error->st_mode))
		return is_for_writing_only(flags) && ((flags & O_APPEND) || is_output_too);
	if (S_ISCHR(error->st_mode))
		return is_for_writing(flags) && is_output_too && !is_null_device(error);
	return is_pipe_out(error, flags);
}

static bool is_redirected(const struct log_stderr_identity *start, const struct stat *error)
{
	struct stat output;
	int descriptor_flags = fcntl(STDERR_FILENO, F_GETFD);
	if (descriptor_flags < 0 || (descriptor_flags & FD_CLOEXEC) || fstat(STDOUT_FILENO, &output) != 0)
		return false;
	/* Where there was none, whatever is opened first becomes 2. */
	if (!start->error.known && !is_same(&output, error))
		return false;
	return is_output(start, &output, error) &&
	       takes_messages(error, fcntl(STDERR_FILENO, F_GETFL), is_same(&output, error));
}

bool log_stderr_is_meant(const struct log_stderr_identity *start)
{
	struct stat now;
	return fstat(STDERR_FILENO, &now) == 0 && (is_of_start(&start->error, &now) || is_redirected(start, &now));
}
