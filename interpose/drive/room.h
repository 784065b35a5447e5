/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_ROOM_H
#define TENACURL_INTERPOSE_ROOM_H

/*
 * Where operations live: not on the stack, of which some threads have little, and only as long as they run, since a
 * program may have thousands of handles. What one leaves is kept for the next. The first few are our own memory, for a
 * piece of the heap taken in the middle of libcurl's changes where its own allocations come to lie, from then on, in
 * each transfer (0.7 % of a kept-alive GET's instructions, as it happened).
 */

struct handle;
struct operation;

/* The handle's room (handle->room), cleared as far as an operation needs it; NULL without memory. */
struct operation *room_enter(struct handle *handle);

/* The operation in it is over. */
void room_leave(struct handle *handle);

/* Gives up the room of a handle that is going, if its last operation never came back. */
void room_abandon(struct handle *handle);

#endif
