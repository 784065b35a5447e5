/* SPDX-License-Identifier: MIT */

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "interpose/handle/shared_state.h"
#include "interpose/host/host_state.h"
#include "interpose/host/process.h"
#include "interpose/nesting/declared.h"
#include "interpose/nesting/learning.h"
#include "state/learned.h"
#include "state/sizes.h"

#define REPEATS_TO_LEARN 2
#define KEPT_MS          (INT64_C(7) * 24 * 3600 * 1000) /* a job of every night or every week keeps what it taught */

static const enum learning_caller callers[] = {LEARNING_CALL_SITE, LEARNING_PARENT};

/* 0: there is no such caller. */
static uint64_t key_of(struct caller *who, enum learning_caller caller)
{
	const char *url = who->handle->url ? who->handle->url : "";
	char origin[STATE_ORIGIN_BYTES];
	caller_know_site(who);
	/* All curls of a user share a call site, and the one loop in it stands in their arguments. */
	if (caller == LEARNING_CALL_SITE && declared_is_curl(who->site.library))
		return 0;
	shared_state_origin(who->handle, origin, sizeof(origin));
	uint64_t key = hash_text(who->site.hash, origin);
	if (caller == LEARNING_PARENT) {
		struct family_parent parent;
		if (who->family.ancestor_count == 0)
			return 0;
		family_find_parent(who->family.ancestors[0].pid, &parent);
		if (parent.hash == 0)
			return 0;
		key = hash_number(key, parent.hash);
	}
	/* A script's commands all have curl's one call site, and its calls all the interpreter's: that it loops over
	 * one address says nothing of the others. */
	if (caller == LEARNING_PARENT || process_is_interpreter())
		key = hash_bytes(key, url, strcspn(url, "?#"));
	return key ? key : 1;
}

static bool is_learned(const struct state_learned *learned, enum engine_class failure)
{
	return (size_t)failure < STATE_LEARNED_CLASSES && learned->repeats[failure] >= REPEATS_TO_LEARN;
}

/* Nobody came back in time after what was left to them. */
static bool is_broken(const struct state_learned *learned, const struct policy_rules *rules, int64_t now_ms)
{
	return learned->promised_ms != 0 && now_ms - learned->promised_ms > rules->nested_window_ms;
}

bool learning_covers(struct caller *who, enum engine_class failure, uint64_t *key)
{
	struct state *state = host_state();
	struct state_learned learned;
	int64_t now_ms = clock_ms();
	for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++) {
		*key = key_of(who, callers[i]);
		if (*key == 0 || !state_learned_find(state, *key, now_ms, &learned) || !is_learned(&learned, failure))
			continue;
		if (is_broken(&learned, who->rules, now_ms)) {
			state_learned_drop(state, *key);
			continue;
		}
		return true;
	}
	return false;
}

void learning_promise(uint64_t key)
{
	struct state *state = host_state();
	struct state_learned learned;
	int64_t now_ms = clock_ms();
	/* The first of several that nobody came back for is the one that counts. */
	if (!state_learned_find(state, key, now_ms, &learned) || learned.promised_ms != 0)
		return;
	learned.promised_ms = now_ms;
	state_learned_keep(state, &learned, now_ms);
}

static void name_caller(const struct caller *who, enum learning_caller caller, struct state_learned *learned)
{
	struct family_parent parent;
	state_learned_text(learned->program, process_program());
	if (caller == LEARNING_PARENT)
		family_find_parent(who->family.ancestors[0].pid, &parent);
	state_learned_text(learned->caller, caller == LEARNING_PARENT ? parent.name : who->site.library);
	shared_state_origin(who->handle, learned->origin, sizeof(learned->origin));
}

void learning_teach(struct caller *who, enum learning_caller caller, enum engine_class failure)
{
	struct state *state = host_state();
	uint64_t key = key_of(who, caller);
	struct state_learned learned;
	int64_t now_ms = clock_ms();
	if (key == 0 || (size_t)failure >= STATE_LEARNED_CLASSES)
		return;
	if (!state_learned_find(state, key, now_ms, &learned)) {
		learned = (struct state_learned){.key = key, .learned_ms = now_ms};
		name_caller(who, caller, &learned);
	}
	learned.kept += learned.promised_ms != 0;
	learned.promised_ms = 0;
	learned.expires_ms = now_ms + KEPT_MS;
	if (learned.repeats[failure] < UINT8_MAX)
		learned.repeats[failure]++;
	state_learned_keep(state, &learned, now_ms);
}

void learning_drop(struct caller *who, enum learning_caller caller)
{
	uint64_t key = key_of(who, caller);
	if (key != 0)
		state_learned_drop(host_state(), key);
}
