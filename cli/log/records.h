/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_LOG_RECORDS_H
#define TENACURL_CLI_LOG_RECORDS_H

/*
 * Reads logs (log/record.h, docs/tenacurl.1) for the commands that tell of them. What isn't a record of our schema is
 * counted and passed over; fields that we don't know stay in the record, unread.
 */

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

struct records_seen {
	size_t records;
	size_t foreign_lines;
	size_t unreadable_files;
};

/* The record is the reader's; whoever wants to keep it takes a reference. */
typedef void (*records_visitor)(void *context, json_t *record);

/*
 * Visits each record of a file, in its order; "-" is standard input. A file that can't be read to its end is counted,
 * and standard error says why; `command` is who says it ("tenacurl log"). One that isn't there in a directory that is
 * counts as empty, and that is said: a log comes with its first record.
 */
void records_read(const char *path, const char *command, records_visitor visit, void *context,
                  struct records_seen *seen);

/*
 * Says on standard error how many lines were foreign. Returns whether there was anything to read: false if all that was
 * given was foreign or unreadable.
 */
bool records_conclude(const struct records_seen *seen, const char *command);

/* A field of a record: its text, "" if it has none; its number, 0 if it has none. Pure. */
const char *record_text(const json_t *record, const char *name);
long long record_number(const json_t *record, const char *name);

#endif
