/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_JOURNAL_H
#define TENACURL_INTERPOSE_JOURNAL_H

/*
 * What the interposer tells the log: which operations are worth a record, and what goes into it.
 */

#include "interpose/record/operation.h"

/*
 * Whether an attempt would be recorded even if it succeeded: then the fields of its response are read although nothing
 * else depends on them. Pure.
 */
bool journal_wants_success(const struct operation *operation);

/* Records the attempt that was judged last, if the policy logs it. errno is kept. */
void journal_attempt(struct operation *operation, CURLcode result);

/* Records the operation when it is over, if the policy logs it. errno is kept. */
void journal_operation(struct operation *operation, CURLcode result);

/* Records that an outer layer came back with what failed before, if there is a log. errno is kept. */
void journal_return(struct operation *operation);

#endif
