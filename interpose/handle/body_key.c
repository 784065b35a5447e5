/* SPDX-License-Identifier: MIT */

#include <stdio.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "interpose/handle/body_key.h"
#include "interpose/handle/content_key.h"
#include "interpose/handle/mime.h"
#include "interpose/handle/program_body.h"

/* Its own place is known where it is sought back to; before an attempt it is where it stands. */
static uint64_t key_of_stream_file(const struct handle *handle, enum body_sent sent)
{
	const struct program_options *program = &handle->program;
	FILE *file = program->read_data_set ? program->read_data : stdin;
	struct stat status;
	/* What was for a read function at the begin, which the program took away, is no file. */
	bool is_known = file && (!sent || handle->body.file_offset >= 0);
	int number = is_known ? fileno(file) : -1;
	if (number < 0 || fstat(number, &status) != 0 || !S_ISREG(status.st_mode))
		return 0;
	int64_t offset = sent ? (int64_t)handle->body.file_offset : (int64_t)ftello(file);
	return offset < 0 ? 0
	                  : hash_number(content_key_of_file(&status, offset),
	                                (uint64_t)program_body_announced_bytes(&handle->program));
}

/* libcurl doesn't ask for more than the size that the program gave, so that the callback has no chance to say it ended.
 */
static bool is_copied_whole(const struct handle *handle)
{
	const struct body *body = &handle->body;
	return !body->copy_lost &&
	       (body->ended || (int64_t)body->copy_bytes == program_body_announced_bytes(&handle->program));
}

/* Between the requests of one attempt libcurl rewinds by itself: then what was read is more than one body. */
static uint64_t key_of_callback(const struct handle *handle, enum body_sent sent)
{
	const struct body *body = &handle->body;
	if (!sent)
		return body->preview_key;
	if (!handle->lent.read)
		return 0;
	if (program_body_is_rewound(handle))
		return sent == BODY_SENT_ONCE ? program_body_key(handle) : 0;
	return is_copied_whole(handle) ? content_key_of_memory(body->copy, (int64_t)body->copy_bytes) : 0;
}

static bool is_file(const struct curl_httppost *part)
{
	return (part->flags & (CURL_HTTPPOST_FILENAME | CURL_HTTPPOST_READFILE)) != 0;
}

static uint64_t key_of_named_file(const char *path)
{
	struct stat status;
	return path && stat(path, &status) == 0 && S_ISREG(status.st_mode) ? content_key_of_file(&status, 0) : 0;
}

static int64_t text_bytes(long length_bytes)
{
	return length_bytes > 0 ? length_bytes : -1;
}

static uint64_t key_of_content(const struct curl_httppost *part)
{
	int64_t large_bytes = part->flags & CURL_HTTPPOST_LARGE ? (int64_t)part->contentlen : 0;
	if (part->flags & CURL_HTTPPOST_CALLBACK)
		return 0;
	if (is_file(part))
		return key_of_named_file(part->contents);
	if (part->flags & (CURL_HTTPPOST_BUFFER | CURL_HTTPPOST_PTRBUFFER))
		return part->buffer ? content_key_of_memory(part->buffer, part->bufferlength) : 0;
	if (!part->contents)
		return 1;
	return content_key_of_memory(part->contents, large_bytes > 0 ? large_bytes : text_bytes(part->contentslength));
}

static uint64_t add_part(uint64_t hash, const struct curl_httppost *part)
{
	if (part->name)
		hash = hash_number(hash, content_key_of_memory(part->name, text_bytes(part->namelength)));
	hash = hash_text(hash, part->contenttype);
	hash = hash_text(hash, part->showfilename);
	for (const struct curl_slist *header = part->contentheader; header; header = header->next)
		hash = hash_text(hash, header->data);
	return hash;
}

static uint64_t key_of_form(const struct curl_httppost *form)
{
	uint64_t hash = HASH_BASIS;
	for (; form; form = form->next) {
		for (const struct curl_httppost *part = form; part; part = part->more) {
			uint64_t key = key_of_content(part);
			if (key == 0)
				return 0;
			hash = hash_number(add_part(hash, part), key);
		}
	}
	return hash ? hash : 1;
}

uint64_t body_key(const struct handle *handle, enum body_sent sent)
{
	const struct program_options *program = &handle->program;
	switch (handle_body_source(handle)) {
	case BODY_NONE:
		return 1;
	case BODY_POSTFIELDS:
		return program->post_fields ? content_key_of_memory(program->post_fields, program->post_bytes)
		                            : program->post_fields_hash;
	case BODY_READ:
		return program->read_function ? key_of_callback(handle, sent) : key_of_stream_file(handle, sent);
	case BODY_FORM:
		return key_of_form(program->form);
	case BODY_MIME:
		return mime_key(program->mime, sent == BODY_SENT_ONCE);
	case BODY_UNKNOWN:
		break;
	}
	return 0;
}
