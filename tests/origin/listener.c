/* SPDX-License-Identifier: MIT */
#include "tests/origin/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 512
/* How long a connect on loopback may take before it counts as swallowed. */
#define SWALLOWED_MS 200

static int bind_socket(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (const struct sockaddr *)address, sizeof *address) < 0) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

/*
 * A socket keeps its port when it stops listening only if the port was named in bind(). So a first socket finds a free
 * port, and holds it until a second one has bound it by name.
 */
bool listener_bind(struct listener *listener, const char *address, int port)
{
	struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	socklen_t name_bytes = sizeof name;
	int finder_fd = -1;

	listener->filler_fd = -1;
	listener->fd = -1;
	if (inet_pton(AF_INET, address, &name.sin_addr) != 1) {
		errno = EADDRNOTAVAIL;
		return false;
	}
	if (port == 0) {
		finder_fd = bind_socket(&name);
		if (finder_fd < 0 || getsockname(finder_fd, (struct sockaddr *)&name, &name_bytes) < 0)
			return false;
	}
	listener->fd = bind_socket(&name);
	if (finder_fd >= 0)
		close(finder_fd);
	listener->port = ntohs(name.sin_port);
	return listener->fd >= 0;
}

bool listener_listen(struct listener *listener)
{
	return listen(listener->fd, BACKLOG) == 0;
}

void listener_refuse(struct listener *listener)
{
	shutdown(listener->fd, SHUT_RDWR);
}

/* A connect to ourselves. Returns its descriptor if it got through in time, else -1. */
static int connect_to_self(const struct listener *listener)
{
	struct sockaddr_in name;
	socklen_t name_bytes = sizeof name;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};

	if (fd < 0)
		return -1;
	getsockname(listener->fd, (struct sockaddr *)&name, &name_bytes);
	if (connect(fd, (struct sockaddr *)&name, name_bytes) == 0)
		return fd;
	if (errno == EINPROGRESS && poll(&poll_fd, 1, SWALLOWED_MS) == 1 && !(poll_fd.revents & POLLERR))
		return fd;
	close(fd);
	return -1;
}

bool listener_swallow(struct listener *listener)
{
	int probe_fd;

	/* A backlog of 0 has room for one (Linux: full means longer than the backlog). */
	if (listen(listener->fd, 0) < 0)
		return false;
	listener->filler_fd = connect_to_self(listener);
	probe_fd = connect_to_self(listener);
	if (listener->filler_fd >= 0 && probe_fd < 0)
		return true;
	if (probe_fd >= 0)
		close(probe_fd);
	return false;
}

bool listener_stop_swallowing(struct listener *listener)
{
	int filled_fd = listener_accept(listener);

	if (filled_fd >= 0)
		close(filled_fd);
	if (listener->filler_fd >= 0)
		close(listener->filler_fd);
	listener->filler_fd = -1;
	/* A second listen() only changes the length of the queue. */
	return listener_listen(listener);
}

int listener_accept(const struct listener *listener)
{
	int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int on = 1;

	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return fd;
}
