/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_ADMIT_H
#define TENACURL_INTERPOSE_ADMIT_H

/* Whether an operation may make its first attempt; one that may not fails without a request. */

#include <stdbool.h>

#include "interpose/record/operation.h"

/*
 * Asks the course (engine/course.h), and whether the operation is a repeat that we own. May read the body ahead and
 * wait, and so call the program, which may end the operation. Returns false if no attempt is to be made; *result is
 * then what the program gets.
 */
bool admit_operation(struct operation *operation, CURLcode *result);

/* The program cancelled the operation while no transfer ran, after so long a wait. Returns what it gets. */
CURLcode admit_cancel(struct operation *operation, int64_t waited_ms);

#endif
