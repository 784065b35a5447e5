/* SPDX-License-Identifier: MIT */

#include <stdatomic.h>
#include <stdint.h>

#include "base/call_filter.h"
#include "base/clock.h"
#include "interpose/host/host_state.h"
#include "interpose/host/process.h"

#define LOOK_EVERY_MS 1000

static struct state state;
static _Atomic bool is_open;
static _Atomic int64_t next_look_ms;

static struct state_request request_of(const struct policy_rules *rules)
{
	const char *named = process_environment()->state;
	return (struct state_request){
	    .scope = rules->state == POLICY_STATE_USER ? STATE_SCOPE_USER : STATE_SCOPE_PROCESS,
	    .directory = named[0] ? named : rules->state_dir,
	};
}

static bool open_now(const struct policy_rules *rules, struct state_outcome *outcome)
{
	const struct state_request request = request_of(rules);
	state_open(&request, &state, outcome);
	atomic_store(&next_look_ms, clock_ms() + LOOK_EVERY_MS);
	bool is_first = !atomic_exchange(&is_open, true);
	return is_first && outcome->trouble != STATE_NO_TROUBLE;
}

/*
 * Whoever comes while another thread is at it does it as well, and whose mapping is ready first has it for all. To wait
 * would take a lock, which a fork could leave held for ever; and what goes on without the state takes a retry that is
 * somebody else's.
 */
bool host_state_open(const struct policy_rules *rules, struct state_outcome *outcome)
{
	return !atomic_load_explicit(&is_open, memory_order_acquire) && open_now(rules, outcome);
}

/* What the kernel does for a child, but where it may not be asked to. */
void host_state_begin_anew_in_child(void)
{
	static _Atomic uint32_t owner; /* the generation whose own state it is */
	if (!call_filter_may_be_there())
		return;
	uint32_t mine = process_generation(), seen = atomic_load_explicit(&owner, memory_order_relaxed);
	if (seen != mine && atomic_compare_exchange_strong(&owner, &seen, mine) && seen != 0)
		state_empty_own(&state);
}

void host_state_refresh(const struct policy *policy)
{
	const struct policy_rules *rules = &policy->sections[0].rules;
	int64_t now_ms = clock_ms(), due_ms = atomic_load_explicit(&next_look_ms, memory_order_relaxed);
	if (now_ms < due_ms || rules->state != POLICY_STATE_USER ||
	    !atomic_compare_exchange_strong(&next_look_ms, &due_ms, now_ms + LOOK_EVERY_MS))
		return;
	const struct state_request request = request_of(rules);
	state_open_again(&request, &state);
}

struct state *host_state(void)
{
	return &state;
}

void host_state_record(const struct state_flight *flight)
{
	state_record_flight(&state, flight);
}
