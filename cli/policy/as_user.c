/* SPDX-License-Identifier: MIT */
#include "cli/policy/as_user.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define LIMIT_MS 2000
#define STEP_MS  2

void *as_user_share(size_t bytes)
{
	void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED ? NULL : shared;
}

void as_user_unshare(void *shared, size_t bytes)
{
	if (shared)
		munmap(shared, bytes);
}

static bool take_rights(const struct passwd *user)
{
	if (initgroups(user->pw_name, user->pw_gid) != 0 && setgroups(1, &user->pw_gid) != 0)
		return false;
	return setresgid(user->pw_gid, user->pw_gid, user->pw_gid) == 0 &&
	       setresuid(user->pw_uid, user->pw_uid, user->pw_uid) == 0 && geteuid() == user->pw_uid;
}

/* Returns false if it doesn't end in time. */
static bool wait_for(pid_t child, int *status)
{
	const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
	for (int64_t end_ms = clock_ms() + LIMIT_MS; clock_ms() < end_ms; nanosleep(&step, NULL)) {
		pid_t ended = waitpid(child, status, WNOHANG);
		if (ended == child || (ended < 0 && errno != EINTR))
			return ended == child;
	}
	return false;
}

enum as_user_end as_user(const struct passwd *user, void (*function)(void *shared), void *shared)
{
	int status;
	pid_t child = fork();
	if (child < 0)
		return AS_USER_FAILED;
	if (child == 0) {
		if (!take_rights(user))
			_exit(1);
		function(shared);
		_exit(0);
	}
	if (wait_for(child, &status))
		return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? AS_USER_DONE : AS_USER_FAILED;
	/* Not waited for: a process in the middle of a look at a dead file system may outlive even this. */
	kill(child, SIGKILL);
	return AS_USER_SLOW;
}
