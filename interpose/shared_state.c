/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "base/call_filter.h"
#include "interpose/clock.h"
#include "interpose/journal.h"
#include "interpose/process.h"
#include "interpose/shared_state.h"
#include "log/record.h"
#include "state/sizes.h"

#define NOTE_BYTES 320

static struct state state;

static _Atomic bool is_open;

#define LOOK_EVERY_MS 1000
static _Atomic int64_t next_look_ms;

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
	journal_tell(rules, text);
}

static struct state_request request_of(const struct policy_rules *rules)
{
	const char *named = process_environment()->state;
	return (struct state_request){
	    .scope = rules->state == POLICY_STATE_USER ? STATE_SCOPE_USER : STATE_SCOPE_PROCESS,
	    .directory = named[0] ? named : rules->state_dir,
	};
}

static void open_state(const struct policy_rules *rules)
{
	const struct state_request request = request_of(rules);
	struct state_outcome outcome;
	state_open(&request, &state, &outcome);
	atomic_store(&next_look_ms, clock_ms() + LOOK_EVERY_MS);
	bool is_first = !atomic_exchange(&is_open, true);
	if (is_first && outcome.trouble != STATE_NO_TROUBLE)
		tell_trouble(&outcome, rules);
}

/*
 * Whoever comes while another thread is at it does it as well, and whose mapping is ready first has it for all. To wait
 * would take a lock, which a fork could leave held for ever; and what goes on without the state takes a retry that is
 * somebody else's.
 */
static void open_once(const struct policy_rules *rules)
{
	if (!atomic_load_explicit(&is_open, memory_order_acquire))
		open_state(rules);
}

/* What the kernel does for a child, but where it may not be asked to. */
static void begin_anew_in_child(void)
{
	static _Atomic uint32_t owner; /* the generation whose own state it is */
	if (!call_filter_may_be_there())
		return;
	uint32_t mine = process_generation(), seen = atomic_load_explicit(&owner, memory_order_relaxed);
	if (seen != mine && atomic_compare_exchange_strong(&owner, &seen, mine) && seen != 0)
		state_empty_own(&state);
}

static struct state_entry *find_entry(const struct handle *handle, const struct policy_section *section)
{
	char origin[STATE_ORIGIN_BYTES], name[SHARED_STATE_SECTION_BYTES];
	shared_state_origin(handle, origin, sizeof(origin));
	shared_state_section(section, name);
	return state_find_entry(&state, origin, name);
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
	begin_anew_in_child();
	handle->shared_section = section;
	if (handle->shared_entry && state_entry_holds(handle->shared_entry, handle->shared_key))
		return;
	int saved_errno = errno;
	handle->shared_entry = NULL;
	if (rules->state != POLICY_STATE_NONE) {
		open_once(rules);
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

void shared_state_refresh(const struct policy *policy)
{
	const struct policy_rules *rules = &policy->sections[0].rules;
	int64_t now_ms = clock_ms(), due_ms = atomic_load_explicit(&next_look_ms, memory_order_relaxed);
	if (now_ms < due_ms || rules->state != POLICY_STATE_USER ||
	    !atomic_compare_exchange_strong(&next_look_ms, &due_ms, now_ms + LOOK_EVERY_MS))
		return;
	const struct state_request request = request_of(rules);
	state_open_again(&request, &state);
}

struct state *shared_state_whole(void)
{
	return &state;
}

void shared_state_record(const struct state_flight *flight)
{
	state_record_flight(&state, flight);
}
