/* SPDX-License-Identifier: MIT */
#include "state/flight.h"

#include <stdatomic.h>

#include "state/layout.h"
#include "state/slot.h"

_Static_assert(sizeof(struct state_flight) == STATE_FLIGHT_WORDS * 8, "a flight fills its slot");

void state_record_flight(struct state *state, const struct state_flight *flight)
{
	struct state_layout *shared = atomic_load_explicit(&state->shared, memory_order_acquire);
	if (!shared)
		return;
	uint64_t number = atomic_fetch_add_explicit(&shared->header.next_flight, 1, memory_order_relaxed);
	state_write_flight(shared, number, flight);
}
