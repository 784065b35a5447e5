/* SPDX-License-Identifier: MIT */

/*
 * iniparser (whose 4.1 keeps 6 KiB of lines on the stack) is called once in a process, and where there is room for it
 * it runs where anything else does. Another stack is for those programs that would crash
 * otherwise. It is a detour for the processor only: the thread, its thread-local storage and its locks stay what they
 * are.
 */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include "interpose/host/large_stack.h"

#define ROOM_BYTES       (64 * 1024)
#define STACK_BYTES      (256 * 1024)
#define MAIN_STACK_BYTES ((uintptr_t)64 * 1024 * 1024) /* as far as we look for it */

/* What musl lacks is weak: a musl program that inherits the preload must still start. */
extern int getcontext(ucontext_t *context) __attribute__((weak));
extern void makecontext(ucontext_t *context, void (*function)(void), int count, ...) __attribute__((weak));
extern int swapcontext(ucontext_t *from, const ucontext_t *to) __attribute__((weak));
extern int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes) __attribute__((weak));

/* At the low end of the mapping, beyond a page that can't be touched: two contexts are 2 KiB, too much for here. */
struct detour {
	ucontext_t way_back;
	ucontext_t way_there;
};

/*
 * Whether this is the main thread's stack, and can grow enough. The kernel puts random bytes above its first frame, and
 * maps nothing else for 128 MiB below them; what pthread_getattr_np() does is to read all of /proc/self/maps.
 */
static bool can_main_stack_grow(uintptr_t here)
{
	uintptr_t top = (uintptr_t)getauxval(AT_RANDOM);
	struct rlimit limit;
	if (here >= top || top - here >= MAIN_STACK_BYTES || getrlimit(RLIMIT_STACK, &limit) != 0)
		return false;
	return limit.rlim_cur >= top - here + ROOM_BYTES;
}

/* Whether this stack is the thread's own, and long enough. */
static bool has_room(void)
{
	/* Not a variable's address, which a sanitizer may keep elsewhere. */
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	pthread_attr_t attributes;
	void *low;
	size_t bytes;
	if (can_main_stack_grow(here))
		return true;
	if (!pthread_getattr_np || pthread_getattr_np(pthread_self(), &attributes) != 0)
		return false;
	bool known = pthread_attr_getstack(&attributes, &low, &bytes) == 0;
	pthread_attr_destroy(&attributes);
	return known && here - (uintptr_t)low < bytes && here - (uintptr_t)low >= ROOM_BYTES;
}

/* Blocks all signals but those that a fault of the function itself raises: a crash reporter is to see them. */
static bool hold_up_signals(sigset_t *saved)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
	sigset_t most;
	sigfillset(&most);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&most, faults[i]);
	return pthread_sigmask(SIG_BLOCK, &most, saved) == 0;
}

static bool take_detour(void *area, size_t page_bytes, void (*function)(void))
{
	struct detour *detour = area;
	char *low = (char *)area + page_bytes;
	if (getcontext(&detour->way_there) != 0 || mprotect(low, page_bytes, PROT_NONE) != 0)
		return false;
	detour->way_there.uc_stack.ss_sp = low + page_bytes;
	detour->way_there.uc_stack.ss_size = STACK_BYTES - 2 * page_bytes;
	detour->way_there.uc_link = &detour->way_back;
	makecontext(&detour->way_there, function, 0);
	return swapcontext(&detour->way_back, &detour->way_there) == 0;
}

bool large_stack_call(void (*function)(void))
{
	int saved_errno = errno;
	if (has_room()) {
		errno = saved_errno;
		function();
		return true;
	}

	size_t page_bytes = (size_t)getauxval(AT_PAGESZ);
	bool called = false;
	sigset_t saved;
	void *area = MAP_FAILED;
	if (getcontext && makecontext && swapcontext && 2 * page_bytes < STACK_BYTES)
		area = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (area != MAP_FAILED) {
		if (hold_up_signals(&saved)) {
			called = take_detour(area, page_bytes, function);
			pthread_sigmask(SIG_SETMASK, &saved, NULL);
		}
		munmap(area, STACK_BYTES);
	}
	errno = saved_errno;
	return called;
}
