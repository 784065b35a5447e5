/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BODY_STATE_H
#define TENACURL_INTERPOSE_BODY_STATE_H

/* What is known of a request's body: see interpose/parts/body.h. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "interpose/libcurl/curl_abi.h"

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

/* Gives the copy's memory back. */
void body_state_free(struct body *body);

#endif
