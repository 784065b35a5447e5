/* SPDX-License-Identifier: MIT */
#include "tests/origin/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tests/origin/clock.h"

/* A generated body goes out in pieces of this size unless the step drips. */
#define PIECE_BYTES 16384

struct block {
	char *data;
	size_t bytes;
	FILE *stream;
};

struct body {
	struct step_bytes bytes; /* data NULL: generated */
	int64_t byte_count;
	int64_t send_bytes; /* how much of it is sent */
};

static const char *usual_reason(int64_t status)
{
	static const struct {
		int64_t status;
		const char *reason;
	} REASONS[] = {
	    {100, "Continue"},           {103, "Early Hints"},       {200, "OK"},           {204, "No Content"},
	    {206, "Partial Content"},    {301, "Moved Permanently"}, {302, "Found"},        {304, "Not Modified"},
	    {307, "Temporary Redirect"}, {401, "Unauthorized"},      {403, "Forbidden"},    {404, "Not Found"},
	    {407, "Proxy Auth Needed"},  {408, "Request Timeout"},   {418, "I'm a teapot"}, {429, "Too Many Requests"},
	    {500, "Server Error"},       {502, "Bad Gateway"},       {503, "Unavailable"},  {504, "Gateway Timeout"},
	};

	for (size_t i = 0; i < sizeof REASONS / sizeof *REASONS; i++) {
		if (REASONS[i].status == status)
			return REASONS[i].reason;
	}
	return "Unnamed";
}

static bool block_open(struct block *block)
{
	block->data = NULL;
	block->bytes = 0;
	block->stream = open_memstream(&block->data, &block->bytes);
	return block->stream != NULL;
}

static void put_headers(FILE *stream, const struct step_headers *headers)
{
	for (size_t i = 0; i < headers->count; i++) {
		fprintf(stream, "%s: ", headers->items[i].name);
		fwrite(headers->items[i].value.data, 1, headers->items[i].value.bytes, stream);
		fputs("\r\n", stream);
	}
}

static bool sets_header(const struct step *step, const char *name)
{
	for (size_t i = 0; i < step->headers.count; i++) {
		if (strcasecmp(step->headers.items[i].name, name) == 0)
			return true;
	}
	return false;
}

static enum step_framing framing_of(const struct step *step, const struct request *request)
{
	if (step->framing != STEP_FRAMING_AUTO)
		return (enum step_framing)step->framing;
	if (step->status == 204 || step->status == 304)
		return STEP_FRAMING_NONE;
	/* RFC 9110 §9.3.6: a 2xx to CONNECT has neither. */
	if (request && strcmp(request->method, "CONNECT") == 0 && step->status / 100 == 2)
		return STEP_FRAMING_NONE;
	return STEP_FRAMING_LENGTH;
}

static struct body body_of(const struct step *step, const struct request *request)
{
	struct body body = {.bytes = step->body, .byte_count = (int64_t)step->body.bytes};

	if (step->echo && request)
		body.bytes = (struct step_bytes){request->body.data ? request->body.data : "", request->body.bytes};
	if (body.bytes.data)
		body.byte_count = (int64_t)body.bytes.bytes;
	else if (step->body_bytes != STEP_UNSET)
		body.byte_count = step->body_bytes;
	body.send_bytes = body.byte_count;
	if (step->send_bytes != STEP_UNSET && step->send_bytes < body.send_bytes)
		body.send_bytes = step->send_bytes;
	if (framing_of(step, request) == STEP_FRAMING_NONE || (request && strcmp(request->method, "HEAD") == 0))
		body.send_bytes = 0;
	return body;
}

static void put_head(FILE *stream, const struct step *step, enum step_framing framing, const struct body *body,
                     enum step_end end)
{
	int64_t declared = step->declared_bytes != STEP_UNSET ? step->declared_bytes : body->byte_count;

	fprintf(stream, "HTTP/1.1 %lld %s\r\n", (long long)step->status,
	        step->reason ? step->reason : usual_reason(step->status));
	put_headers(stream, &step->headers);
	if (framing == STEP_FRAMING_LENGTH && !sets_header(step, "Content-Length"))
		fprintf(stream, "Content-Length: %lld\r\n", (long long)declared);
	if (framing == STEP_FRAMING_CHUNKED && !sets_header(step, "Transfer-Encoding"))
		fputs("Transfer-Encoding: chunked\r\n", stream);
	if (end == STEP_END_CLOSE && framing == STEP_FRAMING_CLOSE && !sets_header(step, "Connection"))
		fputs("Connection: close\r\n", stream);
	fputs("\r\n", stream);
}

static bool is_cut(const struct step *step, const struct body *body, enum step_framing framing)
{
	if (step->header_cut != STEP_UNSET || (step->send_bytes != STEP_UNSET && step->send_bytes < body->byte_count))
		return true;
	return framing == STEP_FRAMING_LENGTH && step->declared_bytes > body->byte_count;
}

static enum step_end end_of(const struct step *step, const struct request *request, const struct body *body)
{
	enum step_framing framing = framing_of(step, request);

	if (step->end != STEP_END_AUTO)
		return (enum step_end)step->end;
	if (!request || step->raw.data || framing == STEP_FRAMING_CLOSE || request->wants_close)
		return STEP_END_CLOSE;
	return is_cut(step, body, framing) ? STEP_END_CLOSE : STEP_END_KEEP;
}

static enum wire_result send_bytes(const struct wire *wire, const void *bytes, size_t byte_count,
                                   struct record_answer *answer)
{
	/* Before: whoever gets the bytes may act on them before this thread runs again. */
	answer->ended_us = clock_us();
	if (byte_count > 0 && answer->started_us == 0)
		answer->started_us = answer->ended_us;
	return wire_write(wire, bytes, byte_count, &answer->sent_bytes);
}

