/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BODY_H
#define TENACURL_INTERPOSE_BODY_H

/*
 * Sending a request's body again. A second perform doesn't rewind a body by itself: with a fixed length it would hang,
 * chunked it would send an empty body in silence. See the essay in body.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "interpose/curl_abi.h"
#include "interpose/hash.h"

/* Lives in struct handle: the copy's memory is reused. */
struct body {
	/* As the program had them when the operation began: libcurl, too, goes by these until the transfer is over. */
	curl_read_callback read_function;
	void *read_data;
	bool is_rewound_by_program;
	char *copy; /* what the program's read callback gave, while it all fits */
	size_t copy_bytes, copy_capacity_bytes;
	size_t position;    /* where in the body libcurl reads next */
	bool copy_lost;     /* it didn't fit, or memory ran out */
	bool ended;         /* the read callback said so, behind copy_bytes */
	bool was_read;      /* since the last rewind */
	off_t file_offset;  /* where the program's FILE* stood at entry; -1: can't be sought */
	bool rewind_is_due; /* an operation ended after which libcurl may still have to rewind */
	/* Where the program's own stream stood, at the furthest, before we rewound it; -1: it wasn't, or nobody knows.
	 */
	off_t left_offset;        /* of a FILE* */
	int64_t left_bytes;       /* of one that the program seeks, from the body's beginning */
	int64_t given_bytes;      /* read from that one since the last rewind */
	struct hash_stream given; /* of these bytes */
	/* What the first attempt read first, to know a stream that is rewound to somewhere else. */
	int64_t head_bytes; /* 0: nothing, or nobody knows where it began */
	uint64_t head_key;
	bool is_again;        /* it was rewound since */
	bool differs;         /* and begins otherwise: the attempt was ended */
	uint64_t preview_key; /* what the body is known by, since it was read before; 0: it wasn't */
};

/* Whether body_rewind() moved the program's own stream: only then may there be something to put back. */
static inline bool body_was_moved(const struct body *body)
{
	return body->left_offset >= 0 || body->left_bytes >= 0;
}

struct handle;
struct operation;
struct policy_rules;

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
void body_begin(struct operation *operation);

/*
 * Whether body_rewind() would succeed, as far as can be told without touching anything: for the verdict, after which
 * the retry may still be taken back.
 */
bool body_can_rewind(const struct operation *operation);

/* Whether the program may refuse to rewind, which shows only when it is asked. */
bool body_may_refuse(const struct operation *operation);

/*
 * Puts the body back to its beginning: the last thing before a further attempt, since nobody could say afterwards where
 * the program's stream was. Returns false if that can't be done. May call the program, which may end the operation.
 */
bool body_rewind(struct operation *operation);

/*
 * After an operation: if its last attempt read less than one before it, puts the program's stream where that one left
 * it. A program that goes on with what follows in a file must not send the same bytes twice. May call the program.
 */
void body_put_back(struct operation *operation);

/* Whether the program can rewind the body that its own read callback gives. */
bool body_is_rewound_by_program(const struct handle *handle);

/* How many bytes the body that a callback gives or a file holds will have, as the program said; -1: it didn't. */
int64_t body_announced_bytes(const struct handle *handle);

/*
 * What the program's stream gave since its last rewind, if that was all of it; 0: it wasn't, or nobody knows where it
 * began.
 */
uint64_t body_stream_key(const struct handle *handle);

enum body_preview {
	BODY_READY,     /* it stands at its begin */
	BODY_LOST,      /* it can't be rewound any more: it can't be sent */
	BODY_CANCELLED, /* the program's read callback aborted, or its progress callback */
};

/*
 * Reads a body that the program rewinds to its end and has it rewound, before the first attempt, so that it is known
 * what would be sent: body.preview_key, 0 if it has no end that we waited for. That is no longer than the operation may
 * last. One that can't be rewound at its begin isn't touched. Calls the program, which may end the operation.
 */
enum body_preview body_preview(struct operation *operation);

/* Forgets the copy after an operation that returns `result`; its memory stays, up to a page. */
void body_end(struct operation *operation, CURLcode result);

/* Gives the memory back. */
void body_free(struct body *body);

/* The callback that is lent to libcurl; `data` is the struct handle. Without an operation it is the program's own. */
size_t body_read_callback(char *out, size_t size, size_t count, void *data);

/*
 * Lent in a retry until its answer begins, for a body that the program has no way to rewind: takes our copy, or the
 * program's FILE*, to where the body begins (lib/sendf.c, cr_in_rewind; before 8.7 lib/transfer.c, Curl_readrewind).
 * libcurl asks for it to send a request again on a new connection because the kept one was dead. A seek to elsewhere
 * libcurl does by reading. `data` is the struct handle.
 */
int body_seek_callback(void *data, curl_off_t offset, int origin);

#endif
