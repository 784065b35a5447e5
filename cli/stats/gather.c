/* SPDX-License-Identifier: MIT */
#include "cli/stats/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/stats/last_running.h"
#include "engine/breaker.h"
#include "engine/budget.h"
#include "engine/engine.h"

#define COUNTERS_OFFSET offsetof(struct state_view, operations)
#define COUNTERS_BYTES  (sizeof(struct state_view) - COUNTERS_OFFSET)

static const struct policy_rules *rules_of(const struct policy *policy, const char *section)
{
	for (size_t i = 0; policy && i < policy->section_count; i++)
		if (strcmp(policy->sections[i].name, section) == 0)
			return &policy->sections[i].rules;
	return NULL;
}

static enum stats_breaker look_at_breaker(uint64_t word, const struct policy_rules *rules, int64_t now_ms)
{
	static const enum stats_breaker names[] = {[BREAKER_CLOSED] = STATS_BREAKER_CLOSED,
	                                           [BREAKER_PROBE] = STATS_BREAKER_HALF_OPEN,
	                                           [BREAKER_OPEN] = STATS_BREAKER_OPEN};
	if (rules->breaker == POLICY_BREAKER_OFF)
		return STATS_BREAKER_OFF;
	return names[breaker_look(word, rules, now_ms)];
}

static void fill_row(struct stats_row *row, const struct policy *policy, int64_t now_ms)
{
	const struct state_view *view = &row->view;
	const struct policy_rules *rules = rules_of(policy, view->section);
	for (size_t i = 0; i < STATE_CLASSES_MAX; i++)
		row->retries += view->retries[i];
	if (!rules)
		return;
	row->breaker = look_at_breaker(view->breaker[0], rules, now_ms);
	row->breaker_age_ms = breaker_age_ms(view->breaker[0], rules, now_ms);
	row->tokens_max = rules->budget_tokens;
	if (row->tokens_max > 0)
		row->millitokens = budget_millitokens(view->budget, rules, now_ms);
}

static bool add_user(struct stats *stats, const struct user_state *user)
{
	if (!array_make_room(&stats->users, stats->user_count, sizeof(*stats->users)))
		return false;
	struct stats_user *added = &stats->users[stats->user_count++];
	*added = (struct stats_user){.uid = user->uid,
	                             .table_full = state_snapshot_table_full(user->snapshot),
	                             .origins_dropped = state_snapshot_origins_dropped(user->snapshot),
	                             .resets = state_snapshot_resets(user->snapshot),
	                             .lost_records = state_snapshot_lost_records(user->snapshot)};
	const struct last_filter all = {0};
	struct last_running_counts counts = last_running_count(user, &all);
	added->running = counts.running;
	added->died = counts.died;
	memcpy(added->name, user->name, sizeof(added->name));
	return true;
}

/* Instants of a file can be anything. */
static int64_t difference_ms(int64_t later_ms, int64_t earlier_ms)
{
	return (int64_t)((uint64_t)later_ms - (uint64_t)earlier_ms);
}

static void fill_caller(struct stats_caller *caller, size_t user, const struct state_learned *learned, int64_t now_ms)
{
	bool is_expected = learned->promised_ms != 0;
	*caller = (struct stats_caller){
	    .user = user,
	    .learned = *learned,
	    .age_ms = difference_ms(now_ms, learned->learned_ms),
	    .expires_in_ms = difference_ms(learned->expires_ms, now_ms),
	    .promised_ms = is_expected ? difference_ms(now_ms, learned->promised_ms) : -1,
	};
}

static bool add_callers(struct stats *stats, const struct user_state *user, int64_t now_ms)
{
	static struct state_learned learned[STATE_LEARNED];
	size_t count = state_snapshot_learned(user->snapshot, now_ms, learned);
	for (size_t i = 0; i < count; i++) {
		if (!array_make_room(&stats->callers, stats->caller_count, sizeof(*stats->callers)))
			return false;
		fill_caller(&stats->callers[stats->caller_count++], stats->user_count - 1, &learned[i], now_ms);
	}
	return true;
}

