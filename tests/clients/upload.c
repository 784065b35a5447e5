/* SPDX-License-Identifier: MIT */

/*
 * One upload from a described source: upload URL SOURCE [option=value …]
 *
 * Prints the calls of the program's own callbacks (joined: how libcurl cuts them is its business), the result and the
 * status, and what a second transfer on the same handle does with the read callback that the program set.
 */

#define CURL_DISABLE_DEPRECATION /* old options are what old programs use */
#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct upload {
	CURL *curl;
	long size_bytes;     /* of the body */
	bool announces_size; /* else chunked */
	bool posts;          /* else PUT */
	bool seek_fails;
	long offset_bytes; /* where the FILE* stands at entry */
	long position;
	long seek_at_send; /* from this request on it has a seek callback */
	long read_calls, read_bytes, seeks, ioctls, trailer_calls, sends;
	struct curl_slist *headers;
	curl_mime *mime;
	curl_mime *inner;
	struct curl_httppost *form;
	FILE *file;
	char path[64];
};

static char byte_at(long position)
{
	return (char)('a' + position % 26);
}

static size_t on_read(char *out, size_t size, size_t count, void *data)
{
	struct upload *upload = data;
	size_t room_bytes = size * count, given = 0;
	while (given < room_bytes && given < 700 && upload->position < upload->size_bytes)
		out[given++] = byte_at(upload->position++);
	upload->read_calls++;
	upload->read_bytes += (long)given;
	return given;
}

static int on_seek(void *data, curl_off_t offset, int origin)
{
	struct upload *upload = data;
	upload->seeks++;
	if (upload->seek_fails || origin != SEEK_SET)
		return CURL_SEEKFUNC_CANTSEEK;
	upload->position = (long)offset;
	return CURL_SEEKFUNC_OK;
}

static int on_debug(CURL *curl, curl_infotype type, char *text, size_t bytes, void *data)
{
	struct upload *upload = data;
	(void)text;
	(void)bytes;
	if (type == CURLINFO_HEADER_OUT && ++upload->sends == upload->seek_at_send)
		curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, on_seek);
	return 0;
}

static curlioerr on_ioctl(CURL *curl, int command, void *data)
{
	struct upload *upload = data;
	(void)curl;
	upload->ioctls++;
	if (command != CURLIOCMD_RESTARTREAD)
		return CURLIOE_UNKNOWNCMD;
	upload->position = 0;
	return CURLIOE_OK;
}

static int on_trailer(struct curl_slist **trailers, void *data)
{
	struct upload *upload = data;
	upload->trailer_calls++;
	*trailers = curl_slist_append(*trailers, "X-Digest: abc");
	return CURL_TRAILERFUNC_OK;
}

static size_t on_write(char *bytes, size_t size, size_t count, void *data)
{
	(void)data;
	printf("body %.*s\n", (int)(size * count), bytes);
	return size * count;
}

