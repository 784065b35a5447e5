/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_ADMIT_H
#define TENACURL_INTERPOSE_ADMIT_H

/* Whether an operation may make its first attempt; one that may not fails without a request. */

#include <stdbool.h>

#include "interpose/operation.h"

/*
 * Asks the policy's own rules for attempt 1. May read the body ahead and wait, and so call the program, which may end
 * the operation. Returns false if no attempt is to be made; *result is then what the program gets.
 */
bool admit_operation(struct operation *operation, CURLcode *result);

/* The deadline was spent before the first attempt. Returns what the program gets. */
CURLcode admit_refuse_for_deadline(struct operation *operation);

/* The program cancelled the operation while no transfer ran, after so long a wait. Returns what it gets. */
CURLcode admit_cancel(struct operation *operation, int64_t waited_ms);

#endif
