/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <stdlib.h>

#include "config/load.h"
#include "interpose/host/draft.h"
#include "interpose/host/process.h"
#include "interpose/host/tell.h"

static bool note_in_log(const struct policy_rules *rules, const char *text)
{
	struct draft *draft = draft_new(RECORD_NOTE);
	if (!draft)
		return false;
	draft_fill_process(&draft->record);
	draft->record.note = text;
	bool written = draft_write(draft, rules);
	free(draft);
	return written;
}

bool tell_log(const struct policy_rules *rules, const char *text)
{
	int saved_errno = errno;
	bool told = rules->log != POLICY_LOG_NONE ? note_in_log(rules, text) : draft_note_in_syslog(text);
	errno = saved_errno;
	return told;
}

bool tell_complaint(const char *text)
{
	/* Not the policy's log: the policy may be what is broken. */
	int saved_errno = errno;
	const char *named = process_environment()->log;
	struct policy_error error;
	struct policy *policy = named[0] ? policy_copy(policy_builtin()) : NULL;
	bool has_log = policy && policy_override(policy, "log", named, &error);
	bool told = tell_log(has_log ? &policy->sections[0].rules : &policy_builtin()->sections[0].rules, text);
	policy_free(policy);
	errno = saved_errno;
	return told;
}
