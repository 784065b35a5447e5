/* SPDX-License-Identifier: MIT */

/*
 * Three layers of three tries are 27 requests; one owner makes 3. So before an operation is retried we ask whether a
 * layer above us will do it:
 *
 *   declared  a header, the program's name, curl's --retry say so (interpose/declared.h), and which failures it retries
 *   observed  what the operation wants is what failed a moment ago, and it was we who returned the failure
 *   learned   this call site or this parent came back for such failures before (interpose/learning.h)
 *
 * What is wanted is an intent (engine/intent.h). It is known by verb, URL and body, and by who wants it: this thread of
 * this process, or, in a run, the processes that one parent starts, or one that is a few steps up and starts the same
 * commands, each after the one before it has failed. An id that an SDK puts on all its tries says it better than any of
 * that. So an intent that failed is kept under several keys, and looked for at the begin of an operation as long as any
 * intent of the origin lives; no other success pays for it.
 *
 * With `nested = yield` the outer layer owns: the failure is handed over as it is. With `own` we own: repeats share the
 * intent's attempts and time, and once those are used up they are refused for a while.
 */

#include <stdatomic.h>

#include "interpose/bounds.h"
#include "interpose/clock.h"
#include "interpose/dice.h"
#include "interpose/hash.h"
#include "interpose/intent_key.h"
#include "interpose/journal.h"
#include "interpose/learning.h"
#include "interpose/nesting.h"
#include "interpose/operation.h"
#include "interpose/process.h"
#include "interpose/shared_state.h"
#include "interpose/thread_notes.h"
#include "interpose/wait.h"

#define ASKED_MS_MAX (INT64_C(24) * 3600 * 1000) /* no Retry-After keeps an intent longer */

/* Instant until which intents may live that had no entry to say so: `state = none`, or the state was just being opened.
 */
static _Atomic int64_t kept_until_ms;

static bool may_have_intents(const struct operation *operation, int64_t now_ms)
{
	const struct state_entry *entry = shared_state_entry(operation->handle);
	if (operation->section->rules.nested == POLICY_NESTED_OFF)
		return false;
	return (entry && state_intents_until(entry) > now_ms) ||
	       atomic_load_explicit(&kept_until_ms, memory_order_relaxed) > now_ms;
}

static void extend_intents(const struct operation *operation, int64_t until_ms)
{
	struct state_entry *entry = shared_state_entry(operation->handle);
	int64_t seen_ms = atomic_load_explicit(&kept_until_ms, memory_order_relaxed);
	if (entry) {
		state_intents_extend(entry, until_ms);
		return;
	}
	while (seen_ms < until_ms && !atomic_compare_exchange_weak(&kept_until_ms, &seen_ms, until_ms))
		;
}

/* The key under which this thread finds the intent again, and with an id of the outer layer's own any thread. */
static uint64_t key_of_thread(const struct nesting_facts *facts)
{
	if (facts->invocation)
		return facts->invocation;
	if (!facts->want)
		return 0;
	uint64_t key = hash_number(facts->want, family_thread());
	return key ? key : 1;
}

/*
 * The key under which later processes that such an ancestor starts by the same commands find it. 0: there is no run
 * that they could belong to.
 */
static uint64_t key_of_run(const struct nesting_facts *facts, const struct family_ancestor *ancestor)
{
	const char *run = process_run();
	if (!facts->want || !run[0])
		return 0;
	uint64_t key = hash_number(hash_text(facts->want, run), (uint64_t)ancestor->pid);
	key = hash_number(key, ancestor->way);
	return key ? key : 1;
}

/* sent: an attempt was made. */
static void identify(struct operation *operation, bool sent)
{
	struct nesting_facts *facts = &operation->nesting_facts;
	facts->want = intent_key_of(operation->handle, sent);
	facts->invocation = declared_invocation(operation->handle, &operation->section->rules);
	facts->thread_key = key_of_thread(facts);
	/* Without a run nobody's parent matters, and no file need be read. */
	if (process_run()[0])
		family_find(&facts->family);
	else
		facts->family = (struct family){.process = family_process()};
}

void nesting_know_site(struct operation *operation)
{
	if (!operation->nesting.site_is_known)
		call_site_find(operation->handle->active_caller, &operation->nesting_facts.site);
	operation->nesting.site_is_known = true;
}