static void set_size(struct upload *upload)
{
	curl_off_t size_bytes = upload->announces_size ? upload->size_bytes : -1;
	if (upload->posts) {
		curl_easy_setopt(upload->curl, CURLOPT_POST, 1L);
		curl_easy_setopt(upload->curl, CURLOPT_POSTFIELDSIZE_LARGE, size_bytes);
	} else {
		curl_easy_setopt(upload->curl, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(upload->curl, CURLOPT_INFILESIZE_LARGE, size_bytes);
	}
}

static void use_callback(struct upload *upload)
{
	curl_easy_setopt(upload->curl, CURLOPT_READFUNCTION, on_read);
	curl_easy_setopt(upload->curl, CURLOPT_READDATA, upload);
	set_size(upload);
}

static void use_seek(struct upload *upload)
{
	use_callback(upload);
	curl_easy_setopt(upload->curl, CURLOPT_SEEKFUNCTION, on_seek);
	curl_easy_setopt(upload->curl, CURLOPT_SEEKDATA, upload);
}

static void use_failing_seek(struct upload *upload)
{
	upload->seek_fails = true;
	use_seek(upload);
}

static void use_ioctl(struct upload *upload)
{
	use_callback(upload);
	curl_easy_setopt(upload->curl, CURLOPT_IOCTLFUNCTION, on_ioctl);
	curl_easy_setopt(upload->curl, CURLOPT_IOCTLDATA, upload);
}

static void write_file(struct upload *upload, FILE *file)
{
	for (long i = 0; i < upload->offset_bytes; i++)
		fputc('#', file);
	for (long i = 0; i < upload->size_bytes; i++)
		fputc(byte_at(i), file);
	fflush(file);
}

static void use_trailers(struct upload *upload)
{
	upload->headers = curl_slist_append(NULL, "Trailer: X-Digest");
	curl_easy_setopt(upload->curl, CURLOPT_HTTPHEADER, upload->headers);
	curl_easy_setopt(upload->curl, CURLOPT_TRAILERFUNCTION, on_trailer);
	curl_easy_setopt(upload->curl, CURLOPT_TRAILERDATA, upload);
	upload->announces_size = false;
	use_callback(upload);
}

static void use_file(struct upload *upload)
{
	upload->file = tmpfile();
	write_file(upload, upload->file);
	fseek(upload->file, upload->offset_bytes, SEEK_SET);
	curl_easy_setopt(upload->curl, CURLOPT_READDATA, upload->file);
	set_size(upload);
}

static void use_pipe(struct upload *upload)
{
	int ends[2];
	if (pipe(ends) != 0)
		exit(99);
	FILE *in = fdopen(ends[1], "w");
	write_file(upload, in); /* small enough for the pipe's buffer */
	fclose(in);
	upload->file = fdopen(ends[0], "r");
	curl_easy_setopt(upload->curl, CURLOPT_READDATA, upload->file);
	set_size(upload);
}

static void use_mime(struct upload *upload)
{
	upload->mime = curl_mime_init(upload->curl);
	curl_mimepart *part = curl_mime_addpart(upload->mime);
	curl_mime_name(part, "plain");
	curl_mime_data(part, "value", CURL_ZERO_TERMINATED);
	curl_easy_setopt(upload->curl, CURLOPT_MIMEPOST, upload->mime);
	curl_easy_setopt(upload->curl, CURLOPT_CUSTOMREQUEST, upload->posts ? "POST" : "PUT");
}

static void add_callback_part(struct upload *upload, curl_mime *mime, curl_seek_callback seek)
{
	curl_mimepart *part = curl_mime_addpart(mime);
	curl_mime_name(part, "callback");
	curl_mime_data_cb(part, upload->size_bytes, on_read, seek, NULL, upload);
}

static void use_mime_callback(struct upload *upload)
{
	use_mime(upload);
	add_callback_part(upload, upload->mime, NULL);
}

static void use_mime_seek(struct upload *upload)
{
	use_mime(upload);
	add_callback_part(upload, upload->mime, on_seek);
}

static void use_mime_failing_seek(struct upload *upload)
{
	upload->seek_fails = true;
	use_mime_seek(upload);
}

static void use_nested_mime(struct upload *upload)
{
	use_mime(upload);
	upload->inner = curl_mime_init(upload->curl);
	add_callback_part(upload, upload->inner, NULL);
	curl_mime_subparts(curl_mime_addpart(upload->mime), upload->inner);
}

static void make_path(struct upload *upload)
{
	strcpy(upload->path, "upload-XXXXXX");
	int fd = mkstemp(upload->path);
	FILE *file = fdopen(fd, "w");
	write_file(upload, file);
	fclose(file);
}

static void use_mime_file(struct upload *upload)
{
	make_path(upload);
	use_mime(upload);
	curl_mimepart *part = curl_mime_addpart(upload->mime);
	curl_mime_name(part, "file");
	curl_mime_filedata(part, upload->path);
}

static void use_mime_pipe(struct upload *upload)
{
	char path[32];
	int ends[2];
	if (pipe(ends) != 0)
		exit(99);
	FILE *in = fdopen(ends[1], "w");
	write_file(upload, in);
	fclose(in);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	use_mime(upload);
	curl_mimepart *part = curl_mime_addpart(upload->mime);
	curl_mime_name(part, "pipe");
	curl_mime_filedata(part, path);
}

static void use_form(struct upload *upload)
{
	struct curl_httppost *last = NULL;
	make_path(upload);
	curl_formadd(&upload->form, &last, CURLFORM_COPYNAME, "plain", CURLFORM_COPYCONTENTS, "value", CURLFORM_END);
	curl_formadd(&upload->form, &last, CURLFORM_COPYNAME, "file", CURLFORM_FILE, upload->path, CURLFORM_END);
	curl_easy_setopt(upload->curl, CURLOPT_HTTPPOST, upload->form);
	curl_easy_setopt(upload->curl, CURLOPT_CUSTOMREQUEST, upload->posts ? "POST" : "PUT");
}

static void use_form_stream(struct upload *upload)
{
	struct curl_httppost *last = NULL;
	curl_formadd(&upload->form, &last, CURLFORM_COPYNAME, "stream", CURLFORM_STREAM, upload, CURLFORM_CONTENTLEN,
	             (curl_off_t)upload->size_bytes, CURLFORM_FILENAME, "x", CURLFORM_END);
	curl_easy_setopt(upload->curl, CURLOPT_READFUNCTION, on_read);
	curl_easy_setopt(upload->curl, CURLOPT_HTTPPOST, upload->form);
	curl_easy_setopt(upload->curl, CURLOPT_CUSTOMREQUEST, upload->posts ? "POST" : "PUT");
}

static const struct {
	const char *name;
	void (*use)(struct upload *upload);
} sources[] = {
    {"callback", use_callback},
    {"seek", use_seek},
    {"failing-seek", use_failing_seek},
    {"ioctl", use_ioctl},
    {"trailers", use_trailers},
    {"file", use_file},
    {"pipe", use_pipe},
    {"mime", use_mime},
    {"mime-callback", use_mime_callback},
    {"mime-seek", use_mime_seek},
    {"mime-failing-seek", use_mime_failing_seek},
    {"mime-nested-callback", use_nested_mime},
    {"mime-file", use_mime_file},
    {"mime-pipe", use_mime_pipe},
    {"form", use_form},
    {"form-stream", use_form_stream},
};

static void await_send(struct upload *upload, long send)
{
	upload->seek_at_send = send;
	curl_easy_setopt(upload->curl, CURLOPT_VERBOSE, 1L);
	curl_easy_setopt(upload->curl, CURLOPT_DEBUGFUNCTION, on_debug);
	curl_easy_setopt(upload->curl, CURLOPT_DEBUGDATA, upload);
	curl_easy_setopt(upload->curl, CURLOPT_SEEKDATA, upload);
}

static void set_option(struct upload *upload, const char *argument)
{
	long value = strtol(strchr(argument, '=') + 1, NULL, 10);
	if (strncmp(argument, "size=", 5) == 0)
		upload->size_bytes = value;
	else if (strncmp(argument, "offset=", 7) == 0)
		upload->offset_bytes = value;
	else if (strncmp(argument, "chunked=", 8) == 0)
		upload->announces_size = !value;
	else if (strncmp(argument, "post=", 5) == 0)
		upload->posts = value;
	else if (strncmp(argument, "follow=", 7) == 0)
		curl_easy_setopt(upload->curl, CURLOPT_FOLLOWLOCATION, value);
	else if (strncmp(argument, "seek_at_send=", 13) == 0)
		await_send(upload, value);
	else if (strncmp(argument, "timeout_ms=", 11) == 0)
		curl_easy_setopt(upload->curl, CURLOPT_TIMEOUT_MS, value);
	else
		exit(99);
}

static void perform(struct upload *upload)
{
	char error_text[CURL_ERROR_SIZE] = "";
	long status = 0;
	curl_easy_setopt(upload->curl, CURLOPT_ERRORBUFFER, error_text);
	CURLcode result = curl_easy_perform(upload->curl);
	curl_easy_getinfo(upload->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_setopt(upload->curl, CURLOPT_ERRORBUFFER, NULL);
	printf("result %d %ld\n", result, status);
	printf("read %s %ld\n", upload->read_calls ? "yes" : "no", upload->read_bytes);
	printf("trailers %ld\n", upload->trailer_calls);
	printf("seeks %s\n", upload->seeks + upload->ioctls ? "yes" : "no");
}

static void release(struct upload *upload)
{
	curl_easy_cleanup(upload->curl);
	if (upload->mime)
		curl_mime_free(upload->mime);
	curl_formfree(upload->form);
	curl_slist_free_all(upload->headers);
	if (upload->file)
		fclose(upload->file);
	if (upload->path[0])
		unlink(upload->path);
}

int main(int argc, char **argv)
{
	static struct upload upload = {.size_bytes = 2000, .announces_size = true};
	if (argc < 3)
		return 99;
	curl_global_init(CURL_GLOBAL_ALL);
	upload.curl = curl_easy_init();
	curl_easy_setopt(upload.curl, CURLOPT_URL, argv[1]);
	curl_easy_setopt(upload.curl, CURLOPT_WRITEFUNCTION, on_write);
	for (int i = 3; i < argc; i++)
		set_option(&upload, argv[i]);
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (strcmp(sources[i].name, argv[2]) == 0)
			sources[i].use(&upload);
	perform(&upload);
	release(&upload);
	return 0;
}
