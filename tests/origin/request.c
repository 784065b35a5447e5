/* SPDX-License-Identifier: MIT */
#include "tests/origin/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tests/origin/clock.h"

static bool buffer_append(struct buffer *buffer, const char *bytes, size_t byte_count)
{
	if (buffer->bytes + byte_count + 1 > buffer->room) {
		size_t room = (buffer->bytes + byte_count + 1) * 2;
		char *grown = realloc(buffer->data, room);

		if (!grown)
			return false;
		buffer->data = grown;
		buffer->room = room;
	}
	memcpy(buffer->data + buffer->bytes, bytes, byte_count);
	buffer->bytes += byte_count;
	buffer->data[buffer->bytes] = '\0';
	return true;
}

static enum wire_result fill(struct reader *reader)
{
	enum wire_result result;
	size_t got_bytes = 0;

	if (reader->start < reader->end)
		return WIRE_OK;
	result = wire_read(reader->wire, reader->bytes, sizeof reader->bytes, &got_bytes);
	if (result != WIRE_OK)
		return result;
	reader->start = 0;
	reader->end = got_bytes;
	reader->filled_us = clock_us();
	return WIRE_OK;
}

/* Appends the next line, its end included, to `line`. */
static enum wire_result read_line(struct reader *reader, struct buffer *line, size_t bytes_max)
{
	for (;;) {
		enum wire_result result = fill(reader);
		const char *from = reader->bytes + reader->start;
		size_t there = reader->end - reader->start;
		const char *end;

		if (result != WIRE_OK)
			return result;
		end = memchr(from, '\n', there);
		if (end)
			there = (size_t)(end - from) + 1;
		if (line->bytes + there > bytes_max || !buffer_append(line, from, there))
			return WIRE_PEER_RESET;
		reader->start += there;
		if (end)
			return WIRE_OK;
	}
}

/* Takes `byte_count` bytes of body. */
static enum wire_result read_body_bytes(struct reader *reader, struct request *request, int64_t byte_count)
{
	while (byte_count > 0) {
		enum wire_result result = fill(reader);
		size_t take = reader->end - reader->start;
		size_t keep = REQUEST_BODY_KEPT_BYTES_MAX - request->body.bytes;

		if (result != WIRE_OK)
			return result;
		if ((int64_t)take > byte_count)
			take = (size_t)byte_count;
		if (keep > take)
			keep = take;
		if (!buffer_append(&request->body, reader->bytes + reader->start, keep))
			return WIRE_PEER_RESET;
		reader->start += take;
		request->body_bytes += (int64_t)take;
		byte_count -= (int64_t)take;
	}
	return WIRE_OK;
}

/* The path of an origin-form or absolute-form target (RFC 9112 §3.2), without query. */
static void find_path(struct request *request)
{
	const char *path = request->target;
	const char *scheme_end = strstr(path, "://");

	if (strcmp(request->method, "CONNECT") == 0) {
		snprintf(request->path, sizeof request->path, "CONNECT");
		return;
	}
	if (*path != '/' && scheme_end) {
		path = strchr(scheme_end + 3, '/');
		if (!path)
			path = "/";
	}
	snprintf(request->path, sizeof request->path, "%.*s", (int)strcspn(path, "?"), path);
}

static bool parse_request_line(struct request *request, const char *line)
{
	char version[16];

	if (sscanf(line, "%31s %4095s %15s", request->method, request->target, version) != 3)
		return false;
	request->http_1_0 = strcmp(version, "HTTP/1.0") == 0;
	request->wants_close = request->http_1_0;
	find_path(request);
	return true;
}

static const char *value_of(const char *line, const char *name)
{
	size_t length = strlen(name);

	if (strncasecmp(line, name, length) != 0 || line[length] != ':')
		return NULL;
	line += length + 1;
	return line + strspn(line, " \t");
}

static void parse_header_line(struct request *request, const char *line)
{
	const char *value;

	if ((value = value_of(line, "Content-Length"))) {
		request->framing = REQUEST_WITH_LENGTH;
		request->declared_bytes = strtoll(value, NULL, 10);
	} else if ((value = value_of(line, "Transfer-Encoding")) && strncasecmp(value, "chunked", 7) == 0) {
		request->framing = REQUEST_CHUNKED;
	} else if ((value = value_of(line, "Connection")) && strncasecmp(value, "close", 5) == 0) {
		request->wants_close = true;
	} else if ((value = value_of(line, "Expect")) && strncasecmp(value, "100-continue", 12) == 0) {
		request->expects_continue = true;
	}
}

static bool is_blank(const char *line)
{
	return strcmp(line, "\r\n") == 0 || strcmp(line, "\n") == 0;
}

enum wire_result request_read_head(struct reader *reader, struct request *request)
{
	enum wire_result result = fill(reader);
	size_t line_start = 0;

	if (result != WIRE_OK)
		return result;
	request->first_byte_us = reader->filled_us;
	for (;;) {
		const char *line;

		result = read_line(reader, &request->head, REQUEST_HEAD_BYTES_MAX);
		if (result != WIRE_OK)
			return result;
		line = request->head.data + line_start;
		if (line_start == 0 && !parse_request_line(request, line))
			return WIRE_PEER_RESET;
		if (line_start > 0)
			parse_header_line(request, line);
		if (is_blank(line))
			break;
		line_start = request->head.bytes;
	}
	request->head_us = reader->filled_us;
	return WIRE_OK;
}

/* Chunk extensions and trailers are read over. */
static enum wire_result read_chunks(struct reader *reader, struct request *request)
{
	for (;;) {
		struct buffer line = {.data = NULL};
		enum wire_result result = read_line(reader, &line, 1024);
		long long chunk_bytes = result == WIRE_OK ? strtoll(line.data, NULL, 16) : 0;

		free(line.data);
		if (result == WIRE_OK)
			result = read_body_bytes(reader, request, chunk_bytes);
		line = (struct buffer){.data = NULL};
		if (result == WIRE_OK)
			result = read_line(reader, &line, 8192);
		/* After the last chunk: trailers up to the blank line. */
		while (result == WIRE_OK && chunk_bytes == 0 && !is_blank(line.data)) {
			line.bytes = 0;
			result = read_line(reader, &line, 8192);
		}
		free(line.data);
		if (result != WIRE_OK || chunk_bytes <= 0)
			return result;
	}
}

enum wire_result request_read_body(struct reader *reader, struct request *request)
{
	enum wire_result result = WIRE_OK;

	if (request->framing == REQUEST_CHUNKED)
		result = read_chunks(reader, request);
	else if (request->framing == REQUEST_WITH_LENGTH)
		result = read_body_bytes(reader, request, request->declared_bytes);
	request->body_us = request->framing == REQUEST_WITHOUT_BODY ? request->head_us : reader->filled_us;
	request->body_read = result == WIRE_OK;
	return result;
}

void request_free(struct request *request)
{
	free(request->head.data);
	free(request->body.data);
	memset(request, 0, sizeof *request);
}