static enum wire_result send_block(const struct wire *wire, struct block *block, size_t bytes_max,
                                   struct record_answer *answer)
{
	enum wire_result result = WIRE_PEER_RESET;

	if (fclose(block->stream) == 0)
		result = send_bytes(wire, block->data, block->bytes < bytes_max ? block->bytes : bytes_max, answer);
	free(block->data);
	return result;
}

static enum wire_result send_informational(const struct wire *wire, const struct step *step,
                                           struct record_answer *answer)
{
	struct block block;

	if (step->informational_count == 0)
		return WIRE_OK;
	if (!block_open(&block))
		return WIRE_PEER_RESET;
	for (size_t i = 0; i < step->informational_count; i++) {
		const struct step_informational *info = &step->informational[i];

		fprintf(block.stream, "HTTP/1.1 %lld %s\r\n", (long long)info->status,
		        info->reason ? info->reason : usual_reason(info->status));
		put_headers(block.stream, &info->headers);
		fputs("\r\n", block.stream);
	}
	return send_block(wire, &block, SIZE_MAX, answer);
}

/* Bytes `from`.. of the body: the alphabet over and over if it is a generated one. */
static void copy_body(const struct body *body, int64_t from, char *to, size_t byte_count)
{
	if (body->bytes.data) {
		memcpy(to, body->bytes.data + from, byte_count);
		return;
	}
	for (size_t i = 0; i < byte_count; i++)
		to[i] = (char)('a' + (from + (int64_t)i) % 26);
}

/* One piece of body with its chunk framing, in one write. */
static enum wire_result send_piece(const struct wire *wire, const struct body *body, int64_t from, size_t byte_count,
                                   bool chunked, struct record_answer *answer)
{
	char piece[PIECE_BYTES + 32];
	size_t at = 0;

	if (chunked)
		at = (size_t)snprintf(piece, 16, "%zx\r\n", byte_count);
	copy_body(body, from, piece + at, byte_count);
	at += byte_count;
	if (chunked) {
		memcpy(piece + at, "\r\n", 2);
		at += 2;
	}
	return send_bytes(wire, piece, at, answer);
}

static enum wire_result send_body(const struct wire *wire, const struct step *step, const struct body *body,
                                  bool chunked, struct record_answer *answer)
{
	int64_t piece_bytes = step->drip_bytes != STEP_UNSET ? step->drip_bytes : PIECE_BYTES;
	enum wire_result result = WIRE_OK;

	if (piece_bytes > PIECE_BYTES)
		piece_bytes = PIECE_BYTES;
	for (int64_t from = 0; from < body->send_bytes && result == WIRE_OK; from += piece_bytes) {
		int64_t left = body->send_bytes - from;

		if (from > 0)
			result = wire_pause(wire, step->drip_every_ms);
		if (result == WIRE_OK)
			result = send_piece(wire, body, from, (size_t)(left < piece_bytes ? left : piece_bytes),
			                    chunked, answer);
	}
	return result;
}

static enum wire_result send_last_chunk(const struct wire *wire, const struct step *step, struct record_answer *answer)
{
	struct block block;

	if (!block_open(&block))
		return WIRE_PEER_RESET;
	fputs("0\r\n", block.stream);
	put_headers(block.stream, &step->trailers);
	fputs("\r\n", block.stream);
	return send_block(wire, &block, SIZE_MAX, answer);
}

/* Header block, body, trailers; a cut answer ends where it is cut. */
static enum wire_result send_response(const struct wire *wire, const struct step *step, const struct request *request,
                                      const struct body *body, enum step_end end, struct record_answer *answer)
{
	enum step_framing framing = framing_of(step, request);
	bool chunked = framing == STEP_FRAMING_CHUNKED;
	bool head_only = request && strcmp(request->method, "HEAD") == 0;
	enum wire_result result = send_informational(wire, step, answer);
	struct block block;

	if (result != WIRE_OK)
		return result;
	if (!block_open(&block))
		return WIRE_PEER_RESET;
	put_head(block.stream, step, framing, body, end);
	result = send_block(wire, &block, step->header_cut != STEP_UNSET ? (size_t)step->header_cut : SIZE_MAX, answer);
	if (step->header_cut != STEP_UNSET || result != WIRE_OK)
		return result;
	answer->status = step->status;
	if (body->send_bytes > 0)
		result = wire_pause(wire, step->body_delay_ms);
	if (result == WIRE_OK)
		result = send_body(wire, step, body, chunked, answer);
	if (result == WIRE_OK && chunked && !head_only && body->send_bytes == body->byte_count)
		result = send_last_chunk(wire, step, answer);
	return result;
}

static enum step_end end_of_fault(const struct step *step)
{
	if (step->fault == STEP_FAULT_RESET)
		return STEP_END_RESET;
	return step->fault == STEP_FAULT_FIN ? STEP_END_CLOSE : STEP_END_SILENCE;
}

enum step_end answer_send(const struct wire *wire, const struct step *step, const struct request *request,
                          struct record_answer *answer)
{
	struct body body = body_of(step, request);
	enum step_end end = step->fault != STEP_FAULT_NONE ? end_of_fault(step) : end_of(step, request, &body);

	answer->how = wire_pause(wire, step->delay_ms);
	if (answer->how == WIRE_OK && step->fault == STEP_FAULT_NONE) {
		if (step->raw.data)
			answer->how = send_bytes(wire, step->raw.data, step->raw.bytes, answer);
		else
			answer->how = send_response(wire, step, request, &body, end, answer);
	}
	if (answer->how != WIRE_OK || answer->ended_us == 0)
		answer->ended_us = clock_us();
	return end;
}
