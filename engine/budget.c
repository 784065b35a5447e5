/* SPDX-License-Identifier: MIT */

/*
 * Refilling by time and rounding down would lose a fraction at each look, which at low rates is everything. So what the
 * time between two instants adds is the difference of two numbers that are rounded at fixed points of the clock:
 * floor(t2 · rate) − floor(t1 · rate). Looking often then adds up to the same as looking once.
 */

#include "engine/budget.h"

enum { TICKS_PER_S = 16, MILLI = 1000 };

/* A stamp at most this much ahead of now is another thread's that was a moment earlier, not one of 8.5 years ago. */
#define TICKS_AHEAD_MAX ((uint32_t)TICKS_PER_S * 3600)

/* From here on a tick adds so much that its fraction doesn't matter, and the products below would leave 64 bits. */
#define FAST_RATE 1e6

static uint32_t tick_of(int64_t now_ms)
{
	return (uint32_t)(now_ms / 1000 * TICKS_PER_S + now_ms % 1000 * TICKS_PER_S / 1000);
}

static uint64_t pack(uint32_t tick, uint32_t millitokens)
{
	uint64_t word = (uint64_t)tick << 32 | millitokens;

	/* 0 means "never used"; an empty bucket of tick 0 is told as one of tick 1. */
	return word != 0 ? word : UINT64_C(1) << 32;
}

static uint32_t capacity_of(const struct policy_rules *rules)
{
	if (rules->budget_tokens <= 0)
		return 0;
	if (rules->budget_tokens > UINT32_MAX / MILLI)
		return UINT32_MAX;
	return (uint32_t)rules->budget_tokens * MILLI;
}

/* value ≥ 0, rounded down; whatever exceeds 32 bits, or is not a number, becomes the largest. */
static uint32_t saturate(double value)
{
	return value < (double)UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static uint32_t refilled(const struct policy_rules *rules, uint32_t from_tick, uint32_t elapsed_ticks)
{
	double rate = rules->budget_refill_per_s * MILLI / TICKS_PER_S;
	double from = (double)from_tick;

	if (!(rate > 0))
		return 0;
	if (rate > FAST_RATE)
		return saturate(rate * elapsed_ticks);
	return saturate((double)((uint64_t)((from + elapsed_ticks) * rate) - (uint64_t)(from * rate)));
}

/* A word, taken apart and brought up to date. */
struct bucket {
	uint32_t tick;
	uint32_t millitokens;
};

static struct bucket open_bucket(uint64_t word, const struct policy_rules *rules, int64_t now_ms)
{
	uint32_t capacity = capacity_of(rules);
	uint32_t stamp = (uint32_t)(word >> 32);
	uint32_t elapsed = tick_of(now_ms) - stamp;
	uint64_t sum;

	if (word == 0)
		return (struct bucket){.tick = tick_of(now_ms), .millitokens = capacity};
	if (elapsed > UINT32_MAX - TICKS_AHEAD_MAX)
		elapsed = 0;
	sum = (uint64_t)(uint32_t)word + refilled(rules, stamp, elapsed);
	return (struct bucket){.tick = stamp + elapsed, .millitokens = sum < capacity ? (uint32_t)sum : capacity};
}

uint64_t budget_take(uint64_t word, const struct policy_rules *rules, int64_t now_ms, bool *granted)
{
	struct bucket bucket;

	*granted = true;
	if (rules->budget_tokens <= 0)
		return word;
	bucket = open_bucket(word, rules, now_ms);
	*granted = bucket.millitokens >= MILLI;
	return *granted ? pack(bucket.tick, bucket.millitokens - MILLI) : word;
}

uint64_t budget_give(uint64_t word, const struct policy_rules *rules, int64_t now_ms)
{
	uint32_t capacity = capacity_of(rules);
	uint32_t gift;
	struct bucket bucket;

	if (rules->budget_tokens <= 0 || word == 0 || !(rules->budget_ratio > 0))
		return word;
	gift = saturate(rules->budget_ratio * MILLI + 0.5);
	bucket = open_bucket(word, rules, now_ms);
	if (gift == 0 || bucket.millitokens == capacity)
		return word;
	if (gift > capacity - bucket.millitokens)
		gift = capacity - bucket.millitokens;
	return pack(bucket.tick, bucket.millitokens + gift);
}

int64_t budget_millitokens(uint64_t word, const struct policy_rules *rules, int64_t now_ms)
{
	return open_bucket(word, rules, now_ms).millitokens;
}
