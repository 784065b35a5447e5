/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_RUN_TALLY_H
#define TENACURL_INTERPOSE_RUN_TALLY_H

/* What a `tenacurl run --summary` around this process learns of its operations (state/run_page.h). */

#include "interpose/record/operation.h"

/*
 * Counts the operation, which is over. Without such a run nothing happens; in one the first call of a process makes
 * system calls. errno is kept.
 */
void run_tally_operation(const struct operation *operation, CURLcode result);

#endif
