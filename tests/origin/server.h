/* SPDX-License-Identifier: MIT */
#ifndef ORIGIN_SERVER_H
#define ORIGIN_SERVER_H

/*
 * What all connections share, and their number: a thread each, detached, counted so that the end can wait for them.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/origin/listener.h"
#include "tests/origin/record.h"
#include "tests/origin/script.h"

struct server {
	struct script script;
	struct record record;
	struct listener listener;
	int stop_fd; /* eventfd: readable once the server stops */
	int wake_fd; /* eventfd: a connection wants the accepting thread's attention */

	pthread_mutex_t lock;
	pthread_cond_t all_gone;
	int64_t live_connections;
	int64_t request_count;
	int64_t refuse_for_ms; /* of a refusal that the accepting thread doesn't know yet; STEP_UNSET: none */
};

/* Gives the next request number. */
int64_t server_next_request(struct server *server);

/* Refuses connections from now on; the accepting thread begins to listen again `for_ms` later. */
void server_refuse(struct server *server, int64_t for_ms);

/* Counts a connection's begin and end. */
void server_connection_begins(struct server *server);
void server_connection_ended(struct server *server);

/* Waits until no connection is left, `limit_s` at most. Returns whether none is. */
bool server_await_end(struct server *server, int64_t limit_s);

#endif
