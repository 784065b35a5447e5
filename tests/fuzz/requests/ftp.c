/* SPDX-License-Identifier: MIT */

/* As much of an FTP server as libcurl needs to put, append and get a file. */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"

#define BODY_BYTES (1 << 20)

static int control_port;

struct session {
	struct connection *control;
	int listener, port;
};

static int listen_on_loopback(int *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(fd, (struct sockaddr *)&address, bytes) != 0 || listen(fd, 16) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &bytes) != 0)
		abort();
	*port = ntohs(address.sin_port);
	return fd;
}

int server_ftp_port(void)
{
	return control_port;
}

static size_t receive_all(int fd, char *body)
{
	size_t filled = 0;
	ssize_t got;
	while (filled < BODY_BYTES && (got = recv(fd, body + filled, BODY_BYTES - filled, 0)) > 0)
		filled += (size_t)got;
	return filled;
}

/* Returns whether the control connection goes on. */
static bool transfer(struct session *session, const char *verb, const char *name)
{
	char reply[64];
	struct send send = {.complete = true, .announced = true, .start = -1, .connection = session->control->number};
	snprintf(send.method, sizeof(send.method), "%.4s", verb);
	snprintf(send.target, sizeof(send.target), "ftp/%.100s", name);
	send.operation = name[0] == 'o' ? (name[1] - '0') % OPERATIONS_MAX : 0;
	send.step = record_step(send.operation);
	send.number = ++session->control->requests;
	if (!connection_write(session->control, "150 Go on\r\n"))
		return false;
	int data = accept(session->listener, NULL, NULL);
	bool is_upload = strcmp(verb, "RETR") != 0;
	if (is_upload) {
		char *body = malloc(BODY_BYTES);
		size_t bytes = receive_all(data, body);
		describe_body(body, bytes, "", &send);
		free(body);
	}
	int number = record_add(&send);
	snprintf(reply, sizeof(reply), "[%d]", number);
	if (!is_upload)
		(void)!write(data, reply, strlen(reply));
	close(data);
	if (strchr("fxyhtTe", send.step))
		return false;
	bool is_refused = strchr("bBqrRp", send.step) != NULL;
	record_answered(number, is_refused ? 451 : 226);
	return connection_write(session->control, is_refused ? "451 Not now\r\n" : "226 Done\r\n");
}

static const char *reply_to(struct session *session, const char *line, char *out, size_t out_bytes)
{
	static const struct {
		const char *verb, *reply;
	} replies[] = {{"USER", "331 Who\r\n"},         {"PASS", "230 In\r\n"},      {"PWD", "257 \"/\"\r\n"},
	               {"TYPE", "200 So be it\r\n"},    {"SIZE", "550 No idea\r\n"}, {"MDTM", "550 No idea\r\n"},
	               {"REST", "350 Restart\r\n"},     {"CWD", "250 There\r\n"},    {"QUIT", "221 Bye\r\n"},
	               {"NOOP", "200 Nothing done\r\n"}};
	if (strncmp(line, "EPSV", 4) == 0) {
		snprintf(out, out_bytes, "229 Go (|||%d|)\r\n", session->port);
		return out;
	}
	for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++)
		if (strncmp(line, replies[i].verb, strlen(replies[i].verb)) == 0)
			return replies[i].reply;
	return "500 What\r\n";
}

static void serve(struct connection *control)
{
	struct session session = {.control = control};
	char line[256], reply[64];
	session.listener = listen_on_loopback(&session.port);
	bool goes_on = connection_write(control, "220 Hello\r\n");
	while (goes_on && connection_read_line(control, line, sizeof(line))) {
		bool is_transfer =
		    strncmp(line, "STOR ", 5) == 0 || strncmp(line, "APPE ", 5) == 0 || strncmp(line, "RETR ", 5) == 0;
		if (is_transfer) {
			line[4] = '\0';
			goes_on = transfer(&session, line, line + 5);
		} else {
			goes_on = connection_write(control, reply_to(&session, line, reply, sizeof(reply)));
		}
	}
	close(session.listener);
}

void ftp_start(void)
{
	connection_start(listen_on_loopback(&control_port), serve);
}
