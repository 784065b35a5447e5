/* SPDX-License-Identifier: MIT */

#include "cli/simulate/fleet/queue.h"

#include <stdlib.h>

bool fleet_queue_begin(struct fleet_queue *queue, size_t capacity)
{
	*queue = (struct fleet_queue){.events = calloc(capacity, sizeof *queue->events)};
	return queue->events != NULL;
}

void fleet_queue_end(struct fleet_queue *queue)
{
	free(queue->events);
}

static bool is_earlier(const struct fleet_event *a, const struct fleet_event *b)
{
	return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

void fleet_queue_put(struct fleet_queue *queue, int64_t at_us, size_t client)
{
	struct fleet_event event = {.at_us = at_us, .order = queue->puts++, .client = client};
	size_t place = queue->count++;

	for (; place > 0 && is_earlier(&event, &queue->events[(place - 1) / 2]); place = (place - 1) / 2)
		queue->events[place] = queue->events[(place - 1) / 2];
	queue->events[place] = event;
}

bool fleet_queue_take(struct fleet_queue *queue, struct fleet_event *event)
{
	struct fleet_event last;
	size_t place = 0;

	if (queue->count == 0)
		return false;
	*event = queue->events[0];
	last = queue->events[--queue->count];
	for (size_t child = 1; child < queue->count; child = 2 * place + 1) {
		if (child + 1 < queue->count && is_earlier(&queue->events[child + 1], &queue->events[child]))
			child++;
		if (!is_earlier(&queue->events[child], &last))
			break;
		queue->events[place] = queue->events[child];
		place = child;
	}
	queue->events[place] = last;
	return true;
}
