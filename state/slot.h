/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_SLOT_H
#define TENACURL_STATE_SLOT_H

/* What the recorder and its reader must agree on. */

#include <stdint.h>

#include "state/layout.h"

struct state_flight;

/* Of a slot whose sequence says that its words are whole. Pure. */
uint64_t state_slot_checksum(uint64_t sequence, const uint64_t words[static STATE_FLIGHT_WORDS]);

/* Writes the flight of that number, which was drawn from header.next_flight, unless a later one has its slot already.
 */
void state_write_flight(struct state_layout *layout, uint64_t number, const struct state_flight *flight);

#endif
