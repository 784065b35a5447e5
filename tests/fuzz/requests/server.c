/* SPDX-License-Identifier: MIT */

/* The origin, which is its own proxy too: behind a CONNECT the same connection goes on. */

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "fuzz.h"

#define LINE_BYTES       2048
#define BODY_BYTES       (1 << 20)
#define HEAD_BYTES       8192
#define BODY_PATIENCE_MS 300 /* for a body that was announced and doesn't come */

static int origin_port, dead_port;

struct request {
	struct send send;
	char head[HEAD_BYTES]; /* the lines that must be the same in a repeat */
	size_t head_bytes;
	char boundary[80];
	long length; /* -1: chunked; 0: no body */
	bool expects, keeps;
	bool is_foreign; /* a CONNECT to another port */
	char *body;
	size_t body_bytes;
	int record;
};

static int listen_somewhere(int backlog, int *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(fd, (struct sockaddr *)&address, bytes) != 0 || (backlog && listen(fd, backlog) != 0) ||
	    getsockname(fd, (struct sockaddr *)&address, &bytes) != 0)
		abort();
	*port = ntohs(address.sin_port);
	return fd;
}

int server_port(void)
{
	return origin_port;
}

int server_dead_port(void)
{
	return dead_port;
}

/* "http://host:port/pN/SEED/oK…", its path, or "ftp://host:port/oK…" → "oK…" */
static const char *own_part(const char *target)
{
	const char *path = strstr(target, "/o");
	return path ? path + 1 : target;
}

static bool begins(const char *line, const char *name)
{
	return strncasecmp(line, name, strlen(name)) == 0;
}

static const char *value_of(const char *line)
{
	const char *value = strchr(line, ':') + 1;
	return value + strspn(value, " \t");
}

static void note_header(struct request *request, const char *line)
{
	if (begins(line, "Content-Length:")) {
		request->length = strtol(value_of(line), NULL, 10);
		request->send.empty = request->length == 0;
	}
	if (begins(line, "Transfer-Encoding:") && strstr(line, "chunked"))
		request->length = -1;
	else if (begins(line, "Expect:") && strstr(line, "100-continue"))
		request->expects = true;
	else if (begins(line, "Connection:") && strstr(line, "close"))
		request->keeps = false;
	else if (begins(line, "Idempotency-Key:"))
		request->send.has_key = request->send.has_key || *value_of(line) != '\0';
	else if (begins(line, "If-Match:") || begins(line, "If-None-Match:") || begins(line, "x-goog-if-"))
		request->send.conditional = true;
	else if (begins(line, "X-HTTP-Method-Override:"))
		request->send.overridden = true;
	else if (begins(line, "Authorization:"))
		request->send.authorised = true;
	const char *boundary = begins(line, "Content-Type:") ? strstr(line, "boundary=") : NULL;
	if (boundary)
		snprintf(request->boundary, sizeof(request->boundary), "%s", boundary + 9);
}

/* What may differ between two sends of one request: a new nonce's answer, an Expect that was refused. */
static bool is_stable(const char *line)
{
	return !begins(line, "Authorization:") && !begins(line, "Expect:") && !begins(line, "Proxy-");
}

static void keep_line(struct request *request, const char *line)
{
	size_t bytes = strlen(line);
	if (request->head_bytes + bytes + 1 > sizeof(request->head))
		return;
	memcpy(request->head + request->head_bytes, line, bytes);
	request->head_bytes += bytes;
	request->head[request->head_bytes++] = '\n';
}