uint64_t nesting_id(struct operation *operation)
{
	struct nesting_facts *facts = &operation->nesting_facts;
	if (!operation->nesting.has_id)
		facts->id = dice_number();
	operation->nesting.has_id = true;
	return facts->id;
}

/* An intent that has no past. */
static void begin_intent(struct operation *operation)
{
	struct nesting_facts *facts = &operation->nesting_facts;
	facts->intent = (struct engine_intent){.began_ms = operation->engine.entry_ms};
	nesting_id(operation);
	facts->sends = 0;
	facts->refused_ms = 0;
	facts->expires_ms = 0;
	facts->gap_ms = 0;
}

static void take_kept(struct operation *operation, const struct state_intent *kept)
{
	struct nesting_facts *facts = &operation->nesting_facts;
	facts->intent = (struct engine_intent){
	    .began_ms = kept->began_ms,
	    .ended_ms = kept->ended_ms,
	    .sent_ms = kept->sent_ms,
	    .asked_until_ms = kept->asked_until_ms,
	    .success_gap_ms = kept->success_gap_ms,
	    .operations = kept->operations,
	    .attempts = kept->attempts,
	    .extra_attempts = kept->extra_attempts,
	    .failures = kept->failures,
	    .last_failure = kept->last_failure,
	    .stopped = kept->stopped != 0,
	};
	facts->id = operation->nesting.has_id ? facts->id : kept->id;
	operation->nesting.has_id = true;
	facts->sends = kept->sends;
	facts->refused_ms = kept->refused_ms;
	facts->expires_ms = kept->expires_ms;
}

static void keep(const struct operation *operation, uint64_t key, int64_t now_ms)
{
	const struct nesting_facts *facts = &operation->nesting_facts;
	const struct engine_intent *intent = &facts->intent;
	const struct state_intent kept = {
	    .key = key,
	    .id = facts->id,
	    .process = facts->family.process,
	    .expires_ms = facts->expires_ms,
	    .began_ms = intent->began_ms,
	    .ended_ms = intent->ended_ms,
	    .sent_ms = intent->sent_ms,
	    .asked_until_ms = intent->asked_until_ms,
	    .success_gap_ms = intent->success_gap_ms,
	    .refused_ms = facts->refused_ms,
	    .operations = intent->operations,
	    .attempts = intent->attempts,
	    .extra_attempts = intent->extra_attempts,
	    .failures = intent->failures,
	    .last_failure = intent->last_failure,
	    .stopped = intent->stopped,
	    .sends = facts->sends,
	};
	if (key != 0)
		state_intent_keep(shared_state_whole(), &kept, now_ms);
}

/* Another thread of this process, or a process that ran at the same time, is nobody's next try. */
static bool find_kept_of_run(const struct nesting_facts *facts, int64_t now_ms, struct state_intent *kept)
{
	for (int i = 0; i < facts->family.ancestor_count; i++) {
		const struct family_ancestor *ancestor = &facts->family.ancestors[i];
		uint64_t key = key_of_run(facts, ancestor);
		if (key != 0 && state_intent_find(shared_state_whole(), key, now_ms, kept) &&
		    kept->process != facts->family.process && ancestor->started_ms >= kept->ended_ms)
			return true;
	}
	return false;
}

static bool find_kept_of_thread(const struct nesting_facts *facts, int64_t now_ms, struct state_intent *kept)
{
	return facts->thread_key != 0 && state_intent_find(shared_state_whole(), facts->thread_key, now_ms, kept);
}

/* Finds the intent that this operation is one of. Returns false if there is none. */
static bool find_kept(struct operation *operation, int64_t now_ms, enum learning_caller *caller)
{
	struct nesting_facts *facts = &operation->nesting_facts;
	struct state_intent kept;
	bool found = find_kept_of_thread(facts, now_ms, &kept);
	*caller = found ? LEARNING_CALL_SITE : LEARNING_PARENT;
	if (!found && !find_kept_of_run(facts, now_ms, &kept))
		return false;
	take_kept(operation, &kept);
	facts->gap_ms = now_ms - facts->intent.ended_ms;
	return true;
}

static const struct declared *declared_layer(struct operation *operation)
{
	struct declared *declared = &operation->nesting_facts.declared;
	if (operation->nesting.declared_is_known)
		return declared;
	nesting_know_site(operation);
	declared_find(operation->handle, &operation->section->rules, operation->nesting_facts.site.library, declared);
	operation->nesting.declared_is_known = true;
	return declared;
}

