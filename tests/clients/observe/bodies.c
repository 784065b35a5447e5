/* SPDX-License-Identifier: MIT */

/* Where the body of the request comes from. */

#include <stdlib.h>
#include <string.h>

#include "tests/clients/observe/observe.h"

#define BODY_BYTES        3000
#define LARGE_BODY_BYTES  70000 /* more than the policy lets tenacurl copy */
#define CHUNK_BYTES       1000
#define FILE_OFFSET_BYTES 7 /* where the program's FILE* stands */

static void fill(char *bytes, size_t from, size_t count_bytes)
{
	for (size_t i = 0; i < count_bytes; i++)
		bytes[i] = (char)('a' + (from + i) % 26);
}

static size_t on_read(char *bytes, size_t size, size_t count, void *data)
{
	struct transfer *transfer = data;
	size_t left_bytes = transfer->upload_bytes - transfer->upload_position;
	size_t count_bytes = size * count < left_bytes ? size * count : left_bytes;
	if (count_bytes > CHUNK_BYTES)
		count_bytes = CHUNK_BYTES;
	fill(bytes, transfer->upload_position, count_bytes);
	transfer->upload_position += count_bytes;
	if (count_bytes > 0)
		stream_add_bytes(&transfer->streams[UPLOAD], "read", bytes, count_bytes);
	return count_bytes;
}

static int on_seek(void *data, curl_off_t offset, int origin)
{
	struct transfer *transfer = data;
	char text[64];
	snprintf(text, sizeof(text), "seek %" CURL_FORMAT_CURL_OFF_T " %d", offset, origin);
	stream_add_mark(&transfer->streams[UPLOAD], text);
	transfer->upload_position = (size_t)offset;
	return CURL_SEEKFUNC_OK;
}

static bool is_method(const struct transfer *transfer, const char *method)
{
	return strcmp(transfer->method, method) == 0;
}

