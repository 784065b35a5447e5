/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_JOURNAL_H
#define TENACURL_INTERPOSE_JOURNAL_H

/*
 * What the interposer tells the log: which operations are worth a record, and what goes into it.
 */

#include "interpose/operation.h"

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

/*
 * One line about tenacurl itself (the state file can't be made): to the log that the rules name, else to syslog.
 * Returns whether it got there. errno is kept.
 */
bool journal_tell(const struct policy_rules *rules, const char *text);

/*
 * One line about tenacurl itself (a policy that can't be loaded, a libcurl that can't be found): to the log that
 * TENACURL_LOG names, else to syslog. Never to the program's streams unless TENACURL_LOG says stderr. Returns whether
 * it got there. errno is kept.
 */
bool journal_complain(const char *text);

#endif
