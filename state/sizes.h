/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_SIZES_H
#define TENACURL_STATE_SIZES_H

/* How many of each thing a state has. All of them belong to the layout: see layout.h before changing one. */

enum {
	STATE_ENTRIES = 512,
	STATE_LEASES = 256,
	STATE_FLIGHTS = 256,
	STATE_INTENTS = 256,
	STATE_LEARNED = 256,
	STATE_RUNNING = 256,
	STATE_PROCESSES = 256,
	STATE_NOT_BEFORE = 256,
	STATE_HINTS = 256,

	STATE_ORIGIN_BYTES = 256, /* of the texts in an entry, their NUL included */
	STATE_SECTION_BYTES = 64,

	STATE_RESULTS = 2,             /* failed, succeeded */
	STATE_COUNT_BUCKETS = 10,      /* of attempts or sends: 0 to 8, more */
	STATE_MS_BUCKETS = 16,         /* see state_ms_bounds */
	STATE_CLASSES_MAX = 24,        /* head room for the engine's failure classes, */
	STATE_REASONS_MAX = 32,        /* its reasons, */
	STATE_EVENTS_MAX = 8,          /* and enum state_event */
	STATE_BREAKER_WORDS = 3,       /* what engine/breaker.h needs */
	STATE_IDENTITY_WORDS = 20,     /* what a file must begin with */
	STATE_FLIGHT_WORDS = 94,       /* a flight, as it is told */
	STATE_INTENT_WORDS = 14,       /* struct state_intent */
	STATE_LEARNED_WORDS = 48,      /* struct state_learned */
	STATE_INTENT_PLACE_WORDS = 16, /* with a checksum, in whole lines */
	STATE_LEARNED_PLACE_WORDS = 56,
	STATE_RUNNING_WORDS = 91, /* struct state_running */
	STATE_RUNNING_PLACE_WORDS = 96,
	STATE_PROCESS_WORDS = 24,
	STATE_NOT_BEFORE_PLACE_WORDS = 8,
	STATE_HINTS_PLACE_WORDS = 8,
	STATE_HEADER_BYTES = 4096 /* entries begin on a page of their own */
};

#endif
