/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_SLEEP_H
#define TENACURL_INTERPOSE_SLEEP_H

/*
 * Sleeping in a foreign process, whose sandbox may refuse the calls for it, or answer them without having slept. The
 * clock says whether the time has passed, never a call's result.
 */

#include <stdbool.h>
#include <stdint.h>

/*
 * Sleeps until the instant due_ms of clock_ms(), never less, whatever signals arrive. Returns false if this process
 * can't sleep until then: no call does what it is asked for; then a bounded number of them was made. errno isn't kept.
 * A cancellation point.
 */
bool sleep_until(int64_t due_ms);

/* Whether every call that sleeps is refused to this process. At once; errno isn't kept. */
bool sleep_is_refused(void);

#endif
