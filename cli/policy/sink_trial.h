/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_POLICY_SINK_TRIAL_H
#define TENACURL_CLI_POLICY_SINK_TRIAL_H

/*
 * Whether a policy's log could be written now. Nothing is written, and no log is made: a file that root made in trying
 * would keep others from it. A quota isn't seen.
 */

#include <pwd.h>
#include <stdbool.h>

#include "config/policy.h"

struct sink_trouble {
	bool is_of_file;
	char text[1280]; /* for people: "/var/log/x.jsonl: Permission denied" */
};

/*
 * Tries the sink of `rules` with the rights of this process's effective user. Returns false with `trouble` filled if a
 * record would be lost. `none` takes all.
 */
bool sink_try(const struct policy_rules *rules, struct sink_trouble *trouble);

/*
 * Likewise with the rights of another user, which is root's to have. `stderr` isn't tried: it is another one there.
 */
bool sink_try_as(const struct passwd *user, const struct policy_rules *rules, struct sink_trouble *trouble);

/* Whether a program that has this policy would write a log at all. Pure. */
bool sink_is_wanted(const struct policy *policy);

#endif
