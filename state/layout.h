/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_LAYOUT_H
#define TENACURL_STATE_LAYOUT_H

/*
 * The state file, word by word. Only state/ looks in here; everybody else goes through its functions.
 *
 * Any process can be killed between any two instructions, so there is no moment at which the file may be in the middle
 * of something:
 *
 * - Everything is a naturally aligned atomic word that has a meaning whatever its neighbours hold. What takes several
 *   words (a name, a flight, an intent) says by one further word whether it is whole.
 * - 0 means "nothing yet" everywhere. A file or page full of zeros is an empty state, and what the kernel empties in a
 *   child (MADV_WIPEONFORK) is one too.
 * - Nobody waits for anybody, and nothing that is read from here is ever used as an index, a length or an address: a
 *   file full of random words gives wrong numbers, never a wrong access.
 * - Nothing is moved, so a pointer to an entry can be used for the life of the mapping. Whether the entry still is the
 *   origin's that it was found for, its key tells.
 *
 * Whoever changes anything here raises STATE_LAYOUT_VERSION. It stands in the file's name, so builds of different
 * layouts on one host don't meet.
 */

#include <stddef.h>
#include <stdint.h>

#include "state/sizes.h"

#define STATE_LAYOUT_VERSION 4
#define STATE_MAGIC          UINT64_C(0x6C727563616E6574) /* "tenacurl" */

#define STATE_LINE_BYTES 64 /* what two processors hand back and forth as one */

struct state_header {
	_Atomic uint64_t identity[STATE_IDENTITY_WORDS]; /* never changes: magic, layout version, sizes */

	_Alignas(STATE_LINE_BYTES) _Atomic uint64_t table_full; /* origins that found no entry, once for each process */
	_Atomic uint64_t resets;                                /* how often counters were set to zero */
	_Atomic uint64_t first_flight;                          /* flights with a lower number were reset */
	_Atomic uint64_t lost_records;                          /* of the log, that no sink took */
	_Atomic uint64_t resumes;         /* transfers that went on where they had been cut: room for a later build */
	_Atomic uint64_t origins_dropped; /* entries that were given to another origin */

	_Alignas(STATE_LINE_BYTES) _Atomic uint64_t next_flight; /* number of the next flight */

	_Alignas(STATE_LINE_BYTES) char reserved[STATE_HEADER_BYTES - 5 * STATE_LINE_BYTES];
};

/* One attempt, one send, success: what nearly all operations are, and all that they touch. */
struct state_plain_counters {
	_Atomic uint64_t ms_sum;
	_Atomic uint64_t used_ms; /* when it was last of use; here since nearly all operations write this line */
	_Atomic uint64_t ms[STATE_MS_BUCKETS];
	_Atomic uint64_t reserved[6];
};

/* All other operations. */
struct state_other_counters {
	_Atomic uint64_t attempts[STATE_RESULTS][STATE_COUNT_BUCKETS];
	_Atomic uint64_t attempts_sum;
	_Atomic uint64_t sends[STATE_COUNT_BUCKETS];
	_Atomic uint64_t sends_sum;
	_Atomic uint64_t success_ms[STATE_MS_BUCKETS];
	_Atomic uint64_t success_ms_sum;
	_Atomic uint64_t stops[STATE_REASONS_MAX];
	_Atomic uint64_t retries[STATE_CLASSES_MAX];
	_Atomic uint64_t waits_ms[STATE_MS_BUCKETS];
	_Atomic uint64_t waits_ms_sum;
	_Atomic uint64_t events[STATE_EVENTS_MAX];
	_Atomic uint64_t reserved[6];
};

/*
 * What is known of an origin in the view of one policy section. Words that are mostly read share no line with words
 * that every operation writes.
 */
struct state_entry {
	_Atomic uint64_t key;   /* one hash of the name; 0: free. Whoever sets it owns the entry for the name's sake, */
	_Atomic uint64_t check; /* another hash: together they are the name. 0: set by whoever comes first */
	_Atomic uint64_t named; /* 1: origin and section below are whole */
	_Atomic uint64_t budget;        /* engine/budget.h */
	_Atomic uint64_t intents_until; /* state/intent.h; here since successes look at it, as they do at the budget */
	_Atomic uint64_t reserved[3];

