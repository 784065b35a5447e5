/* SPDX-License-Identifier: MIT */
#ifndef ORIGIN_WIRE_H
#define ORIGIN_WIRE_H

/*
 * One connection's socket, and every way of waiting on it. Each wait also ends when the peer goes away or the server
 * is told to stop, so that no thread ever outlives its client for long.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_result {
	WIRE_OK,
	WIRE_PEER_CLOSED, /* FIN from the peer */
	WIRE_PEER_RESET,  /* RST, or any other error of the socket */
	WIRE_STOPPING     /* the server is told to stop */
};

struct wire {
	int fd;      /* non-blocking */
	int stop_fd; /* readable once the server stops; shared, not owned */
};

/* Lets `duration_ms` pass. Negative: until the peer goes or the server stops. */
enum wire_result wire_pause(const struct wire *wire, int64_t duration_ms);

/* Waits until there is something to read, end of file included, without reading it. */
enum wire_result wire_await(const struct wire *wire);

/* Reads what is there, at least one byte. */
enum wire_result wire_read(const struct wire *wire, void *bytes, size_t bytes_max, size_t *got_bytes);

/* Writes all of `bytes`. *sent_bytes grows by what the kernel took, also on failure. */
enum wire_result wire_write(const struct wire *wire, const void *bytes, size_t byte_count, int64_t *sent_bytes);

/*
 * Sends FIN, then reads and drops what still comes until the peer closes too (2 s at most): closing a socket with
 * unread bytes would send RST instead. Closes the descriptor.
 */
enum wire_result wire_finish(struct wire *wire);

/* Closes the descriptor so that the peer gets RST. */
void wire_reset(struct wire *wire);

#endif
