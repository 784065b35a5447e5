/* SPDX-License-Identifier: MIT */
#include "log/quiet.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

void quiet_begin(struct quiet_stretch *stretch)
{
	stretch->saved_errno = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &stretch->cancel_state);

	sigset_t ours, pending;
	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	sigaddset(&ours, SIGTTOU);
	sigemptyset(&pending);
	/* One that was pending before us is the program's, and a second one of a kind is not queued: leave it. */
	sigpending(&pending);
	stretch->sigpipe_was_pending = sigismember(&pending, SIGPIPE) == 1;
	stretch->sigxfsz_was_pending = sigismember(&pending, SIGXFSZ) == 1;
	stretch->masked = pthread_sigmask(SIG_BLOCK, &ours, &stretch->saved_mask) == 0;
}

static void consume_pending(int signal_number)
{
	static const struct timespec AT_ONCE = {0, 0};
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, signal_number);
	while (sigtimedwait(&one, NULL, &AT_ONCE) < 0 && errno == EINTR)
		;
}

void quiet_end(const struct quiet_stretch *stretch, int write_errno)
{
	if (write_errno == EPIPE && stretch->masked && !stretch->sigpipe_was_pending)
		consume_pending(SIGPIPE);
	if (write_errno == EFBIG && stretch->masked && !stretch->sigxfsz_was_pending)
		consume_pending(SIGXFSZ);
	if (stretch->masked)
		pthread_sigmask(SIG_SETMASK, &stretch->saved_mask, NULL);

	int ignored;
	pthread_setcancelstate(stretch->cancel_state, &ignored);
	errno = stretch->saved_errno;
}