static bool read_head(struct connection *connection, struct request *request)
{
	char line[LINE_BYTES], target[LINE_BYTES] = "", version[16] = "";
	memset(request, 0, sizeof(*request));
	describe_body(request->head, 0, "", &request->send);
	request->keeps = true;
	if (!connection_read_line(connection, line, sizeof(line)) ||
	    sscanf(line, "%31s %2047s %15s", request->send.method, target, version) != 3 || !begins(version, "HTTP/"))
		return false;
	bool is_connect = strcmp(request->send.method, "CONNECT") == 0;
	snprintf(request->send.target, TEXT_BYTES, "%.100s", is_connect ? "-" : own_part(target));
	const char *port = strrchr(target, ':');
	request->is_foreign = is_connect && (!port || atoi(port + 1) != origin_port);
	const char *part = request->send.target;
	request->send.operation = is_connect ? -1 : part[0] == 'o' ? (part[1] - '0') % OPERATIONS_MAX : 0;
	keep_line(request, request->send.method);
	keep_line(request, request->send.target);
	request->keeps = strcmp(version, "HTTP/1.1") == 0;
	while (connection_read_line(connection, line, sizeof(line))) {
		if (!line[0])
			return true;
		if (!strchr(line, ':'))
			return false;
		note_header(request, line);
		if (is_stable(line))
			keep_line(request, line);
	}
	return false;
}

static bool read_bytes(struct connection *connection, struct request *request, size_t count)
{
	while (count > 0) {
		size_t room = BODY_BYTES - request->body_bytes;
		long got =
		    connection_read(connection, request->body + request->body_bytes, count < room ? count : room);
		if (got <= 0)
			return false;
		request->body_bytes += (size_t)got;
		count -= (size_t)got;
	}
	return true;
}

static bool read_chunks(struct connection *connection, struct request *request)
{
	char line[LINE_BYTES];
	for (;;) {
		if (!connection_read_line(connection, line, sizeof(line)))
			return false;
		size_t bytes = strtoul(line, NULL, 16);
		if (bytes && !read_bytes(connection, request, bytes))
			return false;
		if (!connection_read_line(connection, line, sizeof(line)))
			return false;
		while (!bytes && line[0] && connection_read_line(connection, line, sizeof(line)))
			;
		if (!bytes)
			return true;
	}
}

static void read_body(struct connection *connection, struct request *request)
{
	request->body = malloc(BODY_BYTES);
	connection_be_patient(connection, BODY_PATIENCE_MS);
	if (request->length < 0)
		request->send.complete = read_chunks(connection, request);
	else
		request->send.complete = read_bytes(connection, request, (size_t)request->length);
	connection_be_patient(connection, 0);
	describe_body(request->body, request->body_bytes, request->boundary, &request->send);
	free(request->body);
}

static const char *redirect_target(char step, const struct request *request, char *out, size_t out_bytes)
{
	const char *rest = request->send.target;
	int hop = (int)strspn(rest + strcspn(rest, "h"), "h") + 1;
	char path[TEXT_BYTES];
	snprintf(path, sizeof(path), "/p/s/o%d%.*s", request->send.operation, hop + 1, "/hhhhhhhhhhhhhhhhhhhhhhhh");
	if (strchr("12378", step))
		snprintf(out, out_bytes, "%s", path);
	else if (step == '4')
		snprintf(out, out_bytes, "http://localhost:%d%s", origin_port, path);
	else if (step == 'd' || step == 'D')
		snprintf(out, out_bytes, "http://127.0.0.1:%d%s", dead_port, path);
	else if (step == 'S')
		snprintf(out, out_bytes, "https://127.0.0.1:%d%s", origin_port, path);
	else if (step == 'U')
		snprintf(out, out_bytes, "nothing://127.0.0.1%s", path);
	else
		snprintf(out, out_bytes, "ftp://127.0.0.1:%d/o%d-%d", server_ftp_port(), request->send.operation, hop);
	return out;
}

/* Letters, their status, and what else is to be said of it. */
static int status_of(char step)
{
	static const struct {
		char step;
		int status;
	} statuses[] = {{'b', 503}, {'B', 503}, {'q', 503}, {'T', 503}, {'e', 503}, {'r', 429}, {'R', 429}, {'p', 500},
	                {'w', 417}, {'a', 401}, {'n', 401}, {'1', 301}, {'2', 302}, {'3', 303}, {'7', 307}, {'8', 308},
	                {'4', 307}, {'d', 303}, {'D', 307}, {'U', 302}, {'F', 302}, {'G', 307}, {'S', 307}};
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (statuses[i].step == step)
			return statuses[i].status;
	return 200;
}

