/* SPDX-License-Identifier: MIT */
#include "cli/policy/sink_trial.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/policy/as_user.h"
#include "log/record.h"
#include "log/sink.h"

/* Says so, of a long path only the begin, and returns false. */
static bool tell_trouble(struct sink_trouble *trouble, const char *sink, const char *reason)
{
	return snprintf(trouble->text, sizeof(trouble->text), "%s: %s", sink, reason) < 0;
}

/* Whether a line more fits where `path` is: on its file system, and below the limit of a file's size. */
static bool has_room(const char *path, int64_t file_bytes, struct sink_trouble *trouble)
{
	struct statvfs room;
	struct rlimit limit;
	if (statvfs(path, &room) == 0) {
		if (room.f_flag & ST_RDONLY)
			return tell_trouble(trouble, path, strerror(EROFS));
		if ((geteuid() == 0 ? room.f_bfree : room.f_bavail) == 0 && room.f_blocks > 0)
			return tell_trouble(trouble, path, strerror(ENOSPC));
	}
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    (rlim_t)file_bytes + RECORD_BYTES_MAX > limit.rlim_cur)
		return tell_trouble(trouble, path, "the limit of a file's size (ulimit -f) is reached");
	return true;
}

/* A file beside it that nobody looks for. */
static bool try_directory(const char *path, struct sink_trouble *trouble)
{
	char probe[PATH_MAX];
	const char *end = strrchr(path, '/');
	int bytes = snprintf(probe, sizeof(probe), "%.*s/.tenacurl-XXXXXX", (int)(end - path), path);
	if (bytes < 0 || bytes >= (int)sizeof(probe))
		return tell_trouble(trouble, path, strerror(ENAMETOOLONG));
	int fd = mkostemp(probe, O_CLOEXEC);
	if (fd < 0)
		return tell_trouble(trouble, path, strerror(errno));
	unlink(probe);
	close(fd);
	snprintf(probe, sizeof(probe), "%.*s/", (int)(end - path), path);
	return has_room(probe, 0, trouble);
}

static bool try_file(const char *pattern, struct sink_trouble *trouble)
{
	char path[PATH_MAX];
	struct stat file;
	if (!log_expand_path(pattern, path, sizeof(path)))
		return tell_trouble(trouble, pattern, strerror(ENAMETOOLONG));
	if (lstat(path, &file) != 0)
		return errno == ENOENT ? try_directory(path, trouble) : tell_trouble(trouble, path, strerror(errno));
	if (!S_ISREG(file.st_mode))
		return tell_trouble(trouble, path, "not a regular file");
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return tell_trouble(trouble, path, strerror(errno));
	close(fd);
	return has_room(path, file.st_size, trouble);
}

/* Whether somebody listens at the socket of syslog, and may be talked to. */
static bool try_syslog(struct sink_trouble *trouble)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = LOG_SYSLOG_SOCKET};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool taken = fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
	int reason = errno;
	if (fd >= 0)
		close(fd);
	return taken || tell_trouble(trouble, "syslog (" LOG_SYSLOG_SOCKET ")", strerror(reason));
}

static bool try_stderr(struct sink_trouble *trouble)
{
	int flags = fcntl(STDERR_FILENO, F_GETFL);
	if (flags < 0)
		return tell_trouble(trouble, "stderr", "it is closed");
	return (flags & O_ACCMODE) != O_RDONLY || tell_trouble(trouble, "stderr", "it isn't open for writing");
}

bool sink_try(const struct policy_rules *rules, struct sink_trouble *trouble)
{
	switch (rules->log) {
	case POLICY_LOG_NONE:
		return true;
	case POLICY_LOG_STDERR:
	case POLICY_LOG_STDERR_JSON:
		return try_stderr(trouble);
	case POLICY_LOG_SYSLOG:
		return try_syslog(trouble);
	case POLICY_LOG_FILE:
		trouble->is_of_file = true;
		return try_file(rules->log_path, trouble);
	}
	return true;
}

/* What the other user's process leaves behind. */
struct shared_trial {
	const struct policy_rules *rules;
	bool is_good;
	struct sink_trouble trouble;
};

static void try_in_child(void *shared)
{
	struct shared_trial *trial = shared;
	trial->is_good = sink_try(trial->rules, &trial->trouble);
}

bool sink_try_as(const struct passwd *user, const struct policy_rules *rules, struct sink_trouble *trouble)
{
	if (rules->log == POLICY_LOG_STDERR || rules->log == POLICY_LOG_STDERR_JSON)
		return true;
	struct shared_trial *trial = as_user_share(sizeof(*trial));
	if (!trial)
		return tell_trouble(trouble, "log", strerror(ENOMEM));
	trial->rules = rules;
	enum as_user_end end = as_user(user, try_in_child, trial);
	bool is_good = end == AS_USER_DONE && trial->is_good;
	if (end == AS_USER_DONE)
		*trouble = trial->trouble;
	else
		tell_trouble(trouble, "log",
		             end == AS_USER_SLOW ? "its file system doesn't answer" : "can't be tried as that user");
	as_user_unshare(trial, sizeof(*trial));
	return is_good;
}

bool sink_is_wanted(const struct policy *policy)
{
	for (size_t i = 0; i < policy->section_count; i++)
		if (policy->sections[i].rules.mode != POLICY_MODE_OFF)
			return policy->sections[0].rules.log != POLICY_LOG_NONE;
	return false;
}