/* A layer that shows itself is known without being learned; other operations of the call site may have none. */
static bool is_worth_learning(struct operation *operation, enum learning_caller caller, enum engine_class failure)
{
	const struct outer_layer *layer = caller == LEARNING_CALL_SITE ? declared_layer(operation)->layer : NULL;
	return !layer || (uint32_t)failure >= 32 || (layer->failures & (UINT32_C(1) << failure)) == 0;
}

static void resume(struct operation *operation, enum learning_caller caller, int64_t now_ms)
{
	struct nesting_facts *facts = &operation->nesting_facts;
	struct engine_intent *intent = &facts->intent;
	enum engine_class failure = (enum engine_class)intent->last_failure;
	enum engine_return how = engine_intent_return(intent, now_ms);
	bool polled_before = intent->success_gap_ms != 0 && intent->failures == 0;

	engine_intent_resume(intent, how, now_ms);
	if (how == ENGINE_RETURN_FRESH && !polled_before)
		learning_drop(operation, caller);
	if (how != ENGINE_RETURN_RETRY) {
		operation->nesting.has_id = false;
		nesting_id(operation);
		facts->sends = 0;
		return;
	}
	operation->nesting.returns = true;
	operation->nesting.evidence = STATE_EVIDENCE_OBSERVED;
	if (is_worth_learning(operation, caller, failure))
		learning_teach(operation, caller, failure);
}

/* Returns whether the operation, which is identified, is one of an intent that failed lately. */
static bool recognise(struct operation *operation, int64_t now_ms)
{
	enum learning_caller caller;
	if (!find_kept(operation, now_ms, &caller))
		return false;
	operation->nesting.known = true;
	resume(operation, caller, now_ms);
	if (operation->nesting.returns)
		journal_return(operation);
	return true;
}

/*
 * Whether the operation's body is known only once it was read, but can be read twice. One without a size is most often
 * what curl reads from a pipe, or from a file that a shell has read in part: asked to rewind, it goes to the wrong
 * place.
 */
static bool has_candidates(const struct operation *operation)
{
	return operation->section->rules.nested == POLICY_NESTED_OWN && !operation->gate.observes &&
	       body_is_rewound_by_program(operation->handle) && body_announced_bytes(operation->handle) >= 0;
}

/* Goes by all but the body: what may be wanted, until that is known. */
static void become_candidate(struct operation *operation)
{
	struct nesting_facts *facts = &operation->nesting_facts;
	facts->want = intent_key_of_candidate(operation->handle);
	facts->thread_key = key_of_thread(facts);
}

/* Whether the operation, which isn't known, may be one of an intent that failed lately. */
static bool may_be_kept(struct operation *operation, int64_t now_ms)
{
	struct nesting_facts *facts = &operation->nesting_facts;
	struct state_intent kept;
	if (facts->thread_key != 0 || !has_candidates(operation))
		return false;
	become_candidate(operation);
	bool found = find_kept_of_thread(facts, now_ms, &kept) || find_kept_of_run(facts, now_ms, &kept);
	facts->want = facts->thread_key = 0;
	return found;
}

void nesting_preview(struct operation *operation)
{
	struct handle *handle = operation->handle;
	int64_t entry_ms = operation->engine.entry_ms;
	struct engine_request shared = {.prior_attempts = 0};
	enum body_preview end = body_preview(operation);
	if (!operation_is_alive(handle, operation))
		return;
	operation->nesting.cancelled = end == BODY_CANCELLED;
	if (operation->nesting.cancelled)
		return;
	identify(operation, false);
	handle->body.preview_key = 0;
	if (recognise(operation, entry_ms)) {
		const struct engine_intent *intent = &operation->nesting_facts.intent;
		operation->nesting.refused =
		    !engine_intent_admit(intent, &operation->section->rules, entry_ms, &shared);
		engine_share(&operation->engine, &shared);
	}
	operation->nesting.lost_body = end == BODY_LOST;
	operation->nesting.refused = operation->nesting.refused || end == BODY_LOST;
}

/* Not inlined: what every success runs through would save its registers for it. */
static __attribute__((noinline)) void look(struct operation *operation, int64_t now_ms, struct engine_request *request)
{
	const struct policy_rules *rules = &operation->section->rules;
	identify(operation, false);
	operation->nesting.wants_preview = may_be_kept(operation, now_ms);
	if (recognise(operation, now_ms) && rules->nested == POLICY_NESTED_OWN)
		operation->nesting.refused =
		    !engine_intent_admit(&operation->nesting_facts.intent, rules, now_ms, request);
}

