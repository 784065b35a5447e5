/* SPDX-License-Identifier: MIT */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "interpose/handle/thread_notes.h"

struct thread_notes {
	struct enclosing enclosing;
	int64_t refused_ms;
	int64_t added_ms, added_until_ms;
};

/* The key and one, once there is a key; 0 before that. */
static _Atomic uint32_t key_plus_1;

static struct thread_notes *look(void)
{
	uint32_t known = atomic_load_explicit(&key_plus_1, memory_order_acquire);
	return known ? pthread_getspecific((pthread_key_t)(known - 1)) : NULL;
}

static bool make_key(void)
{
	pthread_key_t key;
	uint32_t none = 0;
	if (atomic_load_explicit(&key_plus_1, memory_order_acquire) != 0)
		return true;
	if (pthread_key_create(&key, free) != 0)
		return false;
	if (!atomic_compare_exchange_strong(&key_plus_1, &none, (uint32_t)key + 1))
		pthread_key_delete(key);
	return true;
}

static struct thread_notes *make(void)
{
	struct thread_notes *notes = look();
	if (notes || !make_key())
		return notes;
	notes = malloc(sizeof(*notes));
	if (!notes)
		return NULL;
	*notes = (struct thread_notes){.refused_ms = INT64_MIN};
	if (pthread_setspecific((pthread_key_t)(atomic_load(&key_plus_1) - 1), notes) == 0)
		return notes;
	free(notes);
	return NULL;
}

/*
 * A callback's frame lies below that of the operation that called it, and that operation is inside libcurl. One that
 * was left by longjmp can look the same until its handle is used again or gone, which is why a deadline that has passed
 * isn't inherited: better none than a request that is refused for nothing.
 */
static bool encloses(const struct enclosing *enclosing, const void *frame, int64_t now_ms)
{
	const struct handle *handle = enclosing->handle;
	return handle && handle->active && handle->active_frame == enclosing->frame &&
	       (uintptr_t)frame < (uintptr_t)enclosing->frame && now_ms < enclosing->deadline_ms;
}

int64_t thread_notes_deadline(const void *frame, int64_t now_ms)
{
	const struct thread_notes *notes = look();
	return notes && encloses(&notes->enclosing, frame, now_ms) ? notes->enclosing.deadline_ms : INT64_MAX;
}

bool thread_notes_enter(const struct enclosing *inner, struct enclosing *outer)
{
	struct thread_notes *notes = make();
	if (!notes)
		return false;
	*outer = notes->enclosing;
	notes->enclosing = *inner;
	return true;
}

void thread_notes_leave(const struct enclosing *outer)
{
	struct thread_notes *notes = look();
	if (notes)
		notes->enclosing = *outer;
}

int64_t thread_notes_refused_ms(void)
{
	const struct thread_notes *notes = look();
	return notes ? notes->refused_ms : INT64_MIN;
}

void thread_notes_set_refused_ms(int64_t now_ms)
{
	struct thread_notes *notes = make();
	if (notes)
		notes->refused_ms = now_ms;
}

int64_t thread_notes_added_ms(int64_t now_ms, int64_t window_ms)
{
	const struct thread_notes *notes = look();
	return notes && now_ms - notes->added_until_ms < window_ms ? notes->added_ms : 0;
}

void thread_notes_add(int64_t added_ms, int64_t now_ms, int64_t window_ms)
{
	int64_t before_ms = thread_notes_added_ms(now_ms - added_ms, window_ms);
	struct thread_notes *notes = make();
	if (!notes)
		return;
	notes->added_ms = before_ms + added_ms;
	notes->added_until_ms = now_ms;
}
