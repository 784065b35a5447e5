/* SPDX-License-Identifier: MIT */

/*
 * The state word: 2 bits of state, 14 bits of count, 48 bits of an instant in ms. A word of a rate: 28 bits of the
 * number of its half window, 18 bits each of attempts and failures. Instants and numbers wrap; they are compared by
 * their difference, and one that is a little ahead of now is another thread's that looked at its clock a moment later.
 */

#include "engine/breaker.h"

#include "engine/classify.h"

enum state { STATE_CLOSED, STATE_OPEN, STATE_HALF_OPEN };

/* What the count of an open one is. */
enum { OPEN_AT_FIRST, OPEN_ANEW };

#define COUNT_BITS   14
#define INSTANT_BITS 48
#define COUNT_MAX    ((UINT64_C(1) << COUNT_BITS) - 1)
#define INSTANT_MASK ((UINT64_C(1) << INSTANT_BITS) - 1)

/* An instant that is ahead of now by more is no other thread's look at the clock. */
#define AHEAD_MAX_MS 60000

#define TALLY_BITS  18
#define TALLY_MAX   ((UINT64_C(1) << TALLY_BITS) - 1)
#define NUMBER_MASK ((UINT64_C(1) << (64 - 2 * TALLY_BITS)) - 1)

/* A state word, taken apart. */
struct breaker {
	enum state state;
	int64_t count;
	uint64_t since;
};

static uint64_t pack(enum state state, int64_t count, int64_t instant_ms)
{
	return (uint64_t)state << (COUNT_BITS + INSTANT_BITS) | (uint64_t)count << INSTANT_BITS |
	       ((uint64_t)instant_ms & INSTANT_MASK);
}

static enum state state_of(uint64_t word)
{
	return (enum state)(word >> (COUNT_BITS + INSTANT_BITS));
}

static int64_t count_of(uint64_t word)
{
	return (int64_t)(word >> INSTANT_BITS & COUNT_MAX);
}

/* From an instant of a word to one of the clock; 0 if it is a little ahead, without end if it can't be true. */
static int64_t elapsed_ms(uint64_t since, int64_t instant_ms)
{
	uint64_t difference = ((uint64_t)instant_ms - since) & INSTANT_MASK;

	if (difference <= INSTANT_MASK / 2)
		return (int64_t)difference;
	return INSTANT_MASK - difference < AHEAD_MAX_MS ? 0 : INT64_MAX;
}

static bool is_before(int64_t instant_ms, uint64_t since)
{
	return (((uint64_t)instant_ms - since) & INSTANT_MASK) > INSTANT_MASK / 2;
}

static int64_t longer(int64_t a_ms, int64_t b_ms)
{
	return a_ms > b_ms ? a_ms : b_ms;
}

/* How long failures are remembered that nothing else came of. */
static int64_t memory_ms(const struct policy_rules *rules)
{
	return longer(2 * rules->breaker_outage_ms, longer(rules->breaker_window_ms, rules->breaker_open_ms));
}

/* The breaker at now_ms: what is too old to be true is forgotten. */
static struct breaker open_word(uint64_t word, const struct policy_rules *rules, int64_t now_ms)
{
	struct breaker breaker = {
	    .state = state_of(word),
	    .count = count_of(word),
	    .since = word & INSTANT_MASK,
	};
	int64_t valid_ms = memory_ms(rules);

	if (breaker.state != STATE_CLOSED)
		valid_ms += rules->breaker_open_ms;
	if (breaker.state > STATE_HALF_OPEN || elapsed_ms(breaker.since, now_ms) > valid_ms)
		return (struct breaker){.state = STATE_CLOSED};
	return breaker;
}

