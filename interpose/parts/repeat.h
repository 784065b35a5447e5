/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_REPEAT_H
#define TENACURL_INTERPOSE_REPEAT_H

/*
 * Whether a further attempt would ask for what the first one asked for. libcurl makes each perform's request from the
 * handle as it is then, and two can have changed it meanwhile: the program, in any of its callbacks; and libcurl, which
 * keeps some of what a redirect led to.
 */

#include <stdbool.h>
#include <stdint.h>

#include "interpose/handle/handle.h"

/* Lives in struct operation; zero at its begin. */
struct repeat {
	bool set_meanwhile; /* the program set an option that shapes the request, or reset the handle */
	bool has_memory;
	uint64_t memory_hash; /* of what libcurl reads from the program's memory at each perform */
};

/* An operation begins. With a progress callback its request's memory is hashed: up to half a millisecond for a MiB. */
void repeat_begin(struct repeat *repeat, const struct handle *handle);

/* The program has set this option while the operation runs. */
void repeat_note_option(struct repeat *repeat, CURLoption option);

/* An attempt is over: notes what libcurl keeps of it. */
void repeat_note_attempt(struct handle *handle);

/*
 * Whether a repeat would ask for something else, as far as the program is concerned: for the verdict, and once more
 * when its wait is over. Calls libcurl for a URL handle.
 */
bool repeat_is_changed(struct repeat *repeat, const struct handle *handle);

/* Whether libcurl has kept something of the attempt at hand, of so many hops, that can't be taken from it. */
bool repeat_is_tainted(const struct handle *handle, int hops);

/* Before a further attempt: takes from libcurl what it kept of the one before, in which a hop may have `made_get`. */
void repeat_prepare(struct handle *handle, bool made_get);

#endif
