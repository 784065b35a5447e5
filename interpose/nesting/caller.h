/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_CALLER_H
#define TENACURL_INTERPOSE_CALLER_H

/* Who makes an operation's call: from where in the program, and which processes started that. */

#include <stdbool.h>

#include "config/policy.h"
#include "interpose/handle/handle.h"
#include "interpose/nesting/call_site.h"
#include "interpose/nesting/family.h"

struct caller {
	const struct handle *handle;
	const struct policy_rules *rules;
	bool site_is_known;
	struct call_site site; /* caller_know_site() */
	struct family family;
};

/* Makes its site known. */
void caller_know_site(struct caller *caller);

#endif