void nesting_begin(struct operation *operation, int64_t now_ms, struct engine_request *request)
{
	if (may_have_intents(operation, now_ms))
		look(operation, now_ms, request);
}

void nesting_know(struct operation *operation)
{
	bool was_known = operation->nesting.known;
	if (operation->section->rules.nested == POLICY_NESTED_OFF)
		return;
	/* A body that never went out isn't known yet. */
	if (was_known && operation->nesting_facts.thread_key != 0)
		return;
	int64_t entry_ms = operation->engine.entry_ms;
	identify(operation, true);
	if (may_have_intents(operation, entry_ms) && recognise(operation, entry_ms))
		return;
	if (!was_known)
		begin_intent(operation);
	operation->nesting.known = true;
}

/* The strongest evidence that an outer layer retries such a failure; none: it doesn't. */
static enum state_evidence find_owner(struct operation *operation, enum engine_class failure, int status)
{
	const struct declared *declared = declared_layer(operation);
	struct nesting_facts *facts = &operation->nesting_facts;
	if (declared->layer && outer_layer_retries(declared->layer, failure, status))
		return declared->kind;
	int made = operation->engine.attempts + operation->outcome.resends;
	if (engine_intent_yields(&facts->intent, &operation->section->rules, operation->nesting.returns, failure, made))
		return STATE_EVIDENCE_OBSERVED;
	return learning_covers(operation, failure) ? STATE_EVIDENCE_LEARNED : STATE_EVIDENCE_NONE;
}

/* Of a body that a callback gives nobody knew at the begin that it is one which comes back. */
static void share_late(struct operation *operation)
{
	struct engine_request shared = {.prior_attempts = 0};
	if (operation->nesting.known)
		return;
	nesting_know(operation);
	engine_intent_admit(&operation->nesting_facts.intent, &operation->section->rules, operation->engine.entry_ms,
	                    &shared);
	engine_share(&operation->engine, &shared);
}

