/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/load.h"
#include "engine/curl_codes.h"
#include "interpose/clock.h"
#include "interpose/journal.h"
#include "interpose/outcome.h"
#include "interpose/process.h"
#include "interpose/shared_state.h"
#include "log/record.h"
#include "log/sink.h"
#include "log/text.h"
#include "state/count.h"

#define URL_BYTES      1024
#define ID_BYTES       17
#define SYSLOG_WARNING 4
#define LOSS_BYTES     448
#define TELL_EVERY_MS  60000

/* All that a record needs, on the heap: a thread may have 16 KiB of stack, and libcurl itself uses half of that. */
struct draft {
	struct record record;
	struct record_judgement judged;
	struct url parts;
	char url[URL_BYTES];
	char intent[ID_BYTES];
	char line[RECORD_BYTES_MAX];
};

static _Atomic uint64_t operation_count;
static _Atomic uint64_t lost_count;

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
	return rules->log_events == POLICY_LOG_EVENTS_ALL || operation->engine.attempts > 1 ||
	       operation->sends.resends > 0 || operation->nesting.returns;
}

/* `log_events = retries`: operations in which something failed that is worth a retry, or was sent again by libcurl. */
static bool is_worth_a_record(const struct operation *operation)
{
	if (operation->section->rules.log == POLICY_LOG_NONE)
		return false;
	if (journal_wants_success(operation))
		return true;
	enum engine_reason reason = operation->verdict.reason;
	return reason != ENGINE_SUCCESS && reason != ENGINE_TERMINAL_ERROR && reason != ENGINE_CANCELLED;
}

/* To be freed; NULL without memory: the record is lost. */
static struct draft *new_draft(enum record_kind kind)
{
	struct draft *draft = malloc(sizeof(*draft));
	if (draft)
		draft->record = (struct record){.kind = kind};
	else
		atomic_fetch_add(&lost_count, 1);
	return draft;
}

static const char *text_or_null(const char *text)
{
	return text[0] ? text : NULL;
}

static void fill_process(struct record *record)
{
	const struct process_environment *environment = process_environment();
	record->time_us = clock_calendar_us();
	record->pid = process_pid();
	record->program = process_program();
	record->job = text_or_null(environment->job);
	record->run = text_or_null(process_run());
}

static int64_t time_left_ms(const struct operation *operation)
{
	int64_t end_ms = engine_end_ms(&operation->engine);
	if (end_ms == ENGINE_NEVER)
		return RECORD_UNKNOWN_MS;
	int64_t left_ms = end_ms - clock_ms();
	return left_ms > 0 ? left_ms : 0;
}

/* The URL as set, redacted. */
static void fill_url(struct draft *draft, const struct operation *operation)
{
	bool is_read = handle_read_url(operation->handle, &draft->parts);
	record_redact_url(is_read ? &draft->parts : NULL, operation->section->rules.log_url, draft->url, URL_BYTES);
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
	record->owner = nesting_owner(operation);
	if (!operation->nesting.known)
		return;
	record->evidence = nesting_evidence(operation);
	snprintf(draft->intent, ID_BYTES, "%016llx", (unsigned long long)facts->id);
	record->intent = draft->intent;
	record->intent_operations = facts->intent.operations;
	record->intent_sends = (int64_t)facts->sends;
}

static void fill_operation(struct draft *draft, struct operation *operation, CURLcode result)
{
	const struct handle *handle = operation->handle;
	const struct engine_verdict *verdict = &operation->verdict;
	struct record *record = &draft->record;

	fill_process(record);
	fill_url(draft, operation);
	fill_origin(record, operation);
	fill_intent(draft, operation);
	record->status = outcome_response_code(handle);
	record->curl_code = (int)result;
	record->curl_name = engine_curl_code_name((int)result);
	record->failure = engine_class_name(verdict->failure);
	record->verdict = verdict->action == ENGINE_RETRY ? "retry" : "deliver";
	record->reason = engine_reason_name(verdict->reason);
	record->left_ms = time_left_ms(operation);
}

static int64_t info_ms(const struct handle *handle, CURLINFO info)
{
	double seconds = 0;
	if (handle->libcurl->getinfo(handle->curl, info, &seconds) != CURLE_OK)
		return RECORD_UNKNOWN_MS;
	return (int64_t)(seconds * 1000 + 0.5);
}

