/* SPDX-License-Identifier: MIT */

/*
 * Writes a state as the processes of a host would, so that what reads one can be tested with known numbers.
 *
 *     write_state DIRECTORY <SCRIPT        ("" as DIRECTORY: the usual place)
 *
 * Lines of the script, words separated by blanks; each is repeated COUNT times:
 *
 *     success    COUNT ORIGIN SECTION ELAPSED_MS
 *     operation  COUNT ORIGIN SECTION SUCCEEDED ATTEMPTS SENDS ELAPSED_MS REASON
 *     retry      COUNT ORIGIN SECTION FAILURE WAIT_MS
 *     event      COUNT ORIGIN SECTION EVENT
 *     token      COUNT ORIGIN SECTION                       takes one, by the built-in policy
 *     failing    COUNT ORIGIN SECTION FOR_MS                fails from that long ago until now: opens a breaker
 *     flight     COUNT ORIGIN SECTION JOB RUN PROGRAM PID TIME_S REASON FAILURE STATUS CURL_CODE ATTEMPTS SENDS
 *                WAITED_MS ELAPSED_MS EVIDENCE METHOD PATH  "-" for an empty text
 *     learned    COUNT ORIGIN SECTION PROGRAM CALLER AGE_MS EXPIRES_IN_MS PROMISED_MS KEPT FAILURE=REPEATS ...
 *
 * Reasons, failures, events and evidence are numbers, SUCCEEDED is 0 or 1. PROMISED_MS: for how long the caller has
 * been expected back; 0: it isn't.
 */

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/breaker.h"
#include "engine/budget.h"
#include "state/count.h"
#include "state/entries.h"
#include "state/flight.h"
#include "state/learned.h"
#include "state/state.h"

#define WORD_BYTES 512

/* A line that is carried out: `rest` is what follows origin and section. */
struct line {
	struct state *state;
	struct state_entry *entry;
	const char *origin;
	const char *section;
	const char *rest;
};

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const struct policy_rules *rules(void)
{
	return &policy_builtin()->sections[0].rules;
}

static bool success(const struct line *line)
{
	long ms;
	if (sscanf(line->rest, "%ld", &ms) != 1)
		return false;
	state_count_plain_success(line->entry, ms);
	return true;
}

static bool operation(const struct line *line)
{
	int succeeded, attempts, reason;
	long sends, elapsed_ms;
	if (sscanf(line->rest, "%d %d %ld %ld %d", &succeeded, &attempts, &sends, &elapsed_ms, &reason) != 5)
		return false;
	struct state_operation done = {.succeeded = succeeded != 0,
	                               .attempts = attempts,
	                               .sends = sends,
	                               .elapsed_ms = elapsed_ms,
	                               .reason = reason};
	state_count_operation(line->entry, &done);
	return true;
}

static bool retry(const struct line *line)
{
	int failure;
	long wait_ms;
	if (sscanf(line->rest, "%d %ld", &failure, &wait_ms) != 2)
		return false;
	state_count_retry(line->entry, failure, wait_ms);
	return true;
}

static bool event(const struct line *line)
{
	int number;
	if (sscanf(line->rest, "%d", &number) != 1)
		return false;
	state_count_event(line->entry, (enum state_event)number);
	return true;
}

static bool token(const struct line *line)
{
	_Atomic uint64_t *word = state_budget_word(line->entry);
	bool granted;
	atomic_store(word, budget_take(atomic_load(word), rules(), now_ms(), &granted));
	return granted;
}

static bool failing(const struct line *line)
{
	_Atomic uint64_t *word = state_breaker_words(line->entry);
	long for_ms;
	if (sscanf(line->rest, "%ld", &for_ms) != 1)
		return false;
	int64_t failures = rules()->breaker_failures, end_ms = now_ms();
	for (int64_t i = 0; i < failures; i++) {
		int64_t at_ms = end_ms - for_ms * (failures - 1 - i) / (failures - 1);
		struct breaker_attempt attempt = {.result = BREAKER_FAILED, .began_ms = at_ms, .ended_ms = at_ms};
		atomic_store(word, breaker_note(atomic_load(word), rules(), &attempt));
	}
	return true;
}

static const char *text_of(const char *word)
{
	return strcmp(word, "-") == 0 ? "" : word;
}

