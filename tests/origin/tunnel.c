/* SPDX-License-Identifier: MIT */
#include "tests/origin/tunnel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int tunnel_connect(const char *target)
{
	const char *colon = strrchr(target, ':');
	struct sockaddr_in address = {.sin_family = AF_INET};
	int fd;

	if (!colon)
		return -1;
	address.sin_port = htons((uint16_t)atoi(colon + 1));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Moves what is there from one side to the other. Returns false at the end. */
static bool carry(int from_fd, const struct wire *to, int64_t *carried_bytes)
{
	char bytes[16384];
	ssize_t got = recv(from_fd, bytes, sizeof bytes, 0);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (got == 0)
		return false;
	return wire_write(to, bytes, (size_t)got, carried_bytes) == WIRE_OK;
}

void tunnel_run(const struct wire *client, int target_fd, int64_t *up_bytes, int64_t *down_bytes)
{
	struct wire target = {.fd = target_fd, .stop_fd = client->stop_fd};
	struct pollfd fds[3] = {{.fd = client->fd, .events = POLLIN},
	                        {.fd = target_fd, .events = POLLIN},
	                        {.fd = client->stop_fd, .events = POLLIN}};

	for (;;) {
		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			return;
		if (fds[2].revents)
			return;
		if (fds[0].revents && !carry(client->fd, &target, up_bytes))
			return;
		if (fds[1].revents && !carry(target_fd, client, down_bytes))
			return;
	}
}
