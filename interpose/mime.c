/* SPDX-License-Identifier: MIT */

/*
 * A record per part, in chains that are only ever added to, as in handle.c: found without a lock, emptied instead of
 * unlinked. A part knows the mime that it is in; a part that is itself made of a mime links the two levels. Programs
 * make few parts and rarely, so walking all records when a mime goes or is asked about is cheap enough.
 */

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "interpose/mime.h"

#define LEVELS_MAX 16 /* of mimes within mimes; deeper ones are taken for impossible to rewind */

struct part {
	_Atomic(const curl_mimepart *) part; /* NULL: the record is free */
	struct part *next;
	_Atomic(const curl_mime *) mime; /* that it is in */
	const curl_mime *inner;          /* that it is made of; NULL: none */
	curl_seek_callback seek;
	void *argument;
	bool cannot_rewind;
};

static _Atomic(struct part *) parts;
static _Atomic bool is_incomplete; /* a part found no record: nothing can be said of any mime */

static const char claimed_mark;
#define CLAIMED ((const curl_mimepart *)(const void *)&claimed_mark)

static struct part *find_part(const curl_mimepart *part)
{
	struct part *record = atomic_load_explicit(&parts, memory_order_acquire);
	while (record && atomic_load_explicit(&record->part, memory_order_acquire) != part)
		record = record->next;
	return record;
}

static struct part *claim_record(void)
{
	struct part *record = atomic_load_explicit(&parts, memory_order_acquire);
	for (; record; record = record->next) {
		const curl_mimepart *free_mark = NULL;
		if (atomic_compare_exchange_strong(&record->part, &free_mark, CLAIMED))
			return record;
	}
	record = calloc(1, sizeof(*record));
	if (!record)
		return NULL;
	atomic_init(&record->part, CLAIMED);
	record->next = atomic_load_explicit(&parts, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&parts, &record->next, record))
		;
	return record;
}

static bool is_ordinary(const struct part *record)
{
	return !record->inner && !record->seek && !record->cannot_rewind;
}

void mime_note_part(const curl_mime *mime, const curl_mimepart *part)
{
	struct part *record = part ? find_part(part) : NULL;
	if (part && !record)
		record = claim_record();
	if (!record) {
		atomic_store(&is_incomplete, is_incomplete || part);
		return;
	}
	atomic_store_explicit(&record->mime, mime, memory_order_relaxed);
	record->inner = NULL;
	record->seek = NULL;
	record->cannot_rewind = false;
	atomic_store_explicit(&record->part, part, memory_order_release);
}

void mime_note_callback(const curl_mimepart *part, curl_seek_callback seek, void *argument)
{
	struct part *record = find_part(part);
	if (!record)
		return;
	record->seek = seek;
	record->argument = argument;
	record->inner = NULL;
	record->cannot_rewind = !seek;
}

void mime_note_file(const curl_mimepart *part, const char *path)
{
	struct stat status;
	struct part *record = find_part(part);
	if (!record)
		return;
	record->seek = NULL;
	record->inner = NULL;
	record->cannot_rewind = path && (stat(path, &status) != 0 || !S_ISREG(status.st_mode));
}

void mime_note_inner(const curl_mimepart *part, const curl_mime *inner)
{
	struct part *record = find_part(part);
	if (!record)
		return;
	record->seek = NULL;
	record->inner = inner;
	record->cannot_rewind = false;
}

static void forget_at_level(const curl_mime *mime, int level)
{
	struct part *record = atomic_load_explicit(&parts, memory_order_acquire);
	for (; record && level < LEVELS_MAX; record = record->next) {
		if (!atomic_load_explicit(&record->part, memory_order_acquire) || record->mime != mime)
			continue;
		const curl_mime *inner = record->inner;
		record->mime = NULL;
		atomic_store_explicit(&record->part, NULL, memory_order_release);
		if (inner)
			forget_at_level(inner, level + 1);
	}
}

void mime_forget(const curl_mime *mime)
{
	if (mime)
		forget_at_level(mime, 0);
}

/* Calls `test` for each part of the mime, at all levels; returns whether it was true for all. */
static bool all_parts(const curl_mime *mime, bool (*test)(const struct part *), int level)
{
	if (level == LEVELS_MAX)
		return false;
	const struct part *record = atomic_load_explicit(&parts, memory_order_acquire);
	for (; record; record = record->next) {
		if (!atomic_load_explicit(&record->part, memory_order_acquire) || record->mime != mime ||
		    is_ordinary(record))
			continue;
		if (!test(record) || (record->inner && !all_parts(record->inner, test, level + 1)))
			return false;
	}
	return true;
}

static bool can_rewind(const struct part *record)
{
	return !record->cannot_rewind;
}

static bool rewinds(const struct part *record)
{
	return !record->seek || record->seek(record->argument, 0, SEEK_SET) == CURL_SEEKFUNC_OK;
}

bool mime_is_replayable(const curl_mime *mime)
{
	return !mime || (!atomic_load(&is_incomplete) && all_parts(mime, can_rewind, 0));
}

bool mime_rewinds(const curl_mime *mime)
{
	return mime_is_replayable(mime) && (!mime || all_parts(mime, rewinds, 0));
}