static bool flight(const struct line *line)
{
	struct state_flight told = {0};
	char job[WORD_BYTES], run[WORD_BYTES], program[WORD_BYTES], method[WORD_BYTES], path[WORD_BYTES];
	long pid, time_s, sends, waited_ms, elapsed_ms;
	if (sscanf(line->rest, "%511s %511s %511s %ld %ld %d %d %d %d %d %ld %ld %ld %d %511s %511s", job, run, program,
	           &pid, &time_s, &told.reason, &told.failure, &told.status, &told.curl_code, &told.attempts, &sends,
	           &waited_ms, &elapsed_ms, &told.evidence, method, path) != 16)
		return false;
	told.pid = pid;
	told.time_us = time_s * 1000000L;
	told.sends = sends;
	told.waited_ms = waited_ms;
	told.elapsed_ms = elapsed_ms;
	state_flight_text(told.job, text_of(job));
	state_flight_text(told.run, text_of(run));
	state_flight_text(told.program, text_of(program));
	state_flight_text(told.method, text_of(method));
	state_flight_text(told.path, text_of(path));
	state_flight_text(told.section, line->section);
	state_flight_text(told.origin, line->origin);
	state_record_flight(line->state, &told);
	return true;
}

/* "FAILURE=REPEATS ...": returns false if it is something else. */
static bool read_repeats(const char *text, uint8_t repeats[static STATE_LEARNED_CLASSES])
{
	unsigned int failure, count;
	int used;
	for (; sscanf(text, " %u=%u%n", &failure, &count, &used) == 2; text += used) {
		if (failure >= STATE_LEARNED_CLASSES || count > UINT8_MAX)
			return false;
		repeats[failure] = (uint8_t)count;
	}
	return text[strspn(text, " \n")] == '\0';
}

static bool learned(const struct line *line)
{
	struct state_learned told = {0};
	char program[WORD_BYTES], caller[WORD_BYTES], name[2 * WORD_BYTES];
	long age_ms, expires_in_ms, promised_ms, kept;
	int64_t at_ms = now_ms();
	int used;
	if (sscanf(line->rest, "%511s %511s %ld %ld %ld %ld%n", program, caller, &age_ms, &expires_in_ms, &promised_ms,
	           &kept, &used) != 6)
		return false;
	snprintf(name, sizeof(name), "%s %s", program, caller);
	told.key = state_identify(name, line->origin).key;
	told.learned_ms = at_ms - age_ms;
	told.expires_ms = at_ms + expires_in_ms;
	told.promised_ms = promised_ms ? at_ms - promised_ms : 0;
	told.kept = (uint64_t)kept;
	state_learned_text(told.program, text_of(program));
	state_learned_text(told.caller, text_of(caller));
	state_learned_text(told.origin, line->origin);
	if (!read_repeats(line->rest + used, told.repeats))
		return false;
	state_learned_keep(line->state, &told, at_ms);
	return true;
}

static const struct {
	const char *name;
	bool (*carry_out)(const struct line *line);
} COMMANDS[] = {
    {"success", success}, {"operation", operation}, {"retry", retry},   {"event", event},
    {"token", token},     {"failing", failing},     {"flight", flight}, {"learned", learned},
};

static bool carry_out(struct state *state, const char *text)
{
	char command[WORD_BYTES], origin[WORD_BYTES], section[WORD_BYTES];
	long count;
	int used;
	if (sscanf(text, "%511s %ld %511s %511s %n", command, &count, origin, section, &used) != 4)
		return false;
	struct line line = {.state = state, .origin = origin, .section = section, .rest = text + used};
	line.entry = state_find_entry(state, origin, section);
	for (size_t i = 0; i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++) {
		if (strcmp(COMMANDS[i].name, command) != 0)
			continue;
		bool good = true;
		while (good && count-- > 0)
			good = COMMANDS[i].carry_out(&line);
		return good;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct state state = {.shared = NULL};
	struct state_outcome outcome;
	char text[4 * WORD_BYTES];
	if (argc != 2) {
		fputs("usage: write_state DIRECTORY <SCRIPT\n", stderr);
		return 2;
	}
	struct state_request request = {.directory = argv[1]};
	state_open(&request, &state, &outcome);
	if (!outcome.shared) {
		fprintf(stderr, "write_state: %s\n", state_trouble_text(outcome.trouble));
		return 1;
	}
	while (fgets(text, sizeof(text), stdin)) {
		if (carry_out(&state, text))
			continue;
		fprintf(stderr, "write_state: can't carry out: %s", text);
		return 1;
	}
	return 0;
}
