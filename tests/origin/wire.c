/* SPDX-License-Identifier: MIT */
#include "tests/origin/wire.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/origin/clock.h"

#define FINISH_MS_MAX 2000

static int milliseconds_until(int64_t end_us)
{
	int64_t left_us = end_us - clock_us();

	if (left_us <= 0)
		return 0;
	if (left_us / 1000 >= INT_MAX)
		return INT_MAX;
	return (int)((left_us + 999) / 1000);
}

/* Polls the socket for `events`. end_us < 0: no end. *timed_out says that the end came first. */
static enum wire_result poll_until(const struct wire *wire, short events, int64_t end_us, bool *timed_out)
{
	struct pollfd fds[2] = {{.fd = wire->fd, .events = events}, {.fd = wire->stop_fd, .events = POLLIN}};

	*timed_out = false;
	for (;;) {
		int ready = poll(fds, 2, end_us < 0 ? -1 : milliseconds_until(end_us));

		if (ready < 0 && errno != EINTR)
			return WIRE_PEER_RESET;
		if (ready < 0)
			continue;
		if (fds[1].revents)
			return WIRE_STOPPING;
		if (fds[0].revents & POLLERR)
			return WIRE_PEER_RESET;
		if (fds[0].revents)
			return WIRE_OK;
		if (end_us >= 0 && clock_us() >= end_us) {
			*timed_out = true;
			return WIRE_OK;
		}
	}
}

enum wire_result wire_pause(const struct wire *wire, int64_t duration_ms)
{
	bool timed_out;
	enum wire_result result;

	if (duration_ms == 0)
		return WIRE_OK;
	result = poll_until(wire, POLLRDHUP, duration_ms < 0 ? -1 : clock_us() + duration_ms * 1000, &timed_out);
	if (result != WIRE_OK || timed_out)
		return result;
	return WIRE_PEER_CLOSED;
}

enum wire_result wire_await(const struct wire *wire)
{
	bool timed_out;

	return poll_until(wire, POLLIN, -1, &timed_out);
}

enum wire_result wire_read(const struct wire *wire, void *bytes, size_t bytes_max, size_t *got_bytes)
{
	for (;;) {
		ssize_t got = recv(wire->fd, bytes, bytes_max, 0);
		enum wire_result result;

		if (got > 0) {
			*got_bytes = (size_t)got;
			return WIRE_OK;
		}
		if (got == 0)
			return WIRE_PEER_CLOSED;
		if (errno != EAGAIN && errno != EINTR)
			return WIRE_PEER_RESET;
		result = wire_await(wire);
		if (result != WIRE_OK)
			return result;
	}
}

enum wire_result wire_write(const struct wire *wire, const void *bytes, size_t byte_count, int64_t *sent_bytes)
{
	const char *next = bytes;

	while (byte_count > 0) {
		ssize_t sent = send(wire->fd, next, byte_count, MSG_NOSIGNAL);
		enum wire_result result;
		bool timed_out;

		if (sent >= 0) {
			next += sent;
			byte_count -= (size_t)sent;
			*sent_bytes += sent;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return WIRE_PEER_RESET;
		result = poll_until(wire, POLLOUT, -1, &timed_out);
		if (result != WIRE_OK)
			return result;
	}
	return WIRE_OK;
}

enum wire_result wire_finish(struct wire *wire)
{
	int64_t end_us = clock_us() + FINISH_MS_MAX * 1000;
	enum wire_result result = WIRE_OK;
	bool timed_out = false;
	char dropped[4096];

	shutdown(wire->fd, SHUT_WR);
	while (result == WIRE_OK && !timed_out) {
		ssize_t got = recv(wire->fd, dropped, sizeof dropped, 0);

		if (got == 0)
			break;
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			break;
		if (got < 0)
			result = poll_until(wire, POLLIN, end_us, &timed_out);
	}
	close(wire->fd);
	wire->fd = -1;
	return result;
}

void wire_reset(struct wire *wire)
{
	struct linger hard = {.l_onoff = 1, .l_linger = 0};

	setsockopt(wire->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
	close(wire->fd);
	wire->fd = -1;
}
