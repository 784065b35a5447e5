/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_TESTS_OBSERVE_H
#define TENACURL_TESTS_OBSERVE_H

/* The parts of the observing client: what it keeps of a transfer, its callbacks, its bodies. */

#define CURL_DISABLE_DEPRECATION /* old options are what old programs use */
#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>

enum stream_name { DELIVERY, SENT, RECEIVED, UPLOAD, STREAM_COUNT };

/* A sequence of events; bytes of the same kind are collected until another kind comes. */
struct stream {
	FILE *text;
	char *text_begin;
	size_t text_bytes;
	const char *kind;
	FILE *pending;
	char *pending_begin;
	size_t pending_bytes;
};

struct transfer {
	CURL *curl;
	char error_text[CURL_ERROR_SIZE];
	struct stream streams[STREAM_COUNT];
	char progress_text[128];
	const char *method, *body, *file_path, *again_url, *multi_url, *pause;
	struct curl_slist *headers;
	curl_mime *mime;
	struct curl_httppost *form;
	FILE *file;
	char *memory;
	size_t upload_bytes, upload_position;
	bool paused, was_paused;
};

/* Bytes of this kind, joined with those before. */
void stream_add_bytes(struct stream *stream, const char *kind, const char *bytes, size_t count_bytes);

/* Bytes that came as one call and stay one event. */
void stream_add_call(struct stream *stream, const char *kind, const char *bytes, size_t count_bytes);

/* An event without bytes. */
void stream_add_mark(struct stream *stream, const char *mark);

void streams_open(struct stream streams[STREAM_COUNT]);
void streams_print(struct stream streams[STREAM_COUNT]);

/* Sets the write and header callbacks by name: function, data-only, none. */
void set_delivery(struct transfer *transfer, const char *delivery);

/* Sets the debug and progress callbacks. */
void set_watchers(struct transfer *transfer);

/* Sets method and body as described by the transfer. Returns false if there is no such body. */
bool set_request(struct transfer *transfer);

/* Puts the body back to its beginning, as a program does that uses a handle again. */
void rewind_upload(struct transfer *transfer);

#endif
