/* SPDX-License-Identifier: MIT */

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "interpose/host/draft.h"
#include "interpose/host/host_state.h"
#include "interpose/host/process.h"
#include "log/sink.h"
#include "log/text.h"
#include "state/count.h"

#define SYSLOG_WARNING 4
#define LOSS_BYTES     448
#define TELL_EVERY_MS  60000

static _Atomic uint64_t lost_count;

struct draft *draft_new(enum record_kind kind)
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

void draft_fill_process(struct record *record)
{
	const struct process_environment *environment = process_environment();
	record->time_us = clock_calendar_us();
	record->pid = process_pid();
	record->program = process_program();
	record->job = text_or_null(environment->job);
	record->run = text_or_null(process_run());
}

/* Notes tell paths, which may hold anything; records have no control characters. */
bool draft_note_in_syslog(const char *text)
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
	state_count_lost_records(host_state(), 1);
	if (rules->log == POLICY_LOG_SYSLOG || now_ms < due_ms ||
	    !atomic_compare_exchange_strong(&next_ms, &due_ms, now_ms + TELL_EVERY_MS))
		return;
	snprintf(text, sizeof(text),
	         "%.64s: records are lost: log = %.300s can't be written ('tenacurl policy check' tells why)",
	         process_program(), rules->log == POLICY_LOG_FILE ? rules->log_path : names[rules->log]);
	draft_note_in_syslog(text);
}

bool draft_write(struct draft *draft, const struct policy_rules *rules)
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
