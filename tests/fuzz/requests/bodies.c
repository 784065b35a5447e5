/* SPDX-License-Identifier: MIT */

/* Bodies from memory, and forms of both kinds. */

#include <stdlib.h>
#include <string.h>

#include "program.h"

#define MEMORY_BYTES 65536

static const char *file_path;

/* Bytes that end with a NUL after `bytes`, and can be read on beyond it. */
const char *bodies_memory(int64_t bytes)
{
	static char memory[3 * MEMORY_BYTES];
	for (int64_t i = memory[0] ? (int64_t)sizeof(memory) : 0; i < (int64_t)sizeof(memory); i++)
		memory[i] = pattern_at(i);
	memory[MEMORY_BYTES] = '\0';
	return memory + MEMORY_BYTES - bytes;
}

void bodies_file_of_form(const char *path)
{
	file_path = path;
}

static int64_t some_bytes(struct program *program)
{
	return 20 + pick(&program->random, chance(&program->random, 20) ? 30000 : 400);
}

void bodies_postfields(struct program *program)
{
	int64_t bytes = some_bytes(program);
	curl_easy_setopt(program->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(program->sized ? bytes : -1));
	curl_easy_setopt(program->curl, CURLOPT_POSTFIELDS, bodies_memory(bytes));
	program->copied = false;
}

void bodies_copypostfields(struct program *program)
{
	int64_t bytes = some_bytes(program);
	curl_easy_setopt(program->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(program->sized ? bytes : -1));
	curl_easy_setopt(program->curl, CURLOPT_COPYPOSTFIELDS, bodies_memory(bytes));
	program->copied = true;
}

/* Returns NULL if there are too many. */
static struct stream *add_stream(struct program *program)
{
	if (program->part_count == THINGS_MAX)
		return NULL;
	struct stream *stream = &program->parts[program->part_count++];
	*stream = (struct stream){.piece_bytes = 300, .end = some_bytes(program)};
	stream->seek_fails = chance(&program->random, 15);
	return stream;
}

void bodies_form(struct program *program)
{
	struct curl_httppost *form = NULL, *last = NULL;
	int kind = pick(&program->random, 3);
	struct stream *stream = kind == 2 && !program->reads_file ? add_stream(program) : NULL;
	if (program->form_count == THINGS_MAX)
		return;
	curl_formadd(&form, &last, CURLFORM_COPYNAME, "text", CURLFORM_COPYCONTENTS, "plain text", CURLFORM_END);
	if (kind == 1)
		curl_formadd(&form, &last, CURLFORM_COPYNAME, "file", CURLFORM_FILE, file_path, CURLFORM_END);
	if (stream)
		curl_formadd(&form, &last, CURLFORM_COPYNAME, "stream", CURLFORM_STREAM, stream, CURLFORM_CONTENTLEN,
		             (curl_off_t)stream->end, CURLFORM_FILENAME, "x", CURLFORM_END);
	program->forms[program->form_count++] = form;
	program->stream_in_form = program->stream_in_form || stream;
	curl_easy_setopt(program->curl, CURLOPT_HTTPPOST, form);
}

static void fill_part(struct program *program, curl_mimepart *part)
{
	struct stream *stream = NULL;
	switch (pick(&program->random, 6)) {
	case 0:
		curl_mime_filedata(part, file_path);
		break;
	case 1:
	case 2:
		stream = add_stream(program);
		if (stream)
			curl_mime_data_cb(part, stream->end, stream_read, stream_seek, NULL, stream);
		break;
	case 3:
		stream = add_stream(program);
		if (stream)
			curl_mime_data_cb(part, stream->end, stream_read, NULL, NULL, stream);
		break;
	default:
		curl_mime_data(part, "plain text", CURL_ZERO_TERMINATED);
	}
}

static curl_mime *make_mime(struct program *program, int levels)
{
	curl_mime *mime = curl_mime_init(program->curl);
	int parts = 1 + pick(&program->random, 3);
	for (int i = 0; i < parts; i++) {
		curl_mimepart *part = curl_mime_addpart(mime);
		curl_mime_name(part, "part");
		if (levels && chance(&program->random, 20))
			curl_mime_subparts(part, make_mime(program, levels - 1));
		else
			fill_part(program, part);
		if (chance(&program->random, 15))
			fill_part(program, part);
	}
	return mime;
}

void bodies_mime(struct program *program)
{
	if (program->mime_count == THINGS_MAX)
		return;
	curl_mime *mime = make_mime(program, 2);
	program->mimes[program->mime_count++] = mime;
	curl_easy_setopt(program->curl, CURLOPT_MIMEPOST, mime);
	/* Freed before it is used: the body is an empty one. */
	if (chance(&program->random, 4)) {
		program->mime_count--;
		curl_mime_free(mime);
	}
}