enum breaker_result breaker_result_of(const struct engine_outcome *outcome)
{
	switch (engine_class_of(outcome)) {
	case ENGINE_CLASS_NONE:
		return BREAKER_ANSWERED;
	case ENGINE_CLASS_STATUS:
		return outcome->status < 500 ? BREAKER_ANSWERED : BREAKER_FAILED;
	case ENGINE_CLASS_TIMEOUT:
		/* The program's patience with a long body or an event stream ended; the origin had answered. */
		return outcome->status != 0 && outcome->status < 500 ? BREAKER_ANSWERED : BREAKER_FAILED;
	case ENGINE_CLASS_CONNECT:
	case ENGINE_CLASS_TLS:
	case ENGINE_CLASS_SEND:
	case ENGINE_CLASS_RECEIVE:
	case ENGINE_CLASS_EMPTY:
	case ENGINE_CLASS_PARTIAL:
	case ENGINE_CLASS_HTTP2:
		return BREAKER_FAILED;
	case ENGINE_CLASS_PROXY:
	case ENGINE_CLASS_RESOLVE:
	case ENGINE_CLASS_CALLER:
	case ENGINE_CLASS_LOCAL:
		break;
	}
	return BREAKER_SAYS_NOTHING;
}

enum breaker_view breaker_look(uint64_t word, const struct policy_rules *rules, int64_t now_ms)
{
	struct breaker breaker;

	if (rules->breaker == POLICY_BREAKER_OFF)
		return BREAKER_CLOSED;
	breaker = open_word(word, rules, now_ms);
	if (breaker.state == STATE_CLOSED)
		return BREAKER_CLOSED;
	if (breaker.state == STATE_OPEN && elapsed_ms(breaker.since, now_ms) < rules->breaker_open_ms)
		return BREAKER_OPEN;
	return BREAKER_PROBE;
}

int64_t breaker_age_ms(uint64_t word, const struct policy_rules *rules, int64_t now_ms)
{
	enum breaker_view view = breaker_look(word, rules, now_ms);
	struct breaker breaker = open_word(word, rules, now_ms);
	int64_t age_ms = elapsed_ms(breaker.since, now_ms);

	if (view == BREAKER_CLOSED)
		return 0;
	return view == BREAKER_PROBE && breaker.state == STATE_OPEN ? age_ms - rules->breaker_open_ms : age_ms;
}

/* A round ends by time, so that places which nobody gives back come back. */
static bool is_round_over(const struct breaker *breaker, const struct policy_rules *rules, int64_t now_ms)
{
	return elapsed_ms(breaker->since, now_ms) >= rules->breaker_open_ms;
}

uint64_t breaker_admit(uint64_t word, const struct policy_rules *rules, int64_t now_ms, bool *admitted)
{
	enum breaker_view view = breaker_look(word, rules, now_ms);
	struct breaker breaker = open_word(word, rules, now_ms);

	*admitted = true;
	if (rules->breaker_action == POLICY_BREAKER_NO_RETRY || view == BREAKER_CLOSED)
		return word;
	if (view == BREAKER_PROBE && (breaker.state == STATE_OPEN || is_round_over(&breaker, rules, now_ms)))
		return pack(STATE_HALF_OPEN, 1, now_ms);
	*admitted = view == BREAKER_PROBE && breaker.count < rules->breaker_probes;
	return *admitted ? pack(STATE_HALF_OPEN, breaker.count + 1, (int64_t)breaker.since) : word;
}

static uint64_t note_closed(uint64_t word, const struct breaker *breaker, const struct policy_rules *rules,
                            const struct breaker_attempt *attempt)
{
	bool begins = breaker->count == 0;
	int64_t since = begins ? attempt->ended_ms : (int64_t)breaker->since;
	int64_t count = breaker->count < (int64_t)COUNT_MAX ? breaker->count + 1 : breaker->count;

	if (attempt->result == BREAKER_SAYS_NOTHING)
		return word;
	if (attempt->result == BREAKER_ANSWERED)
		return 0;
	if (attempt->rate_exceeded)
		return pack(STATE_OPEN, OPEN_AT_FIRST, attempt->ended_ms);
	if (count >= rules->breaker_failures &&
	    elapsed_ms((uint64_t)since & INSTANT_MASK, attempt->ended_ms) >= rules->breaker_outage_ms)
		return pack(STATE_OPEN, OPEN_AT_FIRST, attempt->ended_ms);
	return pack(STATE_CLOSED, count, since);
}

