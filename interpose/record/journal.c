/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "engine/curl_codes.h"
#include "interpose/handle/info.h"
#include "interpose/host/draft.h"
#include "interpose/host/process.h"
#include "interpose/record/journal.h"
#include "log/record.h"

static _Atomic uint64_t operation_count;

static const char *const mode_names[] = {
    [POLICY_MODE_ENFORCE] = "enforce",
    [POLICY_MODE_AUDIT] = "audit",
    [POLICY_MODE_OFF] = "off",
};

bool journal_wants_success(const struct operation *operation)
{
	const struct policy_rules *rules = &operation->section->rules;
	if (rules->log == POLICY_LOG_NONE)
		return false;
	return rules->log_events == POLICY_LOG_EVENTS_ALL || operation->course.engine.attempts > 1 ||
	       operation->sends.resends > 0 || operation->nesting.returns;
}

/* `log_events = retries`: operations in which something failed that is worth a retry, or was sent again by libcurl. */
static bool is_worth_a_record(const struct operation *operation)
{
	if (operation->section->rules.log == POLICY_LOG_NONE)
		return false;
	if (journal_wants_success(operation))
		return true;
	enum engine_reason reason = operation->course.verdict.reason;
	return reason != ENGINE_SUCCESS && reason != ENGINE_TERMINAL_ERROR && reason != ENGINE_CANCELLED;
}

static int64_t time_left_ms(const struct operation *operation)
{
	int64_t end_ms = course_end_ms(&operation->course);
	if (end_ms == ENGINE_NEVER)
		return RECORD_UNKNOWN_MS;
	int64_t left_ms = end_ms - clock_ms();
	return left_ms > 0 ? left_ms : 0;
}

/* The URL as set, redacted. */
static void fill_url(struct draft *draft, const struct operation *operation)
{
	bool is_read = handle_read_url(operation->handle, &draft->parts);
	record_redact_url(is_read ? &draft->parts : NULL, operation->section->rules.log_url, draft->url,
	                  DRAFT_URL_BYTES);
	draft->record.url = draft->url;
}

/* Whose operation it is, by which policy and which libcurl. */
static void fill_origin(struct record *record, struct operation *operation)
{
	const struct handle *handle = operation->handle;

	if (operation->number == 0)
		operation->number = atomic_fetch_add(&operation_count, 1) + 1;
	record->operation = operation->number;
	record->mode = mode_names[operation->section->rules.mode];
	record->policy_path = operation->policy->path;
	record->policy_hash = operation->policy->hash;
	record->section = operation->section->name;
	record->libcurl_flavour = handle->libcurl->flavour;
	record->libcurl_version = handle->libcurl->version;
	record->method = handle_told_verb(handle);
}

/* Which layer retries, and what the intent has had so far. */
static void fill_intent(struct draft *draft, const struct operation *operation)
{
	const struct nesting_facts *facts = &operation->nesting_facts;
	struct record *record = &draft->record;
	record->owner = nesting_owner(&operation->nesting);
	if (!operation->nesting.known)
		return;
	record->evidence = nesting_evidence(&operation->nesting);
	snprintf(draft->intent, DRAFT_ID_BYTES, "%016llx", (unsigned long long)facts->id);
	record->intent = draft->intent;
	record->intent_operations = facts->intent.operations;
	record->intent_sends = (int64_t)facts->sends;
}

static void fill_operation(struct draft *draft, struct operation *operation, CURLcode result)
{
	const struct handle *handle = operation->handle;
	const struct engine_verdict *verdict = &operation->course.verdict;
	struct record *record = &draft->record;

	draft_fill_process(record);
	fill_url(draft, operation);
	fill_origin(record, operation);
	fill_intent(draft, operation);
	record->status = info_response_code(handle);
	record->curl_code = (int)result;
	record->curl_name = engine_curl_code_name((int)result);
	record->failure = engine_class_name(verdict->failure);
	record->verdict = verdict->action == ENGINE_RETRY ? "retry" : "deliver";
	record->reason = engine_reason_name(verdict->reason);
	record->left_ms = time_left_ms(operation);
}

static void fill_attempt(struct record *record, const struct operation *operation)
{
	const struct handle *handle = operation->handle;
	const struct engine_verdict *verdict = &operation->course.verdict;
	const struct engine_retry_after *retry_after = &operation->outcome.retry_after;

	record->attempt = operation->course.engine.attempts;
	record->unsent = operation->outcome.unsent;
	record->ambiguous = verdict->ambiguous;
	record->dns_ms = info_ms(handle, CURLINFO_NAMELOOKUP_TIME);
	record->connect_ms = info_ms(handle, CURLINFO_CONNECT_TIME);
	record->tls_ms = info_ms(handle, CURLINFO_APPCONNECT_TIME);
	record->first_byte_ms = info_ms(handle, CURLINFO_STARTTRANSFER_TIME);
	record->total_ms = info_ms(handle, CURLINFO_TOTAL_TIME);
	record->retry_after_ms =
	    retry_after->kind == ENGINE_RETRY_AFTER_NONE ? RECORD_UNKNOWN_MS : retry_after->wait_ms;
	record->wait_ms = verdict->action == ENGINE_RETRY ? verdict->wait_ms : RECORD_UNKNOWN_MS;
	record->upstream_attempts = operation->gate.block.upstream_attempts;
}

static void record_attempt(struct operation *operation, CURLcode result)
{
	struct draft *draft = draft_new(RECORD_ATTEMPT);
	if (!draft)
		return;
	fill_operation(draft, operation, result);
	fill_attempt(&draft->record, operation);
	if (operation->is_witnessed) {
		witness_tell(&operation->witness, &operation->course.engine, &operation->outcome, &draft->judged);
		draft->record.judged = &draft->judged;
	}
	draft_write(draft, &operation->section->rules);
	free(draft);
}

void journal_attempt(struct operation *operation, CURLcode result)
{
	int saved_errno = errno;
	if (is_worth_a_record(operation))
		record_attempt(operation, result);
	errno = saved_errno;
}

static void record_operation(struct operation *operation, CURLcode result)
{
	struct draft *draft = draft_new(RECORD_OPERATION);
	if (!draft)
		return;
	struct record *record = &draft->record;
	fill_operation(draft, operation, result);
	record->attempts = operation->course.engine.attempts;
	record->sends = sends_total(&operation->sends);
	record->waited_ms = operation->course.engine.waited_ms;
	record->elapsed_ms = clock_ms() - operation->course.engine.entry_ms;
	draft_write(draft, &operation->section->rules);
	free(draft);
}

void journal_operation(struct operation *operation, CURLcode result)
{
	int saved_errno = errno;
	if (is_worth_a_record(operation))
		record_operation(operation, result);
	errno = saved_errno;
}

static void record_return(struct operation *operation)
{
	struct draft *draft = draft_new(RECORD_NESTED);
	if (!draft)
		return;
	struct record *record = &draft->record;
	draft_fill_process(record);
	fill_url(draft, operation);
	fill_origin(record, operation);
	fill_intent(draft, operation);
	record->intent_operations++; /* the one that begins */
	record->gap_ms = operation->nesting_facts.gap_ms;
	draft_write(draft, &operation->section->rules);
	free(draft);
}

void journal_return(struct operation *operation)
{
	int saved_errno = errno;
	if (operation->section->rules.log != POLICY_LOG_NONE)
		record_return(operation);
	errno = saved_errno;
}
