/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_HELD_H
#define TENACURL_INTERPOSE_HELD_H

/*
 * What is kept back of a response until the verdict: the callbacks that libcurl made, in order, each with its kind and
 * its bytes, so that they can be made again exactly as they would have come.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum held_kind { HELD_HEADER, HELD_WRITE };

struct held_event {
	enum held_kind kind;
	uint32_t bytes;
};

struct held {
	char *data; /* the bytes of all events, one after the other */
	struct held_event *events;
	size_t data_bytes, data_capacity_bytes;
	size_t event_count, event_capacity;
	size_t next_event; /* the first one that isn't delivered yet */
	size_t next_byte;  /* where its bytes begin */
};

/* Keeps a copy of one callback's bytes. Returns false without memory, with nothing changed. */
bool held_append(struct held *held, enum held_kind kind, const char *bytes, size_t count_bytes);

/* Forgets the event that was kept last. */
void held_drop_last(struct held *held);

/* Forgets everything kept; the memory stays for the next response. */
void held_clear(struct held *held);

/* Gives the memory back. */
void held_free(struct held *held);

#endif
