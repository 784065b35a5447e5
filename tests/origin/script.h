/* SPDX-License-Identifier: MIT */
#ifndef ORIGIN_SCRIPT_H
#define ORIGIN_SCRIPT_H

/*
 * The script: what to answer, step by step. tests/origin/README.md describes the JSON that it is read from.
 */

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum step_read {
	STEP_READ_FULL,    /* the whole request, then act */
	STEP_READ_HEADERS, /* act when the request's header block is there */
	STEP_READ_NONE,    /* act when the first byte is there, without reading it */
	STEP_READ_ACCEPT   /* act at once on a fresh connection */
};
enum step_framing {
	STEP_FRAMING_AUTO,
	STEP_FRAMING_LENGTH,
	STEP_FRAMING_CHUNKED,
	STEP_FRAMING_CLOSE,
	STEP_FRAMING_NONE
};
enum step_end { STEP_END_AUTO, STEP_END_KEEP, STEP_END_CLOSE, STEP_END_RESET, STEP_END_SILENCE };
enum step_fault { STEP_FAULT_NONE, STEP_FAULT_FIN, STEP_FAULT_RESET, STEP_FAULT_SILENCE };

#define STEP_UNSET (-1) /* a number that the script doesn't give */

/* Bytes that the script owns. */
struct step_bytes {
	const char *data; /* NULL: not given */
	size_t bytes;
};

struct step_header {
	const char *name;
	struct step_bytes value;
};

struct step_headers {
	struct step_header *items;
	size_t count;
};

struct step_informational {
	int64_t status;
	const char *reason;
	struct step_headers headers;
};

struct step {
	int64_t status;
	const char *reason; /* NULL: the usual one */
	struct step_headers headers;
	struct step_bytes body;
	int64_t body_bytes;     /* length of a generated body; STEP_UNSET: none */
	int64_t declared_bytes; /* Content-Length if not the body's length */
	int64_t send_bytes;     /* stop after so many bytes of the body */
	int framing;            /* enum step_framing */
	struct step_informational *informational;
	size_t informational_count;
	struct step_headers trailers;
	int64_t delay_ms;      /* before the first byte of the answer */
	int64_t body_delay_ms; /* between header block and body */
	int64_t drip_bytes;    /* piece size; STEP_UNSET: no dripping */
	int64_t drip_every_ms;
	int read; /* enum step_read */
	bool expect_continue;
	int end;   /* enum step_end */
	int fault; /* enum step_fault */
	struct step_bytes raw;
	int64_t header_cut;
	bool echo;
	bool tunnel;
	int64_t refuse_for_ms; /* after this step the listener refuses for so long; STEP_UNSET: it doesn't */

	int64_t uses_left; /* STEP_UNSET: for ever */
	size_t index;      /* in its list, from 0 */
};

struct step_list {
	const char *path; /* NULL: the list for all other paths */
	struct step *steps;
	size_t count;
	size_t next;
};

struct script {
	json_t *root;            /* owns all texts */
	struct step_list *lists; /* lists[0] has no path */
	size_t list_count;
	int64_t refuse_for_ms; /* from the start; STEP_UNSET: listens at once */
	pthread_mutex_t lock;  /* of every `next` and `uses_left` */
};

/*
 * Reads the script at `path`. Returns false with a line in `error` if it can't be read, isn't JSON or has a field that
 * no step knows. On success the caller ends it with script_free().
 */
bool script_load(struct script *script, const char *path, char *error, size_t error_bytes);

void script_free(struct script *script);

/*
 * Takes the next step for `path` (as in the request target, without query; "CONNECT" for CONNECT requests), of a list
 * for the method alone if there is one. Returns NULL when the list is used up. The step stays the script's; any thread.
 */
const struct step *script_take(struct script *script, const char *method, const char *path);

/* Takes the next step of the list without path if it wants to act at this early point (`read`), else NULL. */
const struct step *script_take_early(struct script *script, enum step_read read);

#endif
