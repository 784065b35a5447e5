/* SPDX-License-Identifier: MIT */
#ifndef ORIGIN_LISTENER_H
#define ORIGIN_LISTENER_H

/*
 * The listening socket and its two ways of not being there: refusing (bound, but not listening: the kernel answers SYN
 * with RST) and swallowing (its queue is full: the kernel drops SYNs, so that connects hang).
 */

#include <stdbool.h>
#include <stdint.h>

struct listener {
	int fd;
	int port;
	int filler_fd; /* the connection that fills the queue of a black hole; -1: none */
};

/* Binds address:port without listening; port 0 takes a free one. Returns false with errno set. */
bool listener_bind(struct listener *listener, const char *address, int port);

bool listener_listen(struct listener *listener);

/* Stops listening and keeps the port: connects are refused from now on. Any thread, any number of times. */
void listener_refuse(struct listener *listener);

/* Listens with a queue of one and fills it. Returns false if connects still get through. */
bool listener_swallow(struct listener *listener);

/* Ends the black hole: from now on it listens as others do. */
bool listener_stop_swallowing(struct listener *listener);

/* Accepts a connection, non-blocking, with TCP_NODELAY. Returns -1 if there is none. */
int listener_accept(const struct listener *listener);

#endif
