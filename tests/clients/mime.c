/* SPDX-License-Identifier: MIT */

/*
 * MIME bodies whose parts change owners and contents: mime URL SCENARIO
 *
 * Prints what a transfer with the body that the scenario leaves came to, and how often streams were asked to go back.
 * Streams are like PHP's CURLFile: opened when first read, and not to be sought before.
 */

#define CURL_DISABLE_DEPRECATION /* old options are what old programs use */
#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY_PARTS 60000

struct stream {
	const char *text;
	size_t position;
	bool open, released;
	int seeks;
};

static struct stream first = {.text = "first stream"}, second = {.text = "second stream"};

static size_t on_read(char *out, size_t size, size_t count, void *data)
{
	struct stream *stream = data;
	size_t left = strlen(stream->text) - stream->position;
	size_t given = left < size * count ? left : size * count;
	memcpy(out, stream->text + stream->position, given);
	stream->position += given;
	stream->open = true;
	return given;
}

static int on_seek(void *data, curl_off_t offset, int origin)
{
	struct stream *stream = data;
	stream->seeks++;
	if (stream->released)
		abort(); /* it is none of libcurl's any more */
	if (!stream->open || origin != SEEK_SET)
		return CURL_SEEKFUNC_CANTSEEK;
	stream->position = (size_t)offset;
	return CURL_SEEKFUNC_OK;
}

static void on_release(void *data)
{
	struct stream *stream = data;
	stream->released = true;
}

static size_t on_write(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	return size * count;
}

static void set_stream(curl_mimepart *part, struct stream *stream)
{
	curl_mime_data_cb(part, (curl_off_t)strlen(stream->text), on_read, on_seek, on_release, stream);
}

static curl_mimepart *add(curl_mime *mime, const char *name)
{
	curl_mimepart *part = curl_mime_addpart(mime);
	curl_mime_name(part, name);
	return part;
}

static curl_mime *with_stream(CURL *curl, struct stream *stream)
{
	curl_mime *mime = curl_mime_init(curl);
	set_stream(add(mime, "stream"), stream);
	return mime;
}

static curl_mime *with_text(CURL *curl)
{
	curl_mime *mime = curl_mime_init(curl);
	curl_mime_data(add(mime, "text"), "plain text", CURL_ZERO_TERMINATED);
	return mime;
}

static CURL *use(CURL *curl, curl_mime *mime)
{
	curl_easy_setopt(curl, CURLOPT_MIMEPOST, mime);
	return curl;
}

/* Each scenario returns the handle to perform on. */

static CURL *stream(CURL *curl)
{
	return use(curl, with_stream(curl, &first));
}

static CURL *stream_became_text(CURL *curl)
{
	curl_mime *mime = curl_mime_init(curl);
	curl_mimepart *part = add(mime, "part");
	set_stream(part, &first);
	curl_mime_data(part, "plain text", CURL_ZERO_TERMINATED);
	return use(curl, mime);
}

static CURL *stream_became_nothing(CURL *curl)
{
	curl_mime *mime = with_text(curl);
	curl_mimepart *part = add(mime, "part");
	set_stream(part, &first);
	curl_mime_data(part, NULL, 0);
	return use(curl, mime);
}

static CURL *stream_became_a_file(CURL *curl)
{
	curl_mime *mime = curl_mime_init(curl);
	curl_mimepart *part = add(mime, "part");
	set_stream(part, &first);
	curl_mime_filedata(part, "/etc/passwd");
	return use(curl, mime);
}

static CURL *stream_became_another(CURL *curl)
{
	curl_mime *mime = curl_mime_init(curl);
	curl_mimepart *part = add(mime, "part");
	set_stream(part, &first);
	set_stream(part, &second);
	return use(curl, mime);
}

static CURL *inner_was_taken_out(CURL *curl)
{
	curl_mime *mime = with_text(curl);
	curl_mimepart *part = add(mime, "part");
	curl_mime_subparts(part, with_stream(curl, &first));
	curl_mime_subparts(part, NULL);
	return use(curl, mime);
}

static CURL *inner_was_replaced(CURL *curl)
{
	curl_mime *mime = with_text(curl);
	curl_mimepart *part = add(mime, "part");
	curl_mime_subparts(part, with_stream(curl, &first));
	curl_mime_data(part, "plain text", CURL_ZERO_TERMINATED);
	return use(curl, mime);
}

static CURL *inner_was_freed(CURL *curl)
{
	curl_mime *mime = with_text(curl);
	curl_mime *inner = with_stream(curl, &first);
	curl_mime_subparts(add(mime, "part"), inner);
	curl_mime_free(inner);
	return use(curl, mime);
}

static CURL *inner_has_a_stream(CURL *curl)
{
	curl_mime *mime = with_text(curl);
	curl_mime *middle = with_text(curl);
	curl_mime_subparts(add(middle, "inner"), with_stream(curl, &first));
	curl_mime_subparts(add(mime, "middle"), middle);
	return use(curl, mime);
}

static CURL *mime_was_freed(CURL *curl)
{
	curl_mime *mime = with_stream(curl, &first);
	use(curl, mime);
	curl_mime_free(mime);
	/* Most likely at the same address; the handle's body is an empty one all the same. */
	with_stream(curl, &second);
	return curl;
}

