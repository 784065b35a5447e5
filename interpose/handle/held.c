/* SPDX-License-Identifier: MIT */

#include <stdlib.h>
#include <string.h>

#include "interpose/handle/held.h"

#define FIRST_DATA_BYTES  256
#define FIRST_EVENT_COUNT 16

static bool grow_data(struct held *held, size_t needed_bytes)
{
	if (needed_bytes <= held->data_capacity_bytes)
		return true;
	size_t capacity_bytes = held->data_capacity_bytes ? held->data_capacity_bytes : FIRST_DATA_BYTES;
	while (capacity_bytes < needed_bytes)
		capacity_bytes *= 2;
	char *data = realloc(held->data, capacity_bytes);
	if (!data)
		return false;
	held->data = data;
	held->data_capacity_bytes = capacity_bytes;
	return true;
}

static bool grow_events(struct held *held)
{
	if (held->event_count < held->event_capacity)
		return true;
	size_t capacity = held->event_capacity ? held->event_capacity * 2 : FIRST_EVENT_COUNT;
	struct held_event *events = realloc(held->events, capacity * sizeof(*events));
	if (!events)
		return false;
	held->events = events;
	held->event_capacity = capacity;
	return true;
}

bool held_append(struct held *held, enum held_kind kind, const char *bytes, size_t count_bytes)
{
	if (count_bytes > UINT32_MAX || !grow_events(held) || !grow_data(held, held->data_bytes + count_bytes))
		return false;
	if (count_bytes)
		memcpy(held->data + held->data_bytes, bytes, count_bytes);
	held->data_bytes += count_bytes;
	held->events[held->event_count++] = (struct held_event){.kind = kind, .bytes = (uint32_t)count_bytes};
	return true;
}

void held_drop_last(struct held *held)
{
	held->data_bytes -= held->events[--held->event_count].bytes;
}

void held_clear(struct held *held)
{
	held->data_bytes = 0;
	held->event_count = 0;
	held->next_event = 0;
	held->next_byte = 0;
}

void held_free(struct held *held)
{
	free(held->data);
	free(held->events);
	memset(held, 0, sizeof(*held));
}
