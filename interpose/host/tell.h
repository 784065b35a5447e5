/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_TELL_H
#define TENACURL_INTERPOSE_TELL_H

/* What tenacurl has to say of itself, once where nobody would see it otherwise. */

#include <stdbool.h>

#include "config/policy.h"

/*
 * One line about tenacurl itself (the state file can't be made): to the log that the rules name, else to syslog.
 * Returns whether it got there. errno is kept.
 */
bool tell_log(const struct policy_rules *rules, const char *text);

/*
 * One line about tenacurl itself (a policy that can't be loaded, a libcurl that can't be found): to the log that
 * TENACURL_LOG names, else to syslog. Never to the program's streams unless TENACURL_LOG says stderr. Returns whether
 * it got there. errno is kept.
 */
bool tell_complaint(const char *text);

#endif
