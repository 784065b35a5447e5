/* SPDX-License-Identifier: MIT */
#include "tests/origin/server.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>

int64_t server_next_request(struct server *server)
{
	int64_t number;

	pthread_mutex_lock(&server->lock);
	number = ++server->request_count;
	pthread_mutex_unlock(&server->lock);
	return number;
}

void server_refuse(struct server *server, int64_t for_ms)
{
	listener_refuse(&server->listener);
	pthread_mutex_lock(&server->lock);
	server->refuse_for_ms = for_ms;
	pthread_mutex_unlock(&server->lock);
	eventfd_write(server->wake_fd, 1);
}

void server_connection_begins(struct server *server)
{
	pthread_mutex_lock(&server->lock);
	server->live_connections++;
	pthread_mutex_unlock(&server->lock);
}

void server_connection_ended(struct server *server)
{
	pthread_mutex_lock(&server->lock);
	server->live_connections--;
	if (server->live_connections == 0)
		pthread_cond_broadcast(&server->all_gone);
	pthread_mutex_unlock(&server->lock);
}

bool server_await_end(struct server *server, int64_t limit_s)
{
	struct timespec end;
	bool all_gone;
	int error = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += limit_s;
	pthread_mutex_lock(&server->lock);
	while (server->live_connections > 0 && error != ETIMEDOUT)
		error = pthread_cond_timedwait(&server->all_gone, &server->lock, &end);
	all_gone = server->live_connections == 0;
	pthread_mutex_unlock(&server->lock);
	return all_gone;
}
