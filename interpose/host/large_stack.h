/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_LARGE_STACK_H
#define TENACURL_INTERPOSE_LARGE_STACK_H

/*
 * Calls a function that needs more stack than a small thread has: one with PTHREAD_STACK_MIN (16 KiB) has 800 bytes
 * more than libcurl uses, or a fiber whatever its program gave it.
 */

#include <stdbool.h>

/*
 * Calls function(), on this thread's own stack if at least 64 KiB of it are known to be left, else on one that is
 * mapped for the call. Asynchronous signals are held up meanwhile in the second case: their handlers may jump away. The
 * function must return, by no other way.
 *
 * Returns false, and calls nothing, if no other stack can be had (no memory, a C library without makecontext). errno is
 * kept. Any thread; not async-signal-safe.
 */
bool large_stack_call(void (*function)(void));

#endif
