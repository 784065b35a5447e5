/* SPDX-License-Identifier: MIT */
#ifndef ORIGIN_RECORD_H
#define ORIGIN_RECORD_H

/*
 * What happened, as JSON Lines; tests/origin/README.md describes the events. Every event is written at once, so the
 * record is complete up to the last event at any instant, however the server ends.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/origin/request.h"

struct record {
	int fd;
	pthread_mutex_t lock;
};

/* What one answer came to. */
struct record_answer {
	int64_t started_us;   /* first byte of the answer; 0: none was sent */
	int64_t ended_us;     /* when its last bytes were given to the kernel, or when it broke */
	int64_t status;       /* 0: nothing that has a status */
	int64_t sent_bytes;   /* head, body and framing */
	const char *end;      /* keep, close, reset, silence, tunnel */
	const char *list;     /* the path whose list the step is from; NULL: the common one */
	int64_t step;         /* its index in there; -1: the list was used up */
	enum wire_result how; /* WIRE_OK: as the script says */
};

/* All of these may be called from any thread. request_number 0: the answer belongs to no request. */
void record_accepted(struct record *record, int64_t connection, int64_t time_us);
void record_request(struct record *record, int64_t connection, const struct request *request);
void record_late_body(struct record *record, int64_t connection, const struct request *request);
void record_answered(struct record *record, int64_t connection, int64_t request_number,
                     const struct record_answer *answer);
/* by: "peer" (FIN), "reset" (RST from the peer) or "origin". */
void record_closed(struct record *record, int64_t connection, const char *by);
void record_tunnel(struct record *record, int64_t connection, const char *target, int64_t up_bytes, int64_t down_bytes);

#endif
