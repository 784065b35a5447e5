/* SPDX-License-Identifier: MIT */
/*
 * The life of one connection: step by step, a request is awaited, read as far as the step wants, and answered.
 *
 * Which step it is can depend on the request's path, so a step is taken after the header block is read, except for
 * those of the common list that want to act earlier: as soon as the connection is accepted, or at the first byte.
 */
#include "tests/origin/connection.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/origin/answer.h"
#include "tests/origin/clock.h"
#include "tests/origin/tunnel.h"

#define STACK_BYTES (256 * 1024)

struct connection {
	struct server *server;
	struct wire wire;
	struct reader reader;
	int64_t number;
	int64_t request_count;
};

/* What a request gets when its list is used up: a status that no sensible policy retries. */
static const struct step EXHAUSTED = {
    .status = 418,
    .body = {"the script is used up\n", sizeof "the script is used up\n" - 1},
    .body_bytes = STEP_UNSET,
    .declared_bytes = STEP_UNSET,
    .send_bytes = STEP_UNSET,
    .drip_bytes = STEP_UNSET,
    .header_cut = STEP_UNSET,
    .refuse_for_ms = STEP_UNSET,
    .expect_continue = true,
    .end = STEP_END_CLOSE,
};

static const char *name_of_end(enum step_end end)
{
	static const char *const NAMES[] = {"auto", "keep", "close", "reset", "silence"};

	return NAMES[end];
}

/* Records how the peer or the server ended it, and closes the socket. */
static void close_broken(struct connection *connection, enum wire_result how)
{
	record_closed(&connection->server->record, connection->number,
	              how == WIRE_PEER_CLOSED  ? "peer"
	              : how == WIRE_PEER_RESET ? "reset"
	                                       : "origin");
	close(connection->wire.fd);
	connection->wire.fd = -1;
}

/* Does what the step says of the connection. Returns whether it goes on. */
static bool do_end(struct connection *connection, enum step_end end)
{
	switch (end) {
	case STEP_END_AUTO:
	case STEP_END_KEEP:
		return true;
	case STEP_END_SILENCE:
		close_broken(connection, wire_pause(&connection->wire, -1));
		return false;
	case STEP_END_RESET:
		record_closed(&connection->server->record, connection->number, "origin");
		wire_reset(&connection->wire);
		return false;
	case STEP_END_CLOSE:
		record_closed(&connection->server->record, connection->number, "origin");
		wire_finish(&connection->wire);
		return false;
	}
	return false;
}

static const char *list_of(const struct script *script, const struct step *step)
{
	for (size_t i = 1; i < script->list_count; i++) {
		const struct step_list *list = &script->lists[i];

		if (step >= list->steps && step < list->steps + list->count)
			return list->path;
	}
	return NULL;
}

/* Answers, records it, ends the connection if that's what the step wants. Returns whether it goes on. */
static bool answer(struct connection *connection, const struct step *step, const struct request *request)
{
	struct server *server = connection->server;
	struct record_answer what = {.step = step == &EXHAUSTED ? -1 : (int64_t)step->index,
	                             .list = list_of(&server->script, step)};
	enum step_end end;

	/* Before the answer: a client that has it may come back at once, and shall be refused. */
	if (step->refuse_for_ms != STEP_UNSET)
		server_refuse(server, step->refuse_for_ms);
	end = answer_send(&connection->wire, step, request, &what);
	what.end = name_of_end(end);
	record_answered(&server->record, connection->number, request ? request->number : 0, &what);
	if (what.how != WIRE_OK) {
		close_broken(connection, what.how);
		return false;
	}
	return do_end(connection, end);
}

static enum wire_result read_body(struct connection *connection, const struct step *step, struct request *request)
{
	static const char CONTINUE[] = "HTTP/1.1 100 Continue\r\n\r\n";
	int64_t sent_bytes = 0;

	if (request->expects_continue && step->expect_continue && request->framing != REQUEST_WITHOUT_BODY) {
		enum wire_result result = wire_write(&connection->wire, CONTINUE, sizeof CONTINUE - 1, &sent_bytes);

		if (result != WIRE_OK)
			return result;
	}
	return request_read_body(&connection->reader, request);
}

