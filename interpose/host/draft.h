/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_DRAFT_H
#define TENACURL_INTERPOSE_DRAFT_H

/*
 * A log record while it is made: what every one has, and the way to the log. What couldn't be written is counted in the
 * next one, and in the shared state.
 */

#include <stdbool.h>

#include "base/url.h"
#include "config/policy.h"
#include "log/record.h"

#define DRAFT_URL_BYTES 1024
#define DRAFT_ID_BYTES  17

/* All that a record needs, on the heap: a thread may have 16 KiB of stack, and libcurl itself uses half of that. */
struct draft {
	struct record record;
	struct record_judgement judged;
	struct url parts;
	char url[DRAFT_URL_BYTES];
	char intent[DRAFT_ID_BYTES];
	char line[RECORD_BYTES_MAX];
};

/* To be freed with free(); NULL without memory: the record is lost. */
struct draft *draft_new(enum record_kind kind);

/* Fills in the time, and which process it is. */
void draft_fill_process(struct record *record);

/* Writes it to the log that the rules name. Returns whether it got there. No cancellation point. */
bool draft_write(struct draft *draft, const struct policy_rules *rules);

/* Writes a text to syslog, without its control characters. Returns whether it got there. */
bool draft_note_in_syslog(const char *text);

#endif