static void set_length(struct transfer *transfer, long count_bytes)
{
	CURL *curl = transfer->curl;
	curl_easy_setopt(curl, is_method(transfer, "POST") ? CURLOPT_POST : CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(curl, is_method(transfer, "POST") ? CURLOPT_POSTFIELDSIZE : CURLOPT_INFILESIZE, count_bytes);
}

static void set_no_body(struct transfer *transfer)
{
	if (is_method(transfer, "HEAD"))
		curl_easy_setopt(transfer->curl, CURLOPT_NOBODY, 1L);
	if (is_method(transfer, "POST")) {
		curl_easy_setopt(transfer->curl, CURLOPT_POSTFIELDSIZE, 0L);
		curl_easy_setopt(transfer->curl, CURLOPT_POSTFIELDS, "");
	}
}

static void set_memory(struct transfer *transfer, CURLoption option)
{
	transfer->memory = malloc(BODY_BYTES);
	fill(transfer->memory, 0, BODY_BYTES);
	curl_easy_setopt(transfer->curl, CURLOPT_POSTFIELDSIZE, (long)BODY_BYTES);
	curl_easy_setopt(transfer->curl, option, transfer->memory);
}

static void set_fields(struct transfer *transfer)
{
	set_memory(transfer, CURLOPT_POSTFIELDS);
}

static void set_copied_fields(struct transfer *transfer)
{
	set_memory(transfer, CURLOPT_COPYPOSTFIELDS);
	memset(transfer->memory, '-', BODY_BYTES);
}

static void set_read(struct transfer *transfer)
{
	transfer->upload_bytes = BODY_BYTES;
	curl_easy_setopt(transfer->curl, CURLOPT_READFUNCTION, on_read);
	curl_easy_setopt(transfer->curl, CURLOPT_READDATA, transfer);
	set_length(transfer, BODY_BYTES);
}

static void set_large_read(struct transfer *transfer)
{
	set_read(transfer);
	transfer->upload_bytes = LARGE_BODY_BYTES;
	set_length(transfer, LARGE_BODY_BYTES);
}

static void set_seekable_read(struct transfer *transfer)
{
	set_read(transfer);
	curl_easy_setopt(transfer->curl, CURLOPT_SEEKFUNCTION, on_seek);
	curl_easy_setopt(transfer->curl, CURLOPT_SEEKDATA, transfer);
}

static void set_unknown_length(struct transfer *transfer)
{
	set_length(transfer, -1);
	transfer->headers = curl_slist_append(transfer->headers, "Transfer-Encoding: chunked");
	curl_easy_setopt(transfer->curl, CURLOPT_HTTPHEADER, transfer->headers);
}

static void set_chunked_read(struct transfer *transfer)
{
	set_read(transfer);
	set_unknown_length(transfer);
}

static void set_chunked_seekable_read(struct transfer *transfer)
{
	set_seekable_read(transfer);
	set_unknown_length(transfer);
}

static void set_file(struct transfer *transfer)
{
	transfer->file = fopen(transfer->file_path, "rb");
	fseek(transfer->file, 0, SEEK_END);
	long size_bytes = ftell(transfer->file);
	curl_easy_setopt(transfer->curl, CURLOPT_READDATA, transfer->file);
	set_length(transfer, size_bytes - FILE_OFFSET_BYTES);
}

static curl_mimepart *add_mime_part(struct transfer *transfer)
{
	transfer->mime = curl_mime_init(transfer->curl);
	curl_mimepart *part = curl_mime_addpart(transfer->mime);
	curl_mime_name(part, "field");
	return part;
}

static void set_mime_data(struct transfer *transfer)
{
	curl_mime_data(add_mime_part(transfer), "the data of a mime part", CURL_ZERO_TERMINATED);
	curl_easy_setopt(transfer->curl, CURLOPT_MIMEPOST, transfer->mime);
}

static void set_mime_file(struct transfer *transfer)
{
	curl_mime_filedata(add_mime_part(transfer), transfer->file_path);
	curl_easy_setopt(transfer->curl, CURLOPT_MIMEPOST, transfer->mime);
}

static void set_form(struct transfer *transfer)
{
	struct curl_httppost *last = NULL;
	curl_formadd(&transfer->form, &last, CURLFORM_COPYNAME, "field", CURLFORM_COPYCONTENTS, "content",
	             CURLFORM_END);
	curl_formadd(&transfer->form, &last, CURLFORM_COPYNAME, "file", CURLFORM_FILE, transfer->file_path,
	             CURLFORM_END);
	curl_easy_setopt(transfer->curl, CURLOPT_HTTPPOST, transfer->form);
}

static const struct {
	const char *name, *natural_method;
	void (*set)(struct transfer *transfer);
} bodies[] = {
    {"none", NULL, set_no_body},
    {"postfields", "POST", set_fields},
    {"copypostfields", "POST", set_copied_fields},
    {"read-seek", "PUT", set_seekable_read},
    {"read", "PUT", set_read},
    {"read-large", "PUT", set_large_read},
    {"file", "PUT", set_file},
    {"mime-data", "POST", set_mime_data},
    {"mime-file", "POST", set_mime_file},
    {"form", "POST", set_form},
    {"chunked-seek", "PUT", set_chunked_seekable_read},
    {"chunked", "PUT", set_chunked_read},
};

bool set_request(struct transfer *transfer)
{
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		if (strcmp(bodies[i].name, transfer->body) != 0)
			continue;
		bodies[i].set(transfer);
		const char *natural = bodies[i].natural_method;
		bool is_natural = is_method(transfer, "POST") || (!natural && is_method(transfer, "GET")) ||
		                  (!natural && is_method(transfer, "HEAD")) ||
		                  (natural && is_method(transfer, natural));
		if (!is_natural)
			curl_easy_setopt(transfer->curl, CURLOPT_CUSTOMREQUEST, transfer->method);
		return true;
	}
	return false;
}

void rewind_upload(struct transfer *transfer)
{
	transfer->upload_position = 0;
	if (transfer->file)
		fseek(transfer->file, FILE_OFFSET_BYTES, SEEK_SET);
}
