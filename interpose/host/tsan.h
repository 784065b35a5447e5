/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_TSAN_H
#define TENACURL_INTERPOSE_TSAN_H

/*
 * ThreadSanitizer in a program sees what libc's functions do with our memory, but not our atomics, which it didn't
 * instrument. Its runtime must be told of them, or it reports races that there are none. Nothing without one.
 */

extern void __tsan_release(void *address) __attribute__((weak));
extern void __tsan_acquire(void *address) __attribute__((weak));

/* Before what is at `address` becomes another thread's. */
static inline void tsan_release(void *address)
{
	if (__tsan_release)
		__tsan_release(address);
}

/* After it became this thread's. */
static inline void tsan_acquire(void *address)
{
	if (__tsan_acquire)
		__tsan_acquire(address);
}

#endif
