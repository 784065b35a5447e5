/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SIMULATE_FLEET_QUEUE_H
#define TENACURL_CLI_SIMULATE_FLEET_QUEUE_H

/* What happens when: a binary heap of instants. Of two that are equal, the one that was put in first comes first. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fleet_event {
	int64_t at_us;
	uint64_t order;
	size_t client;
};

struct fleet_queue {
	struct fleet_event *events;
	size_t count;
	uint64_t puts;
};

/* Room for `capacity` events at once. Returns false without memory. */
bool fleet_queue_begin(struct fleet_queue *queue, size_t capacity);

/* Puts an event in; there must be room. */
void fleet_queue_put(struct fleet_queue *queue, int64_t at_us, size_t client);

/* Takes the earliest event out. Returns false if there is none. */
bool fleet_queue_take(struct fleet_queue *queue, struct fleet_event *event);

void fleet_queue_end(struct fleet_queue *queue);

#endif
