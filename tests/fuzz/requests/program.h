/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_FUZZ_PROGRAM_H
#define TENACURL_FUZZ_PROGRAM_H

/* The program of one history: a handle, what it was given, and what its callbacks see. */

#define CURL_DISABLE_DEPRECATION /* old options are what old programs use */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdio.h>

#include "fuzz.h"

/* `--show` tells what was set before each operation. */
void trace_option(int option, uintptr_t value);
#undef curl_easy_setopt
#define curl_easy_setopt(curl, option, value)                                                                          \
	__extension__({                                                                                                \
		__auto_type given_value = (value);                                                                     \
		trace_option((int)(option), (uintptr_t)given_value);                                                   \
		(curl_easy_setopt)(curl, option, given_value);                                                         \
	})

#define THINGS_MAX 64 /* that live until the history ends */
#define SEEN_BYTES 512

struct random {
	uint64_t state;
};

uint64_t draw(struct random *random);
/* 0 … count - 1 */
int pick(struct random *random, int count);
bool chance(struct random *random, int percent);
char pick_letter(struct random *random, const char *letters);

/* A part of an endless stream, which libcurl is given as a body: the next one begins where reading ended. */
struct stream {
	int64_t begin, end, position;
	bool seek_fails;
	size_t piece_bytes;
	struct program *program; /* whose body it is; NULL: a part's */
};

size_t stream_read(char *out, size_t size, size_t count, void *data);
int stream_seek(void *data, curl_off_t offset, int origin);
curlioerr stream_ioctl(CURL *curl, int command, void *data);

/* What a callback does once in an operation. */
enum trick {
	TRICK_NONE,
	TRICK_STOP_FOLLOWING,
	TRICK_NEXT_URL,
	TRICK_NEXT_POSTFIELDS,
	TRICK_NEXT_VERB,
	TRICK_GET,
	TRICK_HEADERS,
	TRICK_ABORT,
	TRICK_COUNT,
};
enum place { PLACE_HEADER, PLACE_WRITE, PLACE_READ, PLACE_PROGRESS, PLACE_COUNT };

struct program {
	struct random random;
	CURL *curl;
	CURL *sources[THINGS_MAX]; /* of duplicates */
	int source_count;
	struct stream stream;
	struct stream parts[THINGS_MAX]; /* streams of forms */
	int part_count;
	FILE *file;
	bool reads_file, stream_in_form;
	int64_t size_bytes; /* of the stream's next part; -1 announced: not at all */
	bool sized;
	bool copied; /* COPYPOSTFIELDS: a larger POSTFIELDSIZE would read beyond libcurl's copy */
	struct curl_slist *headers[THINGS_MAX];
	int header_count;
	curl_mime *mimes[THINGS_MAX];
	int mime_count;
	struct curl_httppost *forms[THINGS_MAX];
	int form_count;

	int operation;
	enum trick trick, planned_trick;
	enum place trick_place;
	char url[128], next_url[160];
	char seen_body[SEEN_BYTES], seen_headers[SEEN_BYTES];
	size_t body_bytes, header_bytes;
};

/* What a callback at this place does now (history.c). Returns false if the transfer is to be aborted. */
bool play_trick(struct program *program, enum place place);

/* Bodies (bodies.c). */
const char *bodies_memory(int64_t bytes);
void bodies_postfields(struct program *program);
void bodies_copypostfields(struct program *program);
void bodies_form(struct program *program);
void bodies_mime(struct program *program);
void bodies_file_of_form(const char *path);

#endif