	_Alignas(STATE_LINE_BYTES) _Atomic uint64_t breaker[STATE_BREAKER_WORDS]; /* engine/breaker.h */

	_Alignas(STATE_LINE_BYTES) struct state_plain_counters plain;
	_Alignas(STATE_LINE_BYTES) struct state_other_counters other;

	_Alignas(
	    STATE_LINE_BYTES) _Atomic uint64_t origin[STATE_ORIGIN_BYTES / 8]; /* text, ends with NUL, for people */
	_Atomic uint64_t section[STATE_SECTION_BYTES / 8];

	_Atomic uint32_t leases[STATE_LEASES]; /* instants in 1/16 s at which each ends; 0: free */
};

/* One of the flight recorder. */
struct state_slot {
	_Atomic uint64_t sequence; /* 2n + 1 while flight n is written, 2n + 2 when it is whole */
	_Atomic uint64_t checksum; /* over sequence and words: shows what two writers mixed */
	_Atomic uint64_t words[STATE_FLIGHT_WORDS];
};

/* A process that uses the state. Room for a later build: nothing is written here yet. */
struct state_process {
	_Atomic uint64_t pid;         /* below; above: the low half of its pid namespace's number. 0: free */
	_Atomic uint64_t start_ticks; /* of /proc/PID/stat: tells it from a later process with its id */
	_Atomic uint64_t seen_ms;
	_Atomic uint64_t mode; /* enum policy_mode */
	_Atomic uint64_t policy_hash;
	_Atomic uint64_t attempts;
	_Atomic uint64_t saves; /* operations that succeeded after a retry */
	_Atomic uint64_t reserved[9];
	_Atomic uint64_t program[8]; /* text, ends with NUL */
};

struct state_layout {
	struct state_header header;
	struct state_entry entries[STATE_ENTRIES];
	struct state_slot slots[STATE_FLIGHTS];
	/* Tables of state/keyed.h. */
	_Alignas(STATE_LINE_BYTES) _Atomic uint64_t intents[STATE_INTENTS * STATE_INTENT_PLACE_WORDS];
	_Alignas(STATE_LINE_BYTES) _Atomic uint64_t learned[STATE_LEARNED * STATE_LEARNED_PLACE_WORDS];
	_Alignas(STATE_LINE_BYTES) _Atomic uint64_t running[STATE_RUNNING * STATE_RUNNING_PLACE_WORDS];

	/* Room for a later build: nothing is written here yet. */
	_Alignas(STATE_LINE_BYTES) struct state_process processes[STATE_PROCESSES];
	/* Per origin and hash of its credentials the instant before which nothing is to be sent: key, expiry, instant.
	 */
	_Alignas(STATE_LINE_BYTES) _Atomic uint64_t not_before[STATE_NOT_BEFORE * STATE_NOT_BEFORE_PLACE_WORDS];
	/* Per origin what it told of itself: key, expiry, three words. */
	_Alignas(STATE_LINE_BYTES) _Atomic uint64_t hints[STATE_HINTS * STATE_HINTS_PLACE_WORDS];
};

_Static_assert(sizeof(struct state_header) == STATE_HEADER_BYTES, "layout");
_Static_assert(sizeof(struct state_plain_counters) == 192, "layout");
_Static_assert(sizeof(struct state_other_counters) == 1088, "layout");
_Static_assert(offsetof(struct state_entry, intents_until) == 32, "layout");
_Static_assert(offsetof(struct state_entry, plain) == 128, "layout");
_Static_assert(offsetof(struct state_entry, origin) == 1408, "layout");
_Static_assert(sizeof(struct state_entry) == 2752, "layout");
_Static_assert(sizeof(struct state_slot) == 768, "layout");
_Static_assert(sizeof(struct state_process) == STATE_PROCESS_WORDS * 8, "layout");
_Static_assert(sizeof(struct state_layout) == STATE_HEADER_BYTES + 512 * 2752 + 256 * 768 + 256 * 128 + 256 * 448 +
                                                  256 * 768 + 256 * 192 + 256 * 64 + 256 * 64,
               "layout");

/* What state_header.identity of this build holds. */
void state_layout_identity(uint64_t identity[static STATE_IDENTITY_WORDS]);

#endif
