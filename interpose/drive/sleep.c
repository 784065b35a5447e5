/* SPDX-License-Identifier: MIT */

/*
 * Seccomp filters know the calls that their authors' programs made, and a program that only transfers has no use for
 * clock_nanosleep. What they answer is any errno, or 0, which looks like a sleep. poll is what libcurl itself waits
 * with: where that is refused, too, there is hardly a transfer to be retried.
 */

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <sys/select.h>
#include <time.h>

#include "base/clock.h"
#include "interpose/drive/sleep.h"

/* Signals may interrupt a sleep that often; more is a sandbox that answers EINTR. */
#define INTERRUPTIONS_MAX    1000
#define INTERRUPTIONS_PER_MS 10
/* The kernel's timers and the clock that programs read needn't agree to the microsecond. */
#define CLOCKS_DIFFER_MS 2

static struct timespec timespec_of(int64_t ms)
{
	return (struct timespec){.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};
}

static int errno_of(int result)
{
	return result < 0 ? errno : 0;
}

/* An absolute time: no matter when this thread comes to run, the wait ends when it should. */
static int sleep_by_clock(int64_t due_ms, int64_t left_ms)
{
	const struct timespec instant = timespec_of(due_ms);

	(void)left_ms;
	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &instant, NULL);
}

static int sleep_by_poll(int64_t due_ms, int64_t left_ms)
{
	(void)due_ms;
	return errno_of(poll(NULL, 0, left_ms < INT_MAX ? (int)left_ms : INT_MAX));
}

static int sleep_by_ppoll(int64_t due_ms, int64_t left_ms)
{
	const struct timespec left = timespec_of(left_ms);

	(void)due_ms;
	return errno_of(ppoll(NULL, 0, &left, NULL));
}

static int sleep_by_select(int64_t due_ms, int64_t left_ms)
{
	const struct timespec left = timespec_of(left_ms);

	(void)due_ms;
	return errno_of(pselect(0, NULL, NULL, NULL, &left, NULL));
}

/* Sleeps once. Returns 0, or the errno of a sleep that was refused or interrupted. */
typedef int sleep_function(int64_t due_ms, int64_t left_ms);

static sleep_function *const ways[] = {sleep_by_clock, sleep_by_poll, sleep_by_ppoll, sleep_by_select};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* Returns false if this way turns out to be none. */
static bool sleep_this_way(sleep_function *way, int64_t due_ms)
{
	int64_t begin_ms = clock_ms(), now_ms = begin_ms;

	for (int64_t calls = 0; now_ms < due_ms; calls++) {
		if (calls > INTERRUPTIONS_MAX + (now_ms - begin_ms) * INTERRUPTIONS_PER_MS)
			return false;
		int trouble = way(due_ms, due_ms - now_ms);
		now_ms = clock_ms();
		if (trouble != EINTR && (trouble != 0 || now_ms < due_ms - CLOCKS_DIFFER_MS))
			return now_ms >= due_ms;
	}
	return true;
}

bool sleep_until(int64_t due_ms)
{
	for (size_t i = 0; i < WAYS; i++)
		if (sleep_this_way(ways[i], due_ms))
			return true;
	return false;
}

bool sleep_is_refused(void)
{
	for (size_t i = 0; i < WAYS; i++) {
		int trouble = ways[i](0, 0);
		if (trouble == 0 || trouble == EINTR)
			return false;
	}
	return true;
}
