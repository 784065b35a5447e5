/* SPDX-License-Identifier: MIT */
#ifndef ORIGIN_REQUEST_H
#define ORIGIN_REQUEST_H

/*
 * Reading one request after the other from a connection (RFC 9112), and when which of its bytes came.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/origin/wire.h"

#define REQUEST_HEAD_BYTES_MAX (256 * 1024)
/* What is kept of a body, for the record and for echo; the rest is counted only. */
#define REQUEST_BODY_KEPT_BYTES_MAX (8 * 1024 * 1024)

struct reader {
	const struct wire *wire;
	int64_t filled_us; /* when the bytes in the buffer came */
	size_t start, end;
	char bytes[16384];
};

struct buffer {
	char *data;
	size_t bytes, room;
};

enum request_framing { REQUEST_WITHOUT_BODY, REQUEST_WITH_LENGTH, REQUEST_CHUNKED };

struct request {
	int64_t number;        /* over all connections, from 1 */
	int64_t on_connection; /* over this connection, from 1 */
	int64_t first_byte_us, head_us, body_us;
	struct buffer head; /* request line to blank line, as received, terminated */
	char method[32];
	char target[4096];
	char path[4096]; /* of the target, without query; "CONNECT" for that method */
	bool http_1_0;
	bool wants_close;
	bool expects_continue;
	enum request_framing framing;
	int64_t declared_bytes;
	struct buffer body;
	int64_t body_bytes; /* all that was received, the part that isn't kept included */
	bool body_read;
};

/* Reads a request's head. `request` is zero-initialised by the caller and freed with request_free() in every case.
 * WIRE_PEER_CLOSED before the first byte is a normal end of the connection; a head that makes no sense is
 * WIRE_PEER_RESET. */
enum wire_result request_read_head(struct reader *reader, struct request *request);

/* Reads the body, to its end. */
enum wire_result request_read_body(struct reader *reader, struct request *request);

void request_free(struct request *request);

#endif
