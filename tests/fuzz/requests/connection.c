/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define QUIET_TRIES 5000 /* of a millisecond */
#define STACK_BYTES 65536

#define SERVICES_MAX 2

static atomic_int open_connections, connection_count;

struct service {
	int listener;
	void (*serve)(struct connection *connection);
};

static struct service services[SERVICES_MAX];
static size_t service_count;

/* Over an accept and the note which operation it was in. */
static pthread_mutex_t accepting = PTHREAD_MUTEX_INITIALIZER;
static int operation_now;

struct visit {
	void (*serve)(struct connection *connection);
	struct connection connection;
};

static void *serve_visit(void *data)
{
	struct visit *visit = data;
	visit->serve(&visit->connection);
	close(visit->connection.fd);
	free(visit);
	atomic_fetch_sub(&open_connections, 1);
	return NULL;
}

static void start_thread(void *(*run)(void *), void *data)
{
	pthread_t thread;
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 4 * STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attributes, run, data) != 0)
		abort();
	pthread_attr_destroy(&attributes);
}

static bool has_caller(const struct service *service, int wait_ms)
{
	struct pollfd listener = {.fd = service->listener, .events = POLLIN};
	return poll(&listener, 1, wait_ms) == 1;
}

static int accept_one(const struct service *service, int *operation)
{
	if (!has_caller(service, -1))
		return -1;
	pthread_mutex_lock(&accepting);
	int fd = accept(service->listener, NULL, NULL);
	*operation = operation_now;
	pthread_mutex_unlock(&accepting);
	return fd;
}

static void *accept_all(void *data)
{
	const struct service *service = data;
	for (;;) {
		int one = 1, operation, fd = accept_one(service, &operation);
		if (fd < 0)
			continue;
		atomic_fetch_add(&open_connections, 1);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		struct visit *visit = calloc(1, sizeof(*visit));
		visit->serve = service->serve;
		visit->connection.fd = fd;
		visit->connection.number = atomic_fetch_add(&connection_count, 1);
		visit->connection.opened = operation;
		start_thread(serve_visit, visit);
	}
	return NULL;
}

void connection_start(int listener, void (*serve)(struct connection *connection))
{
	if (service_count == SERVICES_MAX)
		abort();
	struct service *service = &services[service_count++];
	*service = (struct service){.listener = listener, .serve = serve};
	start_thread(accept_all, service);
}

static bool set_operation(int operation)
{
	bool is_settled = true;
	pthread_mutex_lock(&accepting);
	for (size_t i = 0; i < service_count; i++)
		is_settled = is_settled && !has_caller(&services[i], 0);
	if (is_settled)
		operation_now = operation;
	pthread_mutex_unlock(&accepting);
	return is_settled;
}

/* A connection of the operation before may still wait to be accepted: it would be taken for one of this. */
void server_expect(int operation)
{
	while (!set_operation(operation))
		sched_yield();
}

/* Connections are accepted in order: those before this one are counted when it is answered or closed. */
static void visit(int port)
{
	struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char byte;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && send(fd, "\n", 1, MSG_NOSIGNAL) == 1)
		(void)!recv(fd, &byte, 1, 0);
	close(fd);
}

bool server_is_quiet(void)
{
	visit(server_port());
	visit(server_ftp_port());
	struct timespec millisecond = {.tv_nsec = 1000000};
	for (int i = 0; i < QUIET_TRIES && atomic_load(&open_connections) > 0; i++)
		nanosleep(&millisecond, NULL);
	atomic_store(&connection_count, 0);
	return atomic_load(&open_connections) == 0;
}

void connection_be_patient(struct connection *connection, int patience_ms)
{
	struct timeval patience = {.tv_sec = patience_ms / 1000, .tv_usec = patience_ms % 1000 * 1000};
	setsockopt(connection->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

void connection_reset(struct connection *connection)
{
	struct linger linger = {.l_onoff = 1};
	setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

static bool fill(struct connection *connection)
{
	ssize_t got = recv(connection->fd, connection->buffer, sizeof(connection->buffer), 0);
	connection->used = 0;
	connection->filled = got > 0 ? (size_t)got : 0;
	return got > 0;
}

bool connection_read_line(struct connection *connection, char *line, size_t line_bytes)
{
	size_t length = 0;
	for (;;) {
		if (connection->used == connection->filled && !fill(connection))
			return false;
		char c = connection->buffer[connection->used++];
		if (c == '\n')
			break;
		if (length + 1 < line_bytes)
			line[length++] = c;
	}
	if (length && line[length - 1] == '\r')
		length--;
	line[length] = '\0';
	return true;
}

long connection_read(struct connection *connection, char *out, size_t bytes)
{
	if (connection->used == connection->filled && !fill(connection))
		return 0;
	size_t left = connection->filled - connection->used;
	size_t count = left < bytes ? left : bytes;
	memcpy(out, connection->buffer + connection->used, count);
	connection->used += count;
	return (long)count;
}

bool connection_write(struct connection *connection, const char *text)
{
	size_t bytes = strlen(text);
	return send(connection->fd, text, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}
