/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_PROGRAM_BODY_H
#define TENACURL_INTERPOSE_PROGRAM_BODY_H

/* What is known of a body that the program's own callback gives, or its FILE*. */

#include <stdbool.h>
#include <stdint.h>

#include "interpose/handle/handle.h"

/* How many bytes it will have, as the program said; -1: it didn't. */
int64_t program_body_announced_bytes(const struct program_options *program);

/* Whether the program has a way to rewind what its read callback gives. */
bool program_body_can_be_rewound(const struct program_options *program);

/* Whether the next request's body is one that its read callback gives and that it can rewind. */
bool program_body_is_rewound(const struct handle *handle);

/* Whether its stream gave all of it since the last rewind. */
bool program_body_has_ended(const struct handle *handle);

/* What that was known by, if it was all; 0: it wasn't, or nobody knows where it began. */
uint64_t program_body_key(const struct handle *handle);

#endif
