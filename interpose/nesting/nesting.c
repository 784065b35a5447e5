/* SPDX-License-Identifier: MIT */

/*
 * Three layers of three tries are 27 requests; one owner makes 3. So before an operation is retried we ask whether a
 * layer above us will do it:
 *
 *   declared  a header, the program's name, curl's --retry say so (interpose/nesting/declared.h), and which failures it
 * retries observed  what the operation wants is what failed a moment ago, and it was we who returned the failure
 *   learned   this call site or this parent came back for such failures before (interpose/nesting/learning.h)
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

#include "base/clock.h"
#include "base/hash.h"
#include "interpose/handle/program_body.h"
#include "interpose/handle/shared_state.h"
#include "interpose/handle/thread_notes.h"
#include "interpose/host/dice.h"
#include "interpose/host/host_state.h"
#include "interpose/host/process.h"
#include "interpose/nesting/intent_key.h"
#include "interpose/nesting/learning.h"
#include "interpose/nesting/nesting.h"

#define ASKED_MS_MAX (INT64_C(24) * 3600 * 1000) /* no Retry-After keeps an intent longer */

/* Instant until which intents may live that had no entry to say so: `state = none`, or the state was just being opened.
 */
static _Atomic int64_t kept_until_ms;

static bool may_have_intents(const struct nesting *nesting, int64_t now_ms)
{
	const struct state_entry *entry = shared_state_entry(nesting->handle);
	if (nesting->rules->nested == POLICY_NESTED_OFF)
		return false;
	return (entry && state_intents_until(entry) > now_ms) ||
	       atomic_load_explicit(&kept_until_ms, memory_order_relaxed) > now_ms;
}

