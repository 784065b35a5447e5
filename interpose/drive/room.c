/* SPDX-License-Identifier: MIT */

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/drive/room.h"
#include "interpose/host/tsan.h"
#include "interpose/record/operation.h"

/* Each with a room of its own that is there from the start. */
#define PLACES 16

static _Atomic(struct operation *) spare_rooms[PLACES];
static struct operation first_rooms[PLACES];
static _Atomic bool is_taken[PLACES]; /* the first room, by an operation or as the spare one */

static size_t place_of(const struct handle *handle)
{
	return ((uintptr_t)handle >> 10) % PLACES;
}

static struct operation *new_room(size_t place)
{
	if (!atomic_exchange_explicit(&is_taken[place], true, memory_order_acquire))
		return &first_rooms[place];
	return malloc(sizeof(struct operation));
}

static void free_room(struct operation *room)
{
	if (room >= first_rooms && room < first_rooms + PLACES)
		atomic_store_explicit(&is_taken[room - first_rooms], false, memory_order_release);
	else
		free(room);
}

struct operation *room_enter(struct handle *handle)
{
	size_t place = place_of(handle);
	/* Still there if its last operation never came back. */
	if (!handle->room)
		handle->room = atomic_exchange_explicit(&spare_rooms[place], NULL, memory_order_acquire);
	if (!handle->room)
		handle->room = new_room(place);
	if (!handle->room)
		return NULL;
	tsan_acquire(handle->room);
	/* What is at its end is written before it is read; clearing that would be most of what a success costs. */
	return memset(handle->room, 0, offsetof(struct operation, gate.delivered_step_hashes));
}

void room_leave(struct handle *handle)
{
	tsan_release(handle->room);
	struct operation *spare =
	    atomic_exchange_explicit(&spare_rooms[place_of(handle)], handle->room, memory_order_acq_rel);
	handle->room = NULL;
	if (!spare)
		return;
	tsan_acquire(spare);
	free_room(spare);
}

void room_abandon(struct handle *handle)
{
	if (handle->room)
		free_room(handle->room);
	handle->room = NULL;
}
