/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_FLIGHT_H
#define TENACURL_STATE_FLIGHT_H

/*
 * The flight recorder: the last 256 operations of this user that were retried, stopped or failed, so that a failed job
 * can be explained with nothing configured beforehand.
 */

#include <stdint.h>

#include "state/state.h"
#include "state/text.h"

/* By what the outer layer was known that got an operation's retries. Values are in the file: add at the end. */
enum state_evidence {
	STATE_EVIDENCE_NONE,    /* none got them: they were ours */
	STATE_EVIDENCE_HEADER,  /* a header of the request */
	STATE_EVIDENCE_PROGRAM, /* nested_programs has the program, script, job or library */
	STATE_EVIDENCE_CURL,    /* curl was told to --retry */
	STATE_EVIDENCE_LEARNED, /* the caller did so before */
	STATE_EVIDENCE_OBSERVED /* the caller was just doing so */
};

/* An operation. Its URL is told as the policy has it told: what it asks for beside origin and method only if `path`
 * may. */
struct state_flight {
	uint64_t number; /* counts up; set by the recorder */
	int64_t time_us; /* wall clock at its end, microseconds since the epoch */
	int64_t pid;     /* as the process itself sees it */
	int64_t sends;   /* requests on the wire */
	int64_t waited_ms;
	int64_t elapsed_ms;
	int32_t reason;  /* enum engine_reason */
	int32_t failure; /* enum engine_class, of the last attempt */
	int32_t status;  /* 0: none */
	int32_t curl_code;
	int32_t attempts;
	int32_t evidence; /* enum state_evidence */
	char job[64];
	char run[32];
	char program[64];
	char section[64];
	char origin[200];
	char method[24];
	char path[200];       /* redacted; "": not to be told */
	uint64_t reserved[4]; /* 0 */
};

/* Fills one of the texts above: ends it with NUL, and with "~" what doesn't fit. text NULL: empty. */
#define state_flight_text(field, text) state_copy_text((field), sizeof(field), (text))

/*
 * Records a flight in the shared file, if there is one. Never waits; of two writers that meet in one place, because one
 * of them stood still while 256 others came by, one flight is lost. Any thread, no system call; errno is kept.
 */
void state_record_flight(struct state *state, const struct state_flight *flight);

#endif