static void extend_intents(const struct nesting *nesting, int64_t until_ms)
{
	struct state_entry *entry = shared_state_entry(nesting->handle);
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

static void identify(struct nesting *nesting, enum body_sent sent)
{
	struct nesting_facts *facts = nesting->facts;
	facts->want = intent_key_of(nesting->handle, sent);
	facts->invocation = declared_invocation(nesting->handle, nesting->rules);
	facts->thread_key = key_of_thread(facts);
	/* Without a run nobody's parent matters, and no file need be read. */
	if (process_run()[0])
		family_find(&facts->caller.family);
	else
		facts->caller.family = (struct family){.process = family_process()};
}

uint64_t nesting_id(struct nesting *nesting)
{
	struct nesting_facts *facts = nesting->facts;
	if (!nesting->has_id)
		facts->id = dice_number();
	nesting->has_id = true;
	return facts->id;
}

/* An intent that has no past. */
static void begin_intent(struct nesting *nesting)
{
	struct nesting_facts *facts = nesting->facts;
	facts->intent = (struct engine_intent){.began_ms = nesting->entry_ms};
	nesting_id(nesting);
	facts->sends = 0;
	facts->refused_ms = 0;
	facts->expires_ms = 0;
	facts->gap_ms = 0;
}

static void take_kept(struct nesting *nesting, const struct state_intent *kept)
{
	struct nesting_facts *facts = nesting->facts;
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
	facts->id = nesting->has_id ? facts->id : kept->id;
	nesting->has_id = true;
	facts->sends = kept->sends;
	facts->refused_ms = kept->refused_ms;
	facts->expires_ms = kept->expires_ms;
}

static void keep(const struct nesting *nesting, uint64_t key, int64_t now_ms)
{
	const struct nesting_facts *facts = nesting->facts;
	const struct engine_intent *intent = &facts->intent;
	const struct state_intent kept = {
	    .key = key,
	    .id = facts->id,
	    .process = facts->caller.family.process,
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
		state_intent_keep(host_state(), &kept, now_ms);
}

/* Another thread of this process, or a process that ran at the same time, is nobody's next try. */
static bool find_kept_of_run(const struct nesting_facts *facts, int64_t now_ms, struct state_intent *kept)
{
	for (int i = 0; i < facts->caller.family.ancestor_count; i++) {
		const struct family_ancestor *ancestor = &facts->caller.family.ancestors[i];
		uint64_t key = key_of_run(facts, ancestor);
		if (key != 0 && state_intent_find(host_state(), key, now_ms, kept) &&
		    kept->process != facts->caller.family.process && ancestor->started_ms >= kept->ended_ms)
			return true;
	}
	return false;
}

static bool find_kept_of_thread(const struct nesting_facts *facts, int64_t now_ms, struct state_intent *kept)
{
	return facts->thread_key != 0 && state_intent_find(host_state(), facts->thread_key, now_ms, kept);
}

/* Finds the intent that this operation is one of. Returns false if there is none. */
static bool find_kept(struct nesting *nesting, int64_t now_ms, enum learning_caller *caller)
{
	struct nesting_facts *facts = nesting->facts;
	struct state_intent kept;
	bool found = find_kept_of_thread(facts, now_ms, &kept);
	*caller = found ? LEARNING_CALL_SITE : LEARNING_PARENT;
	if (!found && !find_kept_of_run(facts, now_ms, &kept))
		return false;
	take_kept(nesting, &kept);
	facts->gap_ms = now_ms - facts->intent.ended_ms;
	return true;
}

static const struct declared *declared_layer(struct nesting *nesting)
{
	struct declared *declared = &nesting->facts->declared;
	if (nesting->declared_is_known)
		return declared;
	caller_know_site(&nesting->facts->caller);
	declared_find(nesting->handle, nesting->rules, nesting->facts->caller.site.library, declared);
	nesting->declared_is_known = true;
	return declared;
}

/* A layer that shows itself is known without being learned; other operations of the call site may have none. */
static bool is_worth_learning(struct nesting *nesting, enum learning_caller caller, enum engine_class failure)
{
	const struct outer_layer *layer = caller == LEARNING_CALL_SITE ? declared_layer(nesting)->layer : NULL;
	return !layer || (uint32_t)failure >= 32 || (layer->failures & (UINT32_C(1) << failure)) == 0;
}

static void resume(struct nesting *nesting, enum learning_caller caller, int64_t now_ms)
{
	struct nesting_facts *facts = nesting->facts;
	struct engine_intent *intent = &facts->intent;
	enum engine_class failure = (enum engine_class)intent->last_failure;
	enum engine_return how = engine_intent_return(intent, now_ms);
	bool polled_before = intent->success_gap_ms != 0 && intent->failures == 0;

	engine_intent_resume(intent, how, now_ms);
	if (how == ENGINE_RETURN_FRESH && !polled_before)
		learning_drop(&facts->caller, caller);
	if (how != ENGINE_RETURN_RETRY) {
		nesting->has_id = false;
		nesting_id(nesting);
		facts->sends = 0;
		return;
	}
	nesting->returns = true;
	nesting->evidence = STATE_EVIDENCE_OBSERVED;
	if (is_worth_learning(nesting, caller, failure))
		learning_teach(&facts->caller, caller, failure);
}

/* Returns whether the operation, which is identified, is one of an intent that failed lately. */
static bool recognise(struct nesting *nesting, int64_t now_ms)
{
	enum learning_caller caller;
	if (!find_kept(nesting, now_ms, &caller))
		return false;
	nesting->known = true;
	resume(nesting, caller, now_ms);
	return true;
}

/*
 * Whether the operation's body is known only once it was read, but can be read twice. One without a size is most often
 * what curl reads from a pipe, or from a file that a shell has read in part: asked to rewind, it goes to the wrong
 * place.
 */
static bool has_candidates(const struct nesting *nesting)
{
	return nesting->rules->nested == POLICY_NESTED_OWN && !nesting->observes &&
	       program_body_is_rewound(nesting->handle) && program_body_announced_bytes(&nesting->handle->program) >= 0;
}

/* Goes by all but the body: what may be wanted, until that is known. */
static void become_candidate(struct nesting *nesting)
{
	struct nesting_facts *facts = nesting->facts;
	facts->want = intent_key_of_candidate(nesting->handle);
	facts->thread_key = key_of_thread(facts);
}

/* Whether the operation, which isn't known, may be one of an intent that failed lately. */
static bool may_be_kept(struct nesting *nesting, int64_t now_ms)
{
	struct nesting_facts *facts = nesting->facts;
	struct state_intent kept;
	if (facts->thread_key != 0 || !has_candidates(nesting))
		return false;
	become_candidate(nesting);
	bool found = find_kept_of_thread(facts, now_ms, &kept) || find_kept_of_run(facts, now_ms, &kept);
	facts->want = facts->thread_key = 0;
	return found;
}

bool nesting_look_again(struct nesting *nesting, bool is_lost, struct engine_request *shared)
{
	identify(nesting, BODY_UNSENT);
	nesting->handle->body.preview_key = 0;
	*shared = (struct engine_request){.prior_attempts = 0};
	bool is_known = recognise(nesting, nesting->entry_ms);
	bool is_admitted =
	    !is_known || engine_intent_admit(&nesting->facts->intent, nesting->rules, nesting->entry_ms, shared);
	nesting->lost_body = is_lost;
	nesting->refused = !is_admitted || is_lost;
	return is_known;
}

/* Not inlined: what every success runs through would save its registers for it. */
static __attribute__((noinline)) void look(struct nesting *nesting, struct engine_request *request)
{
	const struct policy_rules *rules = nesting->rules;
	int64_t now_ms = nesting->entry_ms;
	nesting->facts->refused_ms = 0;
	identify(nesting, BODY_UNSENT);
	nesting->wants_preview = may_be_kept(nesting, now_ms);
	if (recognise(nesting, now_ms) && rules->nested == POLICY_NESTED_OWN)
		nesting->refused = !engine_intent_admit(&nesting->facts->intent, rules, now_ms, request);
}

void nesting_begin(struct nesting *fresh, struct engine_request *request)
{
	struct caller *caller = &fresh->facts->caller;
	caller->handle = fresh->handle;
	caller->rules = fresh->rules;
	caller->site_is_known = false;
	if (may_have_intents(fresh, fresh->entry_ms))
		look(fresh, request);
}

void nesting_know(struct nesting *nesting, enum body_sent sent)
{
	bool was_known = nesting->known;
	if (nesting->rules->nested == POLICY_NESTED_OFF)
		return;
	/* A body that never went out isn't known yet. */
	if (was_known && nesting->facts->thread_key != 0)
		return;
	int64_t entry_ms = nesting->entry_ms;
	identify(nesting, sent);
	if (may_have_intents(nesting, entry_ms) && recognise(nesting, entry_ms))
		return;
	if (!was_known)
		begin_intent(nesting);
	nesting->known = true;
}

/* The strongest evidence that an outer layer retries such a failure; none: it doesn't. */
static enum state_evidence find_owner(struct nesting *nesting, int attempts, enum engine_class failure, int status)
{
	const struct declared *declared = declared_layer(nesting);
	struct nesting_facts *facts = nesting->facts;
	if (declared->layer && outer_layer_retries(declared->layer, failure, status))
		return declared->kind;
	if (engine_intent_yields(&facts->intent, nesting->rules, nesting->returns, failure, attempts))
		return STATE_EVIDENCE_OBSERVED;
	return learning_covers(&facts->caller, failure, &facts->promised_key) ? STATE_EVIDENCE_LEARNED
	                                                                      : STATE_EVIDENCE_NONE;
}

void nesting_share(const struct nesting *nesting, struct engine_request *shared)
{
	*shared = (struct engine_request){.prior_attempts = 0};
	engine_intent_admit(&nesting->facts->intent, nesting->rules, nesting->entry_ms, shared);
}

bool nesting_yields(struct nesting *nesting, int attempts, enum engine_class failure, int status)
{
	enum state_evidence evidence = find_owner(nesting, attempts, failure, status);
	nesting->left_to_outer = evidence != STATE_EVIDENCE_NONE;
	nesting->promised = evidence == STATE_EVIDENCE_LEARNED && !nesting->returns;
	if (evidence != STATE_EVIDENCE_NONE)
		nesting->evidence = evidence;
	return nesting->left_to_outer;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

int64_t nesting_pace_ms(const struct nesting *nesting, int64_t now_ms, int64_t end_ms)
{
	int64_t last_ms = later(thread_notes_refused_ms(), nesting->facts->refused_ms);
	/* What a damaged or foreign state says of the future isn't waited for. */
	last_ms = last_ms < now_ms ? last_ms : now_ms;
	/* 0: none was refused yet. */
	int64_t due_ms = last_ms > 0 ? last_ms + nesting->rules->backoff_base_ms : now_ms;
	return due_ms < end_ms ? due_ms : end_ms;
}

void nesting_note_refused(struct nesting *nesting, int64_t now_ms)
{
	nesting->facts->refused_ms = now_ms;
	thread_notes_set_refused_ms(now_ms);
}

static int64_t asked_until_ms(const struct nesting_result *result)
{
	const struct engine_retry_after *asked = &result->outcome->retry_after;
	if (asked->kind == ENGINE_RETRY_AFTER_NONE)
		return 0;
	bool is_beyond = asked->kind == ENGINE_RETRY_AFTER_BEYOND || asked->wait_ms > ASKED_MS_MAX;
	/* The clock is read rounded down: one more, so that it is never a fraction too short. */
	return result->verdict_ms + (is_beyond ? ASKED_MS_MAX : asked->wait_ms) + 1;
}

static void add_operation(struct nesting *nesting, const struct nesting_result *result, int64_t now_ms)
{
	struct nesting_facts *facts = nesting->facts;
	const struct policy_rules *rules = nesting->rules;
	const struct engine_verdict *verdict = result->verdict;
	bool failed = verdict->passing;
	const struct engine_intent_result added = {
	    .ended_ms = now_ms,
	    .sent_ms = result->verdict_ms,
	    .asked_until_ms = asked_until_ms(result),
	    .attempts = result->attempts,
	    .resends = result->outcome->resends,
	    .failure = failed ? verdict->failure : ENGINE_CLASS_NONE,
	    .reason = verdict->action == ENGINE_RETRY ? ENGINE_ATTEMPT_CAP : verdict->reason,
	};
	engine_intent_add(&facts->intent, &added);
	facts->sends += (uint64_t)result->sends;
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
static void keep_for_all(const struct nesting *nesting, int64_t now_ms)
{
	const struct nesting_facts *facts = nesting->facts;
	keep(nesting, facts->thread_key, now_ms);
	for (int i = 0; i < facts->caller.family.ancestor_count; i++)
		keep(nesting, key_of_run(facts, &facts->caller.family.ancestors[i]), now_ms);
}

void nesting_end(struct nesting *nesting, const struct nesting_result *result)
{
	struct nesting_facts *facts = nesting->facts;
	int64_t now_ms = clock_ms();
	/* What the program itself ended is neither a success nor a failure of the intent. */
	if (result->verdict->reason == ENGINE_CANCELLED)
		return;
	if (!nesting->refused)
		add_operation(nesting, result, now_ms);
	/* Nobody was told of the failures of an operation that got through. */
	if (facts->expires_ms <= now_ms)
		return;
	keep_for_all(nesting, now_ms);
	if (facts->want != 0 && has_candidates(nesting)) {
		become_candidate(nesting);
		keep_for_all(nesting, now_ms);
	}
	extend_intents(nesting, facts->expires_ms);
	if (nesting->promised && result->verdict->reason == ENGINE_NESTED)
		learning_promise(facts->promised_key);
}

enum state_evidence nesting_left_by(const struct nesting *nesting)
{
	bool yields = nesting->rules->nested == POLICY_NESTED_YIELD;
	bool is_left = yields && (nesting->returns || nesting->left_to_outer);
	return is_left ? nesting->evidence : STATE_EVIDENCE_NONE;
}

const char *nesting_owner(const struct nesting *nesting)
{
	return nesting_left_by(nesting) != STATE_EVIDENCE_NONE ? "outer" : "us";
}

const char *nesting_evidence(const struct nesting *nesting)
{
	switch (nesting->evidence) {
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
	return nesting->facts->declared.evidence;
}
