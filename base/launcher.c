/* SPDX-License-Identifier: MIT */

/*
 * /proc says it best: a number can be another process's by now, and a zombie has ended. Where /proc shows nothing, kill
 * tells a process that may not be signalled (EPERM) from none (ESRCH), whatever hidepid hides. A system call filter may
 * not know kill; then it has to do whether /proc shows others' processes at all. None of this means anything in another
 * pid namespace than the launcher's. There the deadline itself is the end: what goes on a minute later was left behind,
 * and nobody waits for it.
 */

#include "base/launcher.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/boot_id.h"
#include "base/call_filter.h"
#include "base/proc.h"
#include "base/time_namespace.h"

#define UNSEEN_MS 60000

enum sight { LIVES, GONE, UNSEEN };

/* The inode of our pid namespace; 0: it can't be told. */
static uint64_t own_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) == 0 ? (uint64_t)status.st_ino : 0;
}

static bool is_of_our_namespace(const struct deadline_text *deadline)
{
	return deadline->pid_namespace == 0 || deadline->pid_namespace == own_namespace();
}

/* /proc doesn't show it. */
static enum sight ask_for(const struct deadline_text *deadline)
{
	struct stat status;

	if (!is_of_our_namespace(deadline))
		return UNSEEN;
	if (call_filter_may_be_there())
		return stat("/proc/1", &status) == 0 ? GONE : UNSEEN;
	return kill((pid_t)deadline->launcher_pid, 0) == 0 || errno != ESRCH ? LIVES : GONE;
}

static enum sight look_for(const struct deadline_text *deadline)
{
	struct proc_stat seen;

	if (!proc_find(deadline->launcher_pid, &seen)) {
		/* No descriptor is free at the moment. */
		if (errno == EMFILE || errno == ENFILE)
			return LIVES;
		return ask_for(deadline);
	}
	/* A zombie is gone; only its parent hasn't noticed. */
	if (seen.start_ticks == deadline->launcher_start)
		return seen.state == 'Z' || seen.state == 'X' ? GONE : LIVES;
	return is_of_our_namespace(deadline) ? GONE : UNSEEN;
}

bool launcher_is_of_this_boot(const struct deadline_text *deadline)
{
	char own[BOOT_ID_BYTES + 1];

	return strcmp(deadline->boot_id, BOOT_ID_UNKNOWN) == 0 || !boot_id_read(own) ||
	       strcmp(deadline->boot_id, own) == 0;
}

bool launcher_holds(const struct deadline_text *deadline, int64_t now_ms)
{
	switch (look_for(deadline)) {
	case LIVES:
		return true;
	case GONE:
		return false;
	case UNSEEN:
		break;
	}
	return now_ms - UNSEEN_MS < deadline->deadline_ms;
}

bool launcher_be(struct deadline_text *deadline)
{
	struct proc_stat own;

	deadline->launcher_pid = getpid();
	if (!proc_find(deadline->launcher_pid, &own))
		return false;
	deadline->launcher_start = own.start_ticks;
	deadline->pid_namespace = own_namespace();
	if (!boot_id_read(deadline->boot_id))
		strcpy(deadline->boot_id, BOOT_ID_UNKNOWN);
	return true;
}

/* Within what a deadline can be. */
static int64_t add_ms(int64_t deadline_ms, int64_t added_ms)
{
	if (added_ms > 0 && deadline_ms > INT64_MAX - added_ms)
		return INT64_MAX;
	return deadline_ms + added_ms > 0 ? deadline_ms + added_ms : 0;
}

void launcher_take_over(struct deadline_text *deadline)
{
	const struct time_offsets ahead = time_namespace_offsets();

	deadline->deadline_ms = add_ms(deadline->deadline_ms, ahead.monotonic_ms);
	deadline->launcher_start += (uint64_t)ahead.boottime_ticks;
}

void launcher_hand_down(struct deadline_text *deadline)
{
	const struct time_offsets ahead = time_namespace_offsets();

	deadline->deadline_ms = add_ms(deadline->deadline_ms, -ahead.monotonic_ms);
	deadline->launcher_start -= (uint64_t)ahead.boottime_ticks;
}
