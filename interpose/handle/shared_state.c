/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include "interpose/handle/shared_state.h"
#include "interpose/host/host_state.h"
#include "interpose/host/tell.h"
#include "log/record.h"
#include "state/sizes.h"

#define NOTE_BYTES 320

void shared_state_origin(const struct handle *handle, char *out, size_t out_bytes)
{
	struct url url;
	bool is_read = handle_read_url(handle, &url);
	record_redact_url(is_read ? &url : NULL, POLICY_LOG_URL_ORIGIN, out, out_bytes);
}

void shared_state_section(const struct policy_section *section, char out[static SHARED_STATE_SECTION_BYTES])
{
	bool is_audited = section->rules.mode == POLICY_MODE_AUDIT;
	snprintf(out, SHARED_STATE_SECTION_BYTES, "%s%s", section->name, is_audited ? " (audit)" : "");
}

static const char *consequence_of(const struct state_outcome *outcome)
{
	if (!outcome->shared)
		return "this process shares no retry budget and no circuit breaker with others";
	return outcome->trouble == STATE_FOREIGN_DIRECTORY ? "the state is in /dev/shm instead"
	                                                   : "replaced by a fresh one";
}

static void tell_trouble(const struct state_outcome *outcome, const struct policy_rules *rules)
{
	char text[NOTE_BYTES], reason[32] = "";
	if (outcome->os_errno != 0)
		snprintf(reason, sizeof(reason), " (errno %d)", outcome->os_errno);
	snprintf(text, sizeof(text), "%s: %s%s: %s", outcome->path[0] ? outcome->path : "state",
	         state_trouble_text(outcome->trouble), reason, consequence_of(outcome));
	tell_log(rules, text);
}

static void open_host_state(const struct policy_rules *rules)
{
	struct state_outcome outcome;
	if (host_state_open(rules, &outcome))
		tell_trouble(&outcome, rules);
}

static struct state_entry *find_entry(const struct handle *handle, const struct policy_section *section)
{
	char origin[STATE_ORIGIN_BYTES], name[SHARED_STATE_SECTION_BYTES];
	shared_state_origin(handle, origin, sizeof(origin));
	shared_state_section(section, name);
	return state_find_entry(host_state(), origin, name);
}

static void take_entry(struct handle *handle)
{
	struct state_entry *entry = find_entry(handle, handle->shared_section);
	handle->shared_key = state_entry_key(entry);
	handle->shared_entry = entry;
}

void shared_state_find(struct handle *handle, const struct policy *policy, const struct policy_section *section)
{
	const struct policy_rules *rules = &policy->sections[0].rules;
	host_state_begin_anew_in_child();
	handle->shared_section = section;
	if (handle->shared_entry && state_entry_holds(handle->shared_entry, handle->shared_key))
		return;
	int saved_errno = errno;
	handle->shared_entry = NULL;
	if (rules->state != POLICY_STATE_NONE) {
		open_host_state(rules);
		take_entry(handle);
	}
	errno = saved_errno;
}

/* Not inlined: every success asks for its entry, and nearly none loses it. */
__attribute__((noinline)) struct state_entry *shared_state_look_again(struct handle *handle)
{
	int saved_errno = errno;
	take_entry(handle);
	errno = saved_errno;
	return handle->shared_entry;
}