static void fill_attempt(struct record *record, const struct operation *operation)
{
	const struct handle *handle = operation->handle;
	const struct engine_verdict *verdict = &operation->verdict;
	const struct engine_retry_after *retry_after = &operation->outcome.retry_after;

	record->attempt = operation->engine.attempts;
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

/* Notes tell paths, which may hold anything; records have no control characters. */
static bool note_in_syslog(const char *text)
{
	char *clean = strdup(text);
	if (!clean)
		return false;
	for (char *at = clean; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = '?';
	bool told = log_syslog(SYSLOG_WARNING, clean, strlen(clean));
	free(clean);
	return told;
}

/* The next sink: a record that the policy's log didn't take shall not be missing without a trace. */
static void tell_of_loss(const struct policy_rules *rules)
{
	static _Atomic int64_t next_ms;
	static const char *const names[] = {[POLICY_LOG_STDERR] = "stderr", [POLICY_LOG_STDERR_JSON] = "stderr"};
	int64_t now_ms = clock_ms(), due_ms = atomic_load_explicit(&next_ms, memory_order_relaxed);
	char text[LOSS_BYTES];
	state_count_lost_records(shared_state_whole(), 1);
	if (rules->log == POLICY_LOG_SYSLOG || now_ms < due_ms ||
	    !atomic_compare_exchange_strong(&next_ms, &due_ms, now_ms + TELL_EVERY_MS))
		return;
	snprintf(text, sizeof(text),
	         "%.64s: records are lost: log = %.300s can't be written ('tenacurl policy check' tells why)",
	         process_program(), rules->log == POLICY_LOG_FILE ? rules->log_path : names[rules->log]);
	note_in_syslog(text);
}

static bool write_draft(struct draft *draft, const struct policy_rules *rules)
{
	struct record *record = &draft->record;
	int cancel_state;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	record->lost = atomic_exchange(&lost_count, 0);
	bool is_for_people = rules->log == POLICY_LOG_STDERR;
	size_t line_bytes = (is_for_people ? record_format_text : record_format)(record, draft->line);
	bool written = line_bytes > 0 && log_write(rules, process_stderr(), draft->line, line_bytes);
	if (!written) {
		atomic_fetch_add(&lost_count, record->lost + 1);
		tell_of_loss(rules);
	}
	pthread_setcancelstate(cancel_state, &cancel_state);
	return written;
}

static void record_attempt(struct operation *operation, CURLcode result)
{
	struct draft *draft = new_draft(RECORD_ATTEMPT);
	if (!draft)
		return;
	fill_operation(draft, operation, result);
	fill_attempt(&draft->record, operation);
	if (operation->is_witnessed) {
		witness_tell(&operation->witness, operation, &draft->judged);
		draft->record.judged = &draft->judged;
	}
	write_draft(draft, &operation->section->rules);
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
	struct draft *draft = new_draft(RECORD_OPERATION);
	if (!draft)
		return;
	struct record *record = &draft->record;
	fill_operation(draft, operation, result);
	record->attempts = operation->engine.attempts;
	record->sends = sends_total(&operation->sends);
	record->waited_ms = operation->engine.waited_ms;
	record->elapsed_ms = clock_ms() - operation->engine.entry_ms;
	write_draft(draft, &operation->section->rules);
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
	struct draft *draft = new_draft(RECORD_NESTED);
	if (!draft)
		return;
	struct record *record = &draft->record;
	fill_process(record);
	fill_url(draft, operation);
	fill_origin(record, operation);
	fill_intent(draft, operation);
	record->intent_operations++; /* the one that begins */
	record->gap_ms = operation->nesting_facts.gap_ms;
	write_draft(draft, &operation->section->rules);
	free(draft);
}

void journal_return(struct operation *operation)
{
	int saved_errno = errno;
	if (operation->section->rules.log != POLICY_LOG_NONE)
		record_return(operation);
	errno = saved_errno;
}

static bool note_in_log(const struct policy_rules *rules, const char *text)
{
	struct draft *draft = new_draft(RECORD_NOTE);
	if (!draft)
		return false;
	fill_process(&draft->record);
	draft->record.note = text;
	bool written = write_draft(draft, rules);
	free(draft);
	return written;
}

bool journal_tell(const struct policy_rules *rules, const char *text)
{
	int saved_errno = errno;
	bool told = rules->log != POLICY_LOG_NONE ? note_in_log(rules, text) : note_in_syslog(text);
	errno = saved_errno;
	return told;
}

bool journal_complain(const char *text)
{
	/* Not the policy's log: the policy may be what is broken. */
	int saved_errno = errno;
	const char *named = process_environment()->log;
	struct policy_error error;
	struct policy *policy = named[0] ? policy_copy(policy_builtin()) : NULL;
	bool has_log = policy && policy_override(policy, "log", named, &error);
	bool told = journal_tell(has_log ? &policy->sections[0].rules : &policy_builtin()->sections[0].rules, text);
	policy_free(policy);
	errno = saved_errno;
	return told;
}