/* After an answer that came before the body: the next request begins behind it. */
static bool skip_late_body(struct connection *connection, struct request *request)
{
	enum wire_result result;

	if (request->body_read)
		return true;
	/* A client that never got its 100 may or may not send the body: nothing can follow (RFC 9110 §10.1.1). */
	if (request->expects_continue)
		return do_end(connection, STEP_END_CLOSE);
	result = request_read_body(&connection->reader, request);
	if (result == WIRE_OK)
		record_late_body(&connection->server->record, connection->number, request);
	else
		close_broken(connection, result);
	return result == WIRE_OK;
}

static void serve_tunnel(struct connection *connection, const struct step *step, const struct request *request)
{
	struct record_answer what = {
	    .step = (int64_t)step->index, .list = list_of(&connection->server->script, step), .end = "tunnel"};
	int target_fd = tunnel_connect(request->target);
	int64_t up_bytes = 0, down_bytes = 0;

	if (target_fd < 0) {
		do_end(connection, STEP_END_RESET);
		return;
	}
	answer_send(&connection->wire, step, request, &what);
	record_answered(&connection->server->record, connection->number, request->number, &what);
	if (what.how == WIRE_OK)
		tunnel_run(&connection->wire, target_fd, &up_bytes, &down_bytes);
	record_tunnel(&connection->server->record, connection->number, request->target, up_bytes, down_bytes);
	close(target_fd);
	do_end(connection, STEP_END_CLOSE);
}

/* Reads and answers a request. Returns whether the connection goes on. */
static bool serve_request(struct connection *connection, struct request *request)
{
	struct server *server = connection->server;
	const struct step *step;
	enum wire_result result = request_read_head(&connection->reader, request);

	if (result == WIRE_OK) {
		request->number = server_next_request(server);
		request->on_connection = ++connection->request_count;
		step = script_take(&server->script, request->method, request->path);
		if (!step)
			step = &EXHAUSTED;
		if (step->read == STEP_READ_FULL || request->framing == REQUEST_WITHOUT_BODY)
			result = read_body(connection, step, request);
		record_request(&server->record, connection->number, request);
	}
	if (result != WIRE_OK) {
		close_broken(connection, result);
		return false;
	}
	if (step->tunnel && strcmp(request->method, "CONNECT") == 0) {
		serve_tunnel(connection, step, request);
		return false;
	}
	return answer(connection, step, request) && skip_late_body(connection, request);
}

/* Returns whether the connection goes on. */
static bool serve_next(struct connection *connection)
{
	struct request request = {.number = 0};
	const struct step *step = NULL;
	enum wire_result result;
	bool goes_on;

	if (connection->request_count == 0)
		step = script_take_early(&connection->server->script, STEP_READ_ACCEPT);
	if (step)
		return answer(connection, step, NULL);
	if (connection->reader.start == connection->reader.end) {
		result = wire_await(&connection->wire);
		if (result != WIRE_OK) {
			close_broken(connection, result);
			return false;
		}
	}
	step = script_take_early(&connection->server->script, STEP_READ_NONE);
	if (step)
		return answer(connection, step, NULL);
	goes_on = serve_request(connection, &request);
	request_free(&request);
	return goes_on;
}

static void *run(void *argument)
{
	struct connection *connection = argument;
	struct server *server = connection->server;

	while (serve_next(connection))
		;
	free(connection);
	server_connection_ended(server);
	return NULL;
}

void connection_start(struct server *server, int fd, int64_t number)
{
	struct connection *connection = calloc(1, sizeof *connection);
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	if (!connection) {
		close(fd);
		return;
	}
	connection->server = server;
	connection->wire = (struct wire){.fd = fd, .stop_fd = server->stop_fd};
	connection->reader.wire = &connection->wire;
	connection->number = number;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	server_connection_begins(server);
	error = pthread_create(&thread, &attributes, run, connection);
	pthread_attr_destroy(&attributes);
	if (error) {
		close(fd);
		free(connection);
		server_connection_ended(server);
	}
}
