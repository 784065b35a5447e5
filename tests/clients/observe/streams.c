/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clients/observe/observe.h"

#define SHOWN_BYTES 1200 /* of a piece; its length and hash tell the rest */

static const char *const stream_names[STREAM_COUNT] = {"delivery", "sent", "received", "upload"};

static void flush_bytes(struct stream *stream)
{
	if (!stream->kind)
		return;
	fflush(stream->pending);
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < stream->pending_bytes; i++)
		hash = (hash ^ (unsigned char)stream->pending_begin[i]) * 16777619u;
	fprintf(stream->text, "%s %zu %08" PRIx32 " ", stream->kind, stream->pending_bytes, hash);
	for (size_t i = 0; i < stream->pending_bytes && i < SHOWN_BYTES; i++) {
		unsigned char byte = (unsigned char)stream->pending_begin[i];
		if (byte >= ' ' && byte < 127 && byte != '\\')
			fputc(byte, stream->text);
		else
			fprintf(stream->text, "\\x%02x", byte);
	}
	fputc('\n', stream->text);
	rewind(stream->pending);
	stream->kind = NULL;
}

void stream_add_bytes(struct stream *stream, const char *kind, const char *bytes, size_t count_bytes)
{
	if (stream->kind && strcmp(stream->kind, kind) != 0)
		flush_bytes(stream);
	stream->kind = kind;
	fwrite(bytes, 1, count_bytes, stream->pending);
}

void stream_add_call(struct stream *stream, const char *kind, const char *bytes, size_t count_bytes)
{
	flush_bytes(stream);
	stream_add_bytes(stream, kind, bytes, count_bytes);
	flush_bytes(stream);
}

void stream_add_mark(struct stream *stream, const char *mark)
{
	flush_bytes(stream);
	fprintf(stream->text, "%s\n", mark);
}

void streams_open(struct stream streams[STREAM_COUNT])
{
	for (int i = 0; i < STREAM_COUNT; i++) {
		struct stream *stream = &streams[i];
		stream->text = open_memstream(&stream->text_begin, &stream->text_bytes);
		stream->pending = open_memstream(&stream->pending_begin, &stream->pending_bytes);
		stream->kind = NULL;
	}
}

void streams_print(struct stream streams[STREAM_COUNT])
{
	for (int i = 0; i < STREAM_COUNT; i++) {
		struct stream *stream = &streams[i];
		flush_bytes(stream);
		fclose(stream->text);
		fclose(stream->pending);
		printf("# %s\n%s", stream_names[i], stream->text_begin);
		free(stream->text_begin);
		free(stream->pending_begin);
	}
}
