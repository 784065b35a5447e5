/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BLOCK_H
#define TENACURL_INTERPOSE_BLOCK_H

/*
 * One header block of a response, as far as the verdict needs it. A response can have several: 1xx, a proxy's answer to
 * CONNECT, redirect steps, auth rounds, the final one; each status line starts afresh.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/policy.h"
#include "engine/retry_after.h"

#define BLOCK_LENGTH_UNKNOWN (-1)
#define BLOCK_FIELD_BYTES    256 /* of a folded field; one that is longer is read as far as its first line goes */

struct header_block {
	bool open;             /* its status line was seen, its blank line not yet */
	bool complete;         /* its blank line was seen */
	int status;            /* 0: no block yet */
	bool is_proxys;        /* a proxy's answer to CONNECT; set by the gate when it begins */
	bool reads_success;    /* somebody wants the fields of a success, too; stays when a block begins */
	bool skips_fields;     /* nothing depends on its fields: a success that isn't held */
	bool has_location;     /* a Location that isn't empty */
	bool is_followed;      /* ... and libcurl was to follow it when it read that; set by the gate */
	bool is_h2c;           /* Upgrade: h2c */
	bool is_event_stream;  /* Content-Type: text/event-stream */
	int upstream_attempts; /* x-envoy-attempt-count: how often a proxy below us asked; 0: none says so */
	int64_t content_length_bytes;
	uint64_t step_hash; /* from 300 on: of the status and Location; tells redirect steps apart */
	struct engine_demand demand;
	size_t field_bytes; /* 0: no field that a folded line could continue */
	/* Not cleared when a block begins. */
	char field[BLOCK_FIELD_BYTES];
};

static inline void block_end(struct header_block *block)
{
	block->open = false;
	block->complete = true;
}

/* Makes it no block yet, as it has to be at first. */
void block_clear(struct header_block *block, bool reads_success);

/* What the bytes of one header callback were, besides fields and lines outside of a block (trailers). */
enum block_events {
	BLOCK_BEGAN = 1, /* a status line: the block is a new one, though the one before may have been cut */
	BLOCK_ENDED = 2, /* a blank line, behind which no other block began */
};

/*
 * Adds the bytes of one header callback: usually one line, several after a pause on libcurl before 8.7. Returns enum
 * block_events; 0: neither.
 */
int block_add(struct header_block *block, const struct policy_rules *rules, const char *bytes, size_t count_bytes);

/* Follows a block whose fields don't matter to its blank line: block_add() at less cost. */
void block_skip(struct header_block *block, const char *bytes, size_t count_bytes);

#endif