static bool answer(struct connection *connection, struct request *request)
{
	char step = request->send.step, text[2048], location[256], body[64];
	int status = status_of(step);
	bool closes = !request->keeps || strchr("cBew", step) != NULL;
	bool cuts_body = step == 't' || step == 'T';
	int length = snprintf(body, sizeof(body), "[%d]%s", request->record, step == 'q' ? " quota" : "");
	int used = snprintf(text, sizeof(text), "HTTP/1.1 %d Said\r\nX-Send: [%d]\r\nContent-Length: %d\r\n%s%s%s",
	                    status, request->record, length * (cuts_body ? 2 : 1),
	                    closes ? "Connection: close\r\n" : "", step == 'R' ? "Retry-After: 0\r\n" : "",
	                    step == 'a'   ? "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"
	                    : step == 'n' ? "WWW-Authenticate: Basic realm=\"r\"\r\n"
	                                  : "");
	if (status / 100 == 3)
		used += snprintf(text + used, sizeof(text) - (size_t)used, "Location: %s\r\n",
		                 redirect_target(step, request, location, sizeof(location)));
	if (step == 'h')
		text[used / 2] = '\0';
	else
		snprintf(text + used, sizeof(text) - (size_t)used, "\r\n%s",
		         strcmp(request->send.method, "HEAD") == 0 ? "" : body);
	return connection_write(connection, text) && !closes && !cuts_body && step != 'h' && step != 'g';
}

static bool note(struct request *request, bool answers_early)
{
	char location[256];
	struct send *send = &request->send;
	bool is_answered = !strchr("fxy", send->step) && (send->complete || answers_early);
	send->status = is_answered ? status_of(send->step) : 0;
	if (send->status / 100 == 3)
		snprintf(send->location, TEXT_BYTES, "%.100s",
		         redirect_target(send->step, request, location, sizeof(location)));
	send->announced = request->length != 0;
	mask_boundary(request->head, request->head_bytes, request->boundary);
	send->head_hash = hash_bytes(request->head, request->head_bytes);
	request->record = record_add(send);
	return is_answered;
}

/* Returns whether the connection goes on. */
static bool serve_connect(struct connection *connection, struct request *request)
{
	/* Nobody speaks FTP or TLS behind a tunnel. */
	char step = request->is_foreign ? '5' : record_step(-1);
	int status = step == '2' ? 200 : step == '5' ? 503 : step == '4' ? 429 : step == '7' ? 407 : 0;
	char text[128];
	request->send.step = step;
	request->send.status = status;
	request->send.connection = connection->number;
	record_add(&request->send);
	if (step == 'x')
		connection_reset(connection);
	if (!status)
		return false;
	snprintf(text, sizeof(text), "HTTP/1.1 %d Said\r\n%s\r\n", status,
	         status == 200 ? "" : "Content-Length: 0\r\nProxy-Authenticate: Basic realm=\"p\"\r\n");
	return connection_write(connection, text);
}

static bool serve_request(struct connection *connection, struct request *request)
{
	struct send *send = &request->send;
	send->step = record_step(send->operation);
	send->connection = connection->number;
	send->number = ++connection->requests;
	send->opened = connection->opened;
	if ((send->step == 'a' || send->step == 'n') && send->authorised)
		send->step = 'o';
	bool answers_early = strchr("eyw", send->step) != NULL;
	if (!answers_early && request->expects && !connection_write(connection, "HTTP/1.1 100 Continue\r\n\r\n"))
		answers_early = true;
	if (!answers_early)
		read_body(connection, request);
	else
		send->complete = request->length == 0;
	bool is_answered = note(request, answers_early);
	if (send->step == 'x' || send->step == 'y')
		connection_reset(connection);
	return is_answered && answer(connection, request);
}

static void serve(struct connection *connection)
{
	struct request *request = malloc(sizeof(*request));
	bool goes_on = true;
	while (goes_on && read_head(connection, request))
		goes_on = request->send.operation < 0 ? serve_connect(connection, request)
		                                      : serve_request(connection, request);
	free(request);
}

void server_start(void)
{
	int listener = listen_somewhere(64, &origin_port);
	listen_somewhere(0, &dead_port);
	connection_start(listener, serve);
	ftp_start();
}