static CURL *handle_was_reset(CURL *curl)
{
	char *url;
	use(curl, with_stream(curl, &first));
	curl_easy_getinfo(curl, CURLINFO_EFFECTIVE_URL, &url);
	char *copy = strdup(url);
	curl_easy_reset(curl);
	curl_easy_setopt(curl, CURLOPT_URL, copy);
	free(copy);
	return use(curl, with_text(curl));
}

static CURL *copied_text(CURL *curl)
{
	return curl_easy_duphandle(use(curl, with_text(curl)));
}

static CURL *copied_stream(CURL *curl)
{
	return curl_easy_duphandle(use(curl, with_stream(curl, &first)));
}

static CURL *copied_twice(CURL *curl)
{
	return curl_easy_duphandle(curl_easy_duphandle(inner_has_a_stream(curl)));
}

static CURL *copy_got_another(CURL *curl)
{
	CURL *copy = curl_easy_duphandle(use(curl, with_stream(curl, &first)));
	return use(copy, with_stream(copy, &second));
}

static CURL *copied_form(CURL *curl)
{
	struct curl_httppost *form = NULL, *last = NULL;
	curl_formadd(&form, &last, CURLFORM_COPYNAME, "text", CURLFORM_COPYCONTENTS, "plain text", CURLFORM_END);
	curl_easy_setopt(curl, CURLOPT_HTTPPOST, form);
	return curl_easy_duphandle(curl);
}

static CURL *copied_stream_form(CURL *curl)
{
	struct curl_httppost *form = NULL, *last = NULL;
	curl_formadd(&form, &last, CURLFORM_COPYNAME, "stream", CURLFORM_STREAM, &first, CURLFORM_CONTENTLEN,
	             (curl_off_t)strlen(first.text), CURLFORM_FILENAME, "x", CURLFORM_END);
	curl_easy_setopt(curl, CURLOPT_READFUNCTION, on_read);
	curl_easy_setopt(curl, CURLOPT_HTTPPOST, form);
	return curl_easy_duphandle(curl);
}

static CURL *copied_postfields(CURL *curl)
{
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "plain text");
	return curl_easy_duphandle(curl);
}

static CURL *copied_copypostfields(CURL *curl)
{
	char text[] = "plain text";
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)strlen(text));
	curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, text);
	CURL *copy = curl_easy_duphandle(curl);
	curl_easy_cleanup(curl);
	memset(text, 'x', sizeof(text) - 1);
	return copy;
}

static CURL *many_parts(CURL *curl)
{
	curl_mime *mime = curl_mime_init(curl);
	for (int i = 0; i < MANY_PARTS; i++)
		curl_mime_data(curl_mime_addpart(mime), "x", 1);
	return use(curl, mime);
}

static CURL *many_mimes(CURL *curl)
{
	for (int i = 0; i < MANY_PARTS; i++) {
		curl_mime *mime = with_text(curl);
		curl_mime_subparts(add(mime, "inner"), with_text(curl));
		curl_mime_free(mime);
	}
	return use(curl, with_text(curl));
}

static CURL *pipe_part(CURL *curl)
{
	char path[32];
	int ends[2];
	if (pipe(ends) != 0 || write(ends[1], "from a pipe", 11) != 11)
		exit(99);
	close(ends[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	curl_mime *mime = curl_mime_init(curl);
	curl_mime_filedata(add(mime, "pipe"), path);
	return use(curl, mime);
}

static CURL *pipe_upload(CURL *curl)
{
	int ends[2];
	if (pipe(ends) != 0 || write(ends[1], "from a pipe", 11) != 11)
		exit(99);
	close(ends[1]);
	curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "POST");
	curl_easy_setopt(curl, CURLOPT_READDATA, fdopen(ends[0], "r"));
	return curl;
}

static const struct {
	const char *name;
	CURL *(*make)(CURL *curl);
} scenarios[] = {
    {"stream", stream},
    {"stream-became-text", stream_became_text},
    {"stream-became-nothing", stream_became_nothing},
    {"stream-became-a-file", stream_became_a_file},
    {"stream-became-another", stream_became_another},
    {"inner-was-taken-out", inner_was_taken_out},
    {"inner-was-replaced", inner_was_replaced},
    {"inner-was-freed", inner_was_freed},
    {"inner-has-a-stream", inner_has_a_stream},
    {"mime-was-freed", mime_was_freed},
    {"handle-was-reset", handle_was_reset},
    {"copied-text", copied_text},
    {"copied-stream", copied_stream},
    {"copied-twice", copied_twice},
    {"copy-got-another", copy_got_another},
    {"copied-form", copied_form},
    {"copied-stream-form", copied_stream_form},
    {"copied-postfields", copied_postfields},
    {"copied-copypostfields", copied_copypostfields},
    {"many-parts", many_parts},
    {"many-mimes", many_mimes},
    {"pipe-part", pipe_part},
    {"pipe-upload", pipe_upload},
};

int main(int argc, char **argv)
{
	if (argc < 3)
		return 99;
	curl_global_init(CURL_GLOBAL_ALL);
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (strcmp(scenarios[i].name, argv[2]) == 0)
			curl = scenarios[i].make(curl);

	struct curl_slist *headers = argc > 3 ? curl_slist_append(NULL, argv[3]) : NULL;
	long status = 0;
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_write);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	CURLcode result = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	printf("result %d %ld seeks %d %d\n", result, status, first.seeks, second.seeks);
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	return 0;
}
