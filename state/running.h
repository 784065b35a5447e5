/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_RUNNING_H
#define TENACURL_STATE_RUNNING_H

/*
 * What is under way: operations in which something failed, while they wait for the next attempt or make it, so that a
 * job that hangs can be seen, and one that was killed in a wait too. An operation at its first attempt isn't here: its
 * success would pay for it.
 *
 * Lock-free, no system call, any thread; errno is kept. A struct that two writers mixed is found by its checksum and is
 * as good as none.
 */

#include <stdint.h>

#include "state/state.h"
#include "state/text.h"

/* Values are in the file: add at the end. */
enum state_phase { STATE_PHASE_WAITING, STATE_PHASE_PERFORMING };

struct state_running {
	uint64_t key;           /* of process and handle. Never 0 */
	int64_t expires_ms;     /* nobody tells its end if the process is killed */
	int64_t time_us;        /* wall clock when this was written, microseconds since the epoch */
	int64_t until_ms;       /* instant at which the wait is over; 0: it performs */
	int64_t pid;            /* as the process itself sees it, */
	uint64_t start_ticks;   /* field 22 of /proc/PID/stat; 0: unknown */
	uint64_t pid_namespace; /* inode of /proc/PID/ns/pid; 0: unknown */
	int32_t phase;          /* enum state_phase */
	int32_t attempts;       /* that were made */
	int32_t failure;        /* enum engine_class, of the last one */
	int32_t status;         /* 0: none */
	int32_t curl_code;
	int32_t wait_ms;
	char method[24];
	char job[64];
	char run[32];
	char program[64];
	char section[64];
	char origin[200];
	char path[200]; /* redacted; "": not to be told */
};

/* Fills one of the texts above: ends it with NUL, and with "~" what doesn't fit. text NULL: empty. */
#define state_running_text(field, text) state_copy_text((field), sizeof(field), (text))

/* Keeps it in the shared file, if there is one, in place of the one with its key or of one of a few that expires first.
 */
void state_running_keep(struct state *state, const struct state_running *running, int64_t now_ms);

/* It is over. */
void state_running_drop(struct state *state, uint64_t key);

/* Makes one that another process wrote harmless. What is read has been cleaned. */
void state_running_clean(struct state_running *running);

#endif
