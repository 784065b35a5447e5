/* SPDX-License-Identifier: MIT */
#include "state/layout.h"

#include <string.h>

void state_layout_identity(uint64_t identity[static STATE_IDENTITY_WORDS])
{
	const uint64_t this_build[STATE_IDENTITY_WORDS] = {
	    STATE_MAGIC,
	    STATE_LAYOUT_VERSION,
	    sizeof(struct state_layout),
	    sizeof(struct state_entry),
	    STATE_ENTRIES,
	    sizeof(struct state_slot),
	    STATE_FLIGHTS,
	    STATE_LEASES,
	    STATE_INTENTS,
	    STATE_INTENT_PLACE_WORDS,
	    STATE_LEARNED,
	    STATE_LEARNED_PLACE_WORDS,
	    STATE_RUNNING,
	    STATE_RUNNING_PLACE_WORDS,
	    STATE_PROCESSES,
	    STATE_PROCESS_WORDS,
	    STATE_NOT_BEFORE,
	    STATE_NOT_BEFORE_PLACE_WORDS,
	    STATE_HINTS,
	    STATE_HINTS_PLACE_WORDS,
	};
	memcpy(identity, this_build, sizeof(this_build));
}