static uint64_t note_open(uint64_t word, const struct breaker *breaker, const struct policy_rules *rules,
                          const struct breaker_attempt *attempt)
{
	bool is_late = is_before(attempt->began_ms, breaker->since) ||
	               elapsed_ms(breaker->since, attempt->began_ms) < rules->breaker_open_ms;
	bool ends_row = rules->breaker_action == POLICY_BREAKER_NO_RETRY && !breaker_counts_rate(rules);

	if (attempt->result == BREAKER_ANSWERED)
		return is_late && !ends_row ? word : 0;
	return attempt->result == BREAKER_FAILED && !is_late ? pack(STATE_OPEN, OPEN_ANEW, attempt->ended_ms) : word;
}

static uint64_t note_half_open(uint64_t word, const struct breaker *breaker, const struct breaker_attempt *attempt)
{
	bool is_late = is_before(attempt->began_ms, breaker->since);

	if (attempt->result == BREAKER_ANSWERED)
		return 0;
	if (is_late)
		return word;
	if (attempt->result == BREAKER_FAILED)
		return pack(STATE_OPEN, OPEN_ANEW, attempt->ended_ms);
	return breaker->count > 0 ? pack(STATE_HALF_OPEN, breaker->count - 1, (int64_t)breaker->since) : word;
}

uint64_t breaker_note(uint64_t word, const struct policy_rules *rules, const struct breaker_attempt *attempt)
{
	struct breaker breaker;

	if (rules->breaker == POLICY_BREAKER_OFF)
		return word;
	breaker = open_word(word, rules, attempt->ended_ms);
	switch (breaker.state) {
	case STATE_OPEN:
		return note_open(word, &breaker, rules, attempt);
	case STATE_HALF_OPEN:
		return note_half_open(word, &breaker, attempt);
	case STATE_CLOSED:
		break;
	}
	return note_closed(word, &breaker, rules, attempt);
}

bool breaker_opens(uint64_t before, uint64_t after)
{
	return before != after && state_of(after) == STATE_OPEN && count_of(after) == OPEN_AT_FIRST;
}

bool breaker_closes(uint64_t before, uint64_t after)
{
	return state_of(before) != STATE_CLOSED && state_of(after) == STATE_CLOSED;
}

bool breaker_counts_rate(const struct policy_rules *rules)
{
	return rules->breaker == POLICY_BREAKER_ON && rules->breaker_failure_pct > 0;
}

static uint64_t half_number(const struct policy_rules *rules, int64_t now_ms)
{
	int64_t half_ms = rules->breaker_window_ms / 2;

	return (uint64_t)(now_ms / (half_ms > 0 ? half_ms : 1)) & NUMBER_MASK;
}

int breaker_half_of(const struct policy_rules *rules, int64_t now_ms)
{
	return (int)(half_number(rules, now_ms) & 1);
}

/* What was counted in one half window. */
struct tally {
	uint64_t attempts;
	uint64_t failures;
};

static struct tally tally_of(uint64_t half_word, uint64_t number)
{
	if (half_word >> (2 * TALLY_BITS) != number)
		return (struct tally){0};
	return (struct tally){.attempts = half_word >> TALLY_BITS & TALLY_MAX, .failures = half_word & TALLY_MAX};
}

uint64_t breaker_count(uint64_t half_word, const struct policy_rules *rules, enum breaker_result result, int64_t now_ms)
{
	uint64_t number = half_number(rules, now_ms);
	struct tally tally = tally_of(half_word, number);

	if (result == BREAKER_SAYS_NOTHING)
		return half_word;
	/* Full: halving both keeps the rate. */
	if (tally.attempts == TALLY_MAX)
		tally = (struct tally){.attempts = tally.attempts / 2, .failures = tally.failures / 2};
	tally.attempts++;
	tally.failures += result == BREAKER_FAILED;
	return number << (2 * TALLY_BITS) | tally.attempts << TALLY_BITS | tally.failures;
}

bool breaker_exceeds_rate(const uint64_t half_words[static 2], const struct policy_rules *rules, int64_t now_ms)
{
	uint64_t number = half_number(rules, now_ms);
	struct tally now = tally_of(half_words[number & 1], number);
	struct tally before = tally_of(half_words[~number & 1], (number - 1) & NUMBER_MASK);
	uint64_t attempts = now.attempts + before.attempts;
	uint64_t failures = now.failures + before.failures;

	return breaker_counts_rate(rules) && attempts >= (uint64_t)rules->breaker_min_attempts &&
	       failures * 100 >= (uint64_t)rules->breaker_failure_pct * attempts;
}
