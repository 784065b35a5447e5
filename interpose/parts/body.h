/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BODY_H
#define TENACURL_INTERPOSE_BODY_H

/*
 * Sending a request's body again. A second perform doesn't rewind a body by itself: with a fixed length it would hang,
 * chunked it would send an empty body in silence. See the essay in body.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "interpose/handle/handle.h"
#include "interpose/parts/progress.h"

/* Whether the body of the request at hand can be sent again, as far as that can be told beforehand. */
bool body_is_replayable(const struct handle *handle);

/*
 * Whether the request has a body that isn't all sent yet, as far as can be told: then a 100 is what it may be waiting
 * for. Allowed inside callbacks.
 */
bool body_is_awaited(const struct handle *handle);

/* Audit: only notes where a FILE* stands. */
void body_note_file(struct handle *handle);

/* Prepares the body for an operation: notes where it begins, and lends the read callback where it must be seen. */
void body_begin(struct handle *handle, const struct policy_rules *rules, bool is_replayable);

/*
 * Whether body_rewind() would succeed after an attempt that was judged by this outcome, as far as can be told without
 * touching anything: for the verdict, after which the retry may still be taken back.
 */
bool body_can_rewind(const struct handle *handle, const struct engine_outcome *outcome);

/* The same in audit, where nothing is lent and nobody knows what was read. */
bool body_could_rewind(const struct handle *handle, const struct policy_rules *rules,
                       const struct engine_outcome *outcome);

/* Whether the program may refuse to rewind, which shows only when it is asked. */
bool body_may_refuse(const struct handle *handle);

/*
 * Puts the body back to its beginning: the last thing before a further attempt, since nobody could say afterwards where
 * the program's stream was. Returns false if that can't be done. May call the program, which may end the operation.
 */
bool body_rewind(struct handle *handle, const struct engine_outcome *outcome);

/*
 * After an operation: if its last attempt read less than one before it, puts the program's stream where that one left
 * it. A program that goes on with what follows in a file must not send the same bytes twice. May call the program.
 */
void body_put_back(struct handle *handle);

enum body_preview {
	BODY_READY,     /* it stands at its begin */
	BODY_LOST,      /* it can't be rewound any more: it can't be sent */
	BODY_CANCELLED, /* the program's read callback aborted, or its progress callback */
};

/*
 * Reads a body that the program rewinds to its end and has it rewound, before the first attempt, so that it is known
 * what would be sent: body.preview_key, 0 if it has no end that we waited for. That is no longer than until the
 * instant end_ms. One that can't be rewound at its begin isn't touched. Calls the program, which may end the operation.
 */
enum body_preview body_preview(struct handle *handle, const struct progress *progress, int64_t end_ms);

/*
 * Forgets the copy after an operation; its memory stays, up to a page. `may_be_left`: something went out that failed,
 * so that libcurl may still have to rewind.
 */
void body_end(struct handle *handle, bool may_be_left);

/*
 * What is lent to libcurl calls this: reads on from where the body stands. `sends` of the attempt at hand so far; a
 * copy is kept up to limit_bytes.
 */
size_t body_read(struct handle *handle, char *out, size_t size, size_t count, int64_t sends, size_t limit_bytes);

/* The same for a handle without an operation: the program's own. */
size_t body_read_idle(struct handle *handle, char *out, size_t size, size_t count);

/*
 * Lent in a retry until its answer begins, for a body that the program has no way to rewind: takes our copy, or the
 * program's FILE*, to where the body begins (lib/sendf.c, cr_in_rewind; before 8.7 lib/transfer.c, Curl_readrewind).
 * libcurl asks for it to send a request again on a new connection because the kept one was dead. A seek to elsewhere
 * libcurl does by reading. `data` is the struct handle.
 */
int body_seek_callback(void *data, curl_off_t offset, int origin);

#endif
