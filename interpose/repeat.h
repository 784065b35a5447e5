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

#include "interpose/curl_abi.h"

struct handle;
struct operation;

/* Lives in struct operation; zero at its begin. */
struct repeat {
	bool set_meanwhile; /* the program set an option that shapes the request, or reset the handle */
	bool has_memory;
	uint64_t memory_hash; /* of what libcurl reads from the program's memory at each perform */
};

/* An operation begins. With a progress callback its request's memory is hashed: up to half a millisecond for a MiB. */
void repeat_begin(struct operation *operation);

/* The program has set this option while the handle's operation runs. */
void repeat_note_option(struct handle *handle, CURLoption option);

/* An attempt is over: notes what libcurl keeps of it. */
void repeat_note_attempt(const struct operation *operation);

/*
 * Whether a repeat would ask for something else, as far as the program is concerned: for the verdict, and once more
 * when its wait is over. Calls libcurl for a URL handle.
 */
bool repeat_is_changed(struct operation *operation);

/* Whether libcurl has kept something of the attempt at hand that can't be taken from it. */
bool repeat_is_tainted(const struct operation *operation);

/* Before a further attempt: takes from libcurl what it kept of the one before. */
void repeat_prepare(struct operation *operation);

#endif
