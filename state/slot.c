/* SPDX-License-Identifier: MIT */
#include "state/slot.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

uint64_t state_slot_checksum(uint64_t sequence, const uint64_t words[static STATE_FLIGHT_WORDS])
{
	uint64_t sum = sequence;
	for (size_t i = 0; i < STATE_FLIGHT_WORDS; i++)
		sum = (sum << 7 | sum >> 57) * UINT64_C(0x9E3779B97F4A7C15) ^ words[i];
	return sum;
}

/* Takes the slot for flight `number`. False: a later flight has it already. */
static bool take_slot(struct state_slot *slot, uint64_t number, uint64_t next_number)
{
	uint64_t writing = 2 * number + 1;
	uint64_t seen = atomic_load_explicit(&slot->sequence, memory_order_relaxed);
	do {
		/* By distance: rubbish that looks like a far future must not keep the slot for ever. */
		if (seen - writing <= 2 * (next_number - number))
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&slot->sequence, &seen, writing, memory_order_acquire,
	                                                memory_order_relaxed));
	return true;
}

void state_write_flight(struct state_layout *layout, uint64_t number, const struct state_flight *flight)
{
	struct state_slot *slot = &layout->slots[number % STATE_FLIGHTS];
	uint64_t words[STATE_FLIGHT_WORDS];
	uint64_t writing = 2 * number + 1, whole = writing + 1;

	memcpy(words, flight, sizeof(words));
	words[0] = number;
	if (!take_slot(slot, number, atomic_load_explicit(&layout->header.next_flight, memory_order_relaxed)))
		return;
	/* Released, so that no reader sees a word of this flight under the sequence of the one before. */
	for (size_t i = 0; i < STATE_FLIGHT_WORDS; i++)
		atomic_store_explicit(&slot->words[i], words[i], memory_order_release);
	atomic_store_explicit(&slot->checksum, state_slot_checksum(whole, words), memory_order_release);
	/* Not if a later flight took the slot meanwhile: then its checksum tells whether we have spoilt it. */
	atomic_compare_exchange_strong_explicit(&slot->sequence, &writing, whole, memory_order_release,
	                                        memory_order_relaxed);
}