bool stats_gather(void *context, const struct user_state *user)
{
	struct stats *stats = context;
	int64_t now_ms = clock_ms();
	struct stats_row *rows = reallocarray(stats->rows, stats->row_count + STATE_ENTRIES, sizeof(*rows));
	if (!rows)
		return false;
	stats->rows = rows;
	if (!add_user(stats, user))
		return false;
	for (size_t i = 0; i < STATE_ENTRIES; i++) {
		struct stats_row *row = &rows[stats->row_count];
		*row = (struct stats_row){.user = stats->user_count - 1};
		if (!state_snapshot_view(user->snapshot, i, now_ms, &row->view))
			continue;
		fill_row(row, user->policy, now_ms);
		stats->row_count++;
	}
	return add_callers(stats, user, now_ms);
}

static int compare_rows(const void *left, const void *right)
{
	const struct stats_row *a = left, *b = right;
	int order = (a->user > b->user) - (a->user < b->user);
	if (order == 0)
		order = strcmp(a->view.origin, b->view.origin);
	return order ? order : strcmp(a->view.section, b->view.section);
}

static int compare_callers(const void *left, const void *right)
{
	const struct stats_caller *a = left, *b = right;
	int order = (a->user > b->user) - (a->user < b->user);
	if (order == 0)
		order = strcmp(a->learned.program, b->learned.program);
	if (order == 0)
		order = strcmp(a->learned.origin, b->learned.origin);
	return order ? order : strcmp(a->learned.caller, b->learned.caller);
}

/* Adds the counters, all of which are words of the same kind, from `operations` to the end of the view. */
static void add_counters(struct stats_row *to, const struct stats_row *from)
{
	uint64_t sums[COUNTERS_BYTES / sizeof(uint64_t)], added[COUNTERS_BYTES / sizeof(uint64_t)];
	_Static_assert(COUNTERS_BYTES % sizeof(uint64_t) == 0, "nothing but counters");
	memcpy(sums, (const char *)&to->view + COUNTERS_OFFSET, sizeof(sums));
	memcpy(added, (const char *)&from->view + COUNTERS_OFFSET, sizeof(added));
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		sums[i] += added[i];
	memcpy((char *)&to->view + COUNTERS_OFFSET, sums, sizeof(sums));
	to->view.leases += from->view.leases;
	to->retries += from->retries;
}

/* Names that were cut, or aren't known yet, can be the same. */
void stats_arrange(struct stats *stats)
{
	size_t kept = 0;
	if (stats->row_count)
		qsort(stats->rows, stats->row_count, sizeof(*stats->rows), compare_rows);
	for (size_t i = 0; i < stats->row_count; i++) {
		if (kept && compare_rows(&stats->rows[kept - 1], &stats->rows[i]) == 0)
			add_counters(&stats->rows[kept - 1], &stats->rows[i]);
		else
			stats->rows[kept++] = stats->rows[i];
	}
	stats->row_count = kept;
	if (stats->caller_count)
		qsort(stats->callers, stats->caller_count, sizeof(*stats->callers), compare_callers);
}

void stats_free(struct stats *stats)
{
	free(stats->users);
	free(stats->rows);
	free(stats->callers);
	*stats = (struct stats){0};
}

const char *stats_breaker_name(enum stats_breaker breaker)
{
	static const char *const names[] = {[STATS_BREAKER_UNKNOWN] = "unknown",
	                                    [STATS_BREAKER_OFF] = "off",
	                                    [STATS_BREAKER_CLOSED] = "closed",
	                                    [STATS_BREAKER_HALF_OPEN] = "half-open",
	                                    [STATS_BREAKER_OPEN] = "open"};
	return names[breaker];
}

uint64_t stats_operations(const struct stats_row *row)
{
	return row->view.operations[0] + row->view.operations[1];
}

uint64_t stats_refused(const struct stats_row *row)
{
	return row->view.events[STATE_EVENT_NESTED_REFUSED];
}

/* The two are counted one after the other: of an operation that was just counted one may be missing. */
uint64_t stats_left(const struct stats_row *row)
{
	uint64_t stops = row->view.stops[ENGINE_NESTED], refused = stats_refused(row);
	return stops > refused ? stops - refused : 0;
}
