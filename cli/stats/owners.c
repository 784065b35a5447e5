/* SPDX-License-Identifier: MIT */
#include "cli/stats/owners.h"

#include <stdlib.h>
#include <string.h>

#include "cli/say/monotonic.h"
#include "engine/engine.h"

/* Instants of a file can be anything. */
static int64_t difference_ms(int64_t later_ms, int64_t earlier_ms)
{
	return (int64_t)((uint64_t)later_ms - (uint64_t)earlier_ms);
}

static void fill_caller(struct owners_caller *caller, size_t user, const struct state_learned *learned, int64_t now_ms)
{
	bool is_expected = learned->promised_ms != 0;
	*caller = (struct owners_caller){
	    .user = user,
	    .learned = *learned,
	    .age_ms = difference_ms(now_ms, learned->learned_ms),
	    .expires_in_ms = difference_ms(learned->expires_ms, now_ms),
	    .promised_ms = is_expected ? difference_ms(now_ms, learned->promised_ms) : -1,
	};
}

bool owners_gather(void *context, const struct user_state *user)
{
	static struct state_learned learned[STATE_LEARNED];
	struct owners *owners = context;
	int64_t now_ms = monotonic_ms();
	struct owners_caller *callers =
	    reallocarray(owners->callers, owners->caller_count + STATE_LEARNED, sizeof(*callers));
	if (!callers)
		return false;
	owners->callers = callers;
	if (!stats_gather(&owners->stats, user))
		return false;
	size_t count = state_snapshot_learned(user->snapshot, now_ms, learned);
	for (size_t i = 0; i < count; i++)
		fill_caller(&callers[owners->caller_count++], owners->stats.user_count - 1, &learned[i], now_ms);
	return true;
}

static int compare_callers(const void *left, const void *right)
{
	const struct owners_caller *a = left, *b = right;
	int order = (a->user > b->user) - (a->user < b->user);
	if (order == 0)
		order = strcmp(a->learned.program, b->learned.program);
	if (order == 0)
		order = strcmp(a->learned.origin, b->learned.origin);
	return order ? order : strcmp(a->learned.caller, b->learned.caller);
}

void owners_arrange(struct owners *owners)
{
	stats_arrange(&owners->stats);
	if (owners->caller_count)
		qsort(owners->callers, owners->caller_count, sizeof(*owners->callers), compare_callers);
}

void owners_free(struct owners *owners)
{
	stats_free(&owners->stats);
	free(owners->callers);
	*owners = (struct owners){0};
}

uint64_t owners_refused(const struct stats_row *row)
{
	return row->view.events[STATE_EVENT_NESTED_REFUSED];
}

/* The two are counted one after the other: of an operation that was just counted one may be missing. */
uint64_t owners_left(const struct stats_row *row)
{
	uint64_t stops = row->view.stops[ENGINE_NESTED], refused = owners_refused(row);
	return stops > refused ? stops - refused : 0;
}