bool nesting_yields(void *context, enum engine_class failure, int status)
{
	struct operation *operation = context;
	if (operation->section->rules.nested == POLICY_NESTED_OWN)
		share_late(operation);
	if (operation->section->rules.nested != POLICY_NESTED_YIELD)
		return false;
	nesting_know(operation);
	enum state_evidence evidence = find_owner(operation, failure, status);
	operation->nesting.left_to_outer = evidence != STATE_EVIDENCE_NONE;
	operation->nesting.promised = evidence == STATE_EVIDENCE_LEARNED && !operation->nesting.returns;
	if (evidence != STATE_EVIDENCE_NONE)
		operation->nesting.evidence = evidence;
	return operation->nesting.left_to_outer;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static enum wait_end pause_until(struct operation *operation, int64_t now_ms, int64_t due_ms)
{
	int64_t most_ms = operation->engine.request.added_limit_ms;
	if (most_ms > 0 && due_ms - now_ms > most_ms)
		return WAIT_BROKEN_OFF;
	enum wait_end end = wait_until(operation, due_ms);
	int64_t ended_ms = clock_ms();
	bounds_note_added(ended_ms - now_ms, ended_ms);
	return end;
}

enum wait_end nesting_pace(struct operation *operation)
{
	int64_t pause_ms = operation->section->rules.backoff_base_ms, now_ms = clock_ms();
	int64_t last_ms = later(thread_notes_refused_ms(), operation->nesting_facts.refused_ms);
	int64_t end_ms = engine_end_ms(&operation->engine);
	enum wait_end end = WAIT_OVER;
	/* What a damaged or foreign state says of the future isn't waited for. */
	last_ms = last_ms < now_ms ? last_ms : now_ms;
	/* 0: none was refused yet. */
	if (last_ms > 0 && last_ms + pause_ms > now_ms) {
		int64_t due_ms = last_ms + pause_ms < end_ms ? last_ms + pause_ms : end_ms;
		if (due_ms > now_ms)
			end = pause_until(operation, now_ms, due_ms);
	}
	operation->nesting_facts.refused_ms = clock_ms();
	thread_notes_set_refused_ms(operation->nesting_facts.refused_ms);
	return end;
}

static int64_t asked_until_ms(const struct operation *operation)
{
	const struct engine_retry_after *asked = &operation->outcome.retry_after;
	if (asked->kind == ENGINE_RETRY_AFTER_NONE)
		return 0;
	bool is_beyond = asked->kind == ENGINE_RETRY_AFTER_BEYOND || asked->wait_ms > ASKED_MS_MAX;
	/* The clock is read rounded down: one more, so that it is never a fraction too short. */
	return operation->verdict_ms + (is_beyond ? ASKED_MS_MAX : asked->wait_ms) + 1;
}

/* Audit makes one attempt where all of the policy's would have been made. */
static int attempts_made(const struct operation *operation)
{
	if (operation->gate.observes && operation->verdict.action == ENGINE_RETRY)
		return (int)operation->section->rules.max_attempts;
	return operation->engine.attempts;
}

static void add_operation(struct operation *operation, int64_t now_ms)
{
	struct nesting_facts *facts = &operation->nesting_facts;
	const struct policy_rules *rules = &operation->section->rules;
	bool failed = operation->verdict.passing;
	const struct engine_intent_result result = {
	    .ended_ms = now_ms,
	    .sent_ms = operation->verdict_ms,
	    .asked_until_ms = asked_until_ms(operation),
	    .attempts = attempts_made(operation),
	    .resends = operation->outcome.resends,
	    .failure = failed ? operation->verdict.failure : ENGINE_CLASS_NONE,
	    .reason = operation->verdict.action == ENGINE_RETRY ? ENGINE_ATTEMPT_CAP : operation->verdict.reason,
	};
	engine_intent_add(&facts->intent, &result);
	facts->sends += (uint64_t)sends_total(&operation->sends);
	if (!failed)
		return;
	facts->expires_ms = now_ms + rules->nested_window_ms;
	if (rules->nested != POLICY_NESTED_OWN)
		return;
	/* It is refused until then, however small the window is. */
	facts->expires_ms = later(facts->expires_ms, facts->intent.asked_until_ms);
	facts->expires_ms = later(facts->expires_ms, now_ms + rules->nested_quiet_ms);
}

/* For this thread, and for later processes of its ancestors. */
static void keep_for_all(const struct operation *operation, int64_t now_ms)
{
	const struct nesting_facts *facts = &operation->nesting_facts;
	keep(operation, facts->thread_key, now_ms);
	for (int i = 0; i < facts->family.ancestor_count; i++)
		keep(operation, key_of_run(facts, &facts->family.ancestors[i]), now_ms);
}

void nesting_end(struct operation *operation)
{
	struct nesting_facts *facts = &operation->nesting_facts;
	int64_t now_ms = clock_ms();
	/* What the program itself ended is neither a success nor a failure of the intent. */
	if (operation->verdict.reason == ENGINE_CANCELLED)
		return;
	if (!operation->nesting.refused)
		add_operation(operation, now_ms);
	/* Nobody was told of the failures of an operation that got through. */
	if (facts->expires_ms <= now_ms)
		return;
	keep_for_all(operation, now_ms);
	if (facts->want != 0 && has_candidates(operation)) {
		become_candidate(operation);
		keep_for_all(operation, now_ms);
	}
	extend_intents(operation, facts->expires_ms);
	if (operation->nesting.promised && operation->verdict.reason == ENGINE_NESTED)
		learning_promise(operation);
}

enum state_evidence nesting_left_by(const struct operation *operation)
{
	bool yields = operation->section->rules.nested == POLICY_NESTED_YIELD;
	bool is_left = yields && (operation->nesting.returns || operation->nesting.left_to_outer);
	return is_left ? operation->nesting.evidence : STATE_EVIDENCE_NONE;
}

const char *nesting_owner(const struct operation *operation)
{
	return nesting_left_by(operation) != STATE_EVIDENCE_NONE ? "outer" : "us";
}

const char *nesting_evidence(const struct operation *operation)
{
	switch (operation->nesting.evidence) {
	case STATE_EVIDENCE_NONE:
		return NULL;
	case STATE_EVIDENCE_LEARNED:
		return "learned";
	case STATE_EVIDENCE_OBSERVED:
		return "observed";
	case STATE_EVIDENCE_HEADER:
	case STATE_EVIDENCE_PROGRAM:
	case STATE_EVIDENCE_CURL:
		break;
	}
	return operation->nesting_facts.declared.evidence;
}
