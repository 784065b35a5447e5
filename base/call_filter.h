/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_CALL_FILTER_H
#define TENACURL_BASE_CALL_FILTER_H

/*
 * System call filters (seccomp(2); SystemCallFilter= of systemd, containers, firejail). One may end the process for a
 * call that it doesn't know, and there is no way to ask: it can only be avoided to make the call. What the dynamic
 * linker and any transfer need, and what stands in one list of systemd with those (docs/interposing.md, "What we ask of
 * the kernel"), is safe; the rest may be called only where no filter is.
 */

#include <stdatomic.h>
#include <stdbool.h>

enum call_filter { CALL_FILTER_UNKNOWN, CALL_FILTER_NONE, CALL_FILTER_POSSIBLE };

/* What was found out: for call_filter_may_be_there() alone. */
extern _Atomic int call_filter_known;
bool call_filter_find_out(void);

/*
 * Whether system calls of this process may be filtered: so, or it can't be found out (no /proc). Found out once, by the
 * calling thread; filters are inherited by children and never go away. Any thread, async-signal-safe; errno is kept.
 */
static inline bool call_filter_may_be_there(void)
{
	int known = atomic_load_explicit(&call_filter_known, memory_order_relaxed);
	return known != CALL_FILTER_NONE && (known == CALL_FILTER_POSSIBLE || call_filter_find_out());
}

#endif
