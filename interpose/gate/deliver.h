/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_DELIVER_H
#define TENACURL_INTERPOSE_DELIVER_H

#include "interpose/handle/handle.h"

/*
 * Calls what the program set for this kind of callback, by libcurl's rules (lib/sendf.c): header lines go to
 * HEADERFUNCTION, or with HEADERDATA alone to WRITEFUNCTION with HEADERDATA, or to nobody; body bytes to WRITEFUNCTION,
 * which is fwrite to WRITEDATA or stdout where the program set none. Returns what the program's callback returned;
 * `bytes` where nobody listens.
 */
size_t deliver_event(const struct handle *handle, enum held_kind kind, char *data, size_t bytes);

/* Whether anybody receives header lines; if not, none needs to be held, and none commits anything. */
bool deliver_has_header_listener(const struct handle *handle);

enum deliver_result {
	DELIVER_DONE,
	DELIVER_PAUSED,  /* the program paused: go on from there when libcurl calls again */
	DELIVER_REFUSED, /* the program's callback refused: the transfer is over */
	DELIVER_GONE,    /* the program's callback ended the operation: nothing of it is left, or of its handle */
};

/* What deliver_held() does if something is held. */
enum deliver_result deliver_held_events(struct handle *handle);

/* Delivers what the handle's operation holds, in order, from the first event that isn't delivered yet. */
static inline enum deliver_result deliver_held(struct handle *handle)
{
	return handle->held.event_count == 0 ? DELIVER_DONE : deliver_held_events(handle);
}

#endif
