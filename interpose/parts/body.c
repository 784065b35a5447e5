/* SPDX-License-Identifier: MIT */

/*
 * Where a body comes from decides how it can be sent again:
 *
 *   memory (POSTFIELDS)        libcurl reads it again by itself
 *   form (HTTPPOST)            libcurl builds it again, unless a part is a stream
 *   mime                       libcurl rewinds it, if every part that was read can be (interpose/handle/mime.c)
 *   default read from a FILE*  sought back to where it stood when the operation began
 *   read callback with SEEKFUNCTION, or else IOCTLFUNCTION
 *                              the program rewinds it; the order is libcurl's own (lib/multi.c, readrewind)
 *   read callback without      our own copy of what it gave, up to replay_body_bytes; beyond, given up on without harm
 *
 * What is proved to be unsent was never read, and needs none of this, wherever it comes from.
 *
 * The read callback is lent so that we know whether it was called at all, and for the copy. A default read isn't lent:
 * libcurl itself seeks a FILE* only while it reads it by its own function.
 *
 * libcurl rewinds by itself too: for the next hop, or because a kept connection was dead. If it gets no connection to
 * send on, the next perform does it. It would fail with our copy, and take a FILE* to its very beginning; so in a retry
 * it asks us, until the answer begins.
 *
 * The program's stream is touched last, once nothing can forbid the retry any more: a body that was rewound for a
 * failure which is delivered after all would be sent in place of what follows it in the stream. Where the attempts
 * after that read less than the one before, the stream is put back to where that one left it. (IOCTLFUNCTION can only
 * rewind.)
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "interpose/handle/info.h"
#include "interpose/handle/mime.h"
#include "interpose/handle/program_body.h"
#include "interpose/parts/body.h"
#include "interpose/parts/lend.h"
#include "interpose/parts/progress.h"

#define FIRST_COPY_BYTES 4096
#define KEPT_COPY_BYTES  4096

#define PREVIEW_STEP_BYTES  16384 /* libcurl's smallest usual buffer for uploads */
#define PREVIEW_PROGRESS_MS 250

#define HEAD_BYTES 16384

static FILE *default_file(const struct program_options *program)
{
	return program->read_data_set ? program->read_data : stdin;
}

/*
 * Where the file can be sought back to; -1: nowhere, as in a pipe or a terminal. Nothing is sought to find out: that
 * would drop what the program pushed back.
 */
static off_t offset_of(FILE *file)
{
	int saved_errno = errno;
	off_t offset = file ? ftello(file) : -1;
	errno = saved_errno;
	return offset;
}

static bool is_form_replayable(const struct curl_httppost *form)
{
	for (; form; form = form->next) {
		for (const struct curl_httppost *part = form; part; part = part->more) {
			bool is_file = part->flags & (CURL_HTTPPOST_FILENAME | CURL_HTTPPOST_READFILE);
			/* libcurl reads standard input for a file named "-". */
			bool is_stdin = is_file && part->contents && strcmp(part->contents, "-") == 0;
			if ((part->flags & CURL_HTTPPOST_CALLBACK) || is_stdin)
				return false;
		}
	}
	return true;
}

/* Whether no copy can hold what the read callback will give: not worth beginning one. */
static bool is_too_large_to_copy(const struct program_options *program, const struct policy_rules *rules)
{
	return program_body_announced_bytes(program) > rules->replay_body_bytes;
}

bool body_is_replayable(const struct handle *handle)
{
	const struct program_options *program = &handle->program;
	enum body_source source = handle_body_source(handle);
	/* A second perform with trailers frees something twice, without us too (seen in 7.88.1). */
	if (source != BODY_NONE && program->trailer_function)
		return false;
	switch (source) {
	case BODY_NONE:
	case BODY_POSTFIELDS:
		return true;
	case BODY_FORM:
		return is_form_replayable(program->form);
	case BODY_MIME:
		return mime_is_replayable(program->mime);
	case BODY_READ:
		/* A copy may do, and a body that was never read needs none: known once the attempt is over. */
		return program->read_function || offset_of(default_file(program)) >= 0;
	case BODY_UNKNOWN:
		break;
	}
	return false;
}

bool body_is_awaited(const struct handle *handle)
{
	double total_bytes = info_bytes(handle, CURLINFO_CONTENT_LENGTH_UPLOAD);
	if (handle_body_source(handle) == BODY_NONE)
		return false;
	return total_bytes <= 0 || info_bytes(handle, CURLINFO_SIZE_UPLOAD) < total_bytes;
}

static void begin_stream(struct body *body)
{
	body->given_bytes = 0;
	body->ended = false;
	hash_stream_begin(&body->given);
}

void body_note_file(struct handle *handle)
{
	bool is_file = handle_body_source(handle) == BODY_READ && !handle->program.read_function;
	handle->body.file_offset = is_file ? offset_of(default_file(&handle->program)) : -1;
}

static void begin_read(struct handle *handle, const struct policy_rules *rules, bool is_replayable)
{
	struct body *body = &handle->body;
	body->read_function = handle->program.read_function;
	body->read_data = handle->program.read_data_set ? handle->program.read_data : stdin;
	body->is_rewound_by_program = program_body_can_be_rewound(&handle->program);
	body->preview_key = 0;
	body->head_bytes = 0;
	body->is_again = body->differs = false;
	begin_stream(body);
	if (!is_replayable)
		return;
	body->copy_bytes = 0;
	body->position = 0;
	body->copy_lost = is_too_large_to_copy(&handle->program, rules);
	if (!handle->program.read_function)
		body_note_file(handle);
	else
		lend_read_callback(handle);
}

/* Not inlined: most requests have no body. */
static __attribute__((noinline)) void begin_source(struct handle *handle, enum body_source source,
                                                   const struct policy_rules *rules, bool is_replayable)
{
	if (source == BODY_MIME)
		mime_begin(handle->program.mime);
	if (source == BODY_READ)
		begin_read(handle, rules, is_replayable);
}

void body_begin(struct handle *handle, const struct policy_rules *rules, bool is_replayable)
{
	struct body *body = &handle->body;
	enum body_source source = handle_body_source(handle);
	body->was_read = false;
	body->file_offset = body->left_offset = -1;
	body->left_bytes = -1;
	if (source != BODY_NONE)
		begin_source(handle, source, rules, is_replayable);
}

static bool ask_program_to_rewind(struct handle *handle)
{
	const struct program_options *program = &handle->program;
	if (program->seek_function)
		return program->seek_function(program->seek_data, 0, SEEK_SET) == CURL_SEEKFUNC_OK;
	return program->ioctl_function(handle->curl, CURLIOCMD_RESTARTREAD, program->ioctl_data) == CURLIOE_OK;
}

/* After a failed transfer of the handle libcurl may take the file to its begin, where the first attempt begins then. */
static bool can_seek_file(const struct body *body)
{
	return body->file_offset == 0 || (body->file_offset > 0 && !body->rewind_is_due);
}

static bool seek_file(FILE *file, off_t offset)
{
	clearerr(file);
	return fseeko(file, offset, SEEK_SET) == 0;
}

static bool rewind_file(struct handle *handle)
{
	struct body *body = &handle->body;
	FILE *file = default_file(&handle->program);
	if (body->file_offset < 0)
		return false;
	off_t offset = ftello(file);
	/* It was taken to its beginning already, by what an earlier transfer of the handle had left to do. */
	if (offset < body->file_offset)
		return false;
	if (offset > body->left_offset)
		body->left_offset = offset;
	return seek_file(file, body->file_offset);
}

/* libcurl rewinds by itself between the requests of one attempt: then what was read says nothing of a place. */
static void note_left(struct body *body, bool is_single)
{
	if (body->given_bytes > body->left_bytes && is_single)
		body->left_bytes = body->given_bytes;
	else if (!is_single)
		body->left_bytes = INT64_MAX;
}

/* A callback may have given the program a way to rewind what we copy, or have taken it. */
static bool has_changed_way(const struct handle *handle)
{
	return handle->body.is_rewound_by_program != program_body_can_be_rewound(&handle->program);
}

static bool rewind_read(struct handle *handle, bool is_single)
{
	struct body *body = &handle->body;
	if (!handle->program.read_function)
		return rewind_file(handle) && lend_seek_callback(handle);
	/* Not lent, though there is a callback: nobody knows what was read. */
	if (!handle->lent.read)
		return false;
	if (!body->was_read)
		return true;
	if (has_changed_way(handle))
		return false;
	if (body->is_rewound_by_program) {
		note_left(body, is_single);
		if (!is_single)
			body->head_bytes = 0;
		body->is_again = true;
		begin_stream(body);
		if (!ask_program_to_rewind(handle))
			return false;
	} else if (body->copy_lost || !lend_seek_callback(handle)) {
		return false;
	}
	body->position = 0;
	body->was_read = false;
	return true;
}

static bool can_rewind_read(const struct handle *handle)
{
	const struct body *body = &handle->body;
	if (!handle->program.read_function)
		return can_seek_file(body);
	return handle->lent.read &&
	       (!body->was_read || (!has_changed_way(handle) && (body->is_rewound_by_program || !body->copy_lost)));
}

/* What was never sent was never read. */
static bool is_untouched(const struct handle *handle, const struct engine_outcome *outcome)
{
	return outcome->unsent && !handle->body.was_read;
}

bool body_can_rewind(const struct handle *handle, const struct engine_outcome *outcome)
{
	if (is_untouched(handle, outcome))
		return true;
	switch (handle_body_source(handle)) {
	case BODY_NONE:
	case BODY_POSTFIELDS:
	case BODY_FORM:
		return true;
	case BODY_MIME:
		return mime_could_rewind(handle->program.mime);
	case BODY_READ:
		return can_rewind_read(handle);
	case BODY_UNKNOWN:
		break;
	}
	return false;
}

bool body_could_rewind(const struct handle *handle, const struct policy_rules *rules,
                       const struct engine_outcome *outcome)
{
	const struct program_options *program = &handle->program;
	if (is_untouched(handle, outcome))
		return true;
	if (handle_body_source(handle) != BODY_READ)
		return body_can_rewind(handle, outcome);
	return !program->read_function || program_body_can_be_rewound(program) || !is_too_large_to_copy(program, rules);
}

bool body_may_refuse(const struct handle *handle)
{
	enum body_source source = handle_body_source(handle);
	return source == BODY_MIME ||
	       (source == BODY_READ && handle->body.was_read && program_body_can_be_rewound(&handle->program));
}

static bool rewind_source(struct handle *handle, bool is_single)
{
	switch (handle_body_source(handle)) {
	case BODY_NONE:
	case BODY_POSTFIELDS:
	case BODY_FORM:
		return true;
	case BODY_MIME:
		return mime_rewind(handle->program.mime);
	case BODY_READ:
		return rewind_read(handle, is_single);
	case BODY_UNKNOWN:
		break;
	}
	return false;
}

bool body_rewind(struct handle *handle, const struct engine_outcome *outcome)
{
	return is_untouched(handle, outcome) || rewind_source(handle, outcome->single);
}

void body_put_back(struct handle *handle)
{
	const struct program_options *program = &handle->program;
	const struct body *body = &handle->body;
	if (handle_body_source(handle) != BODY_READ)
		return;
	FILE *file = program->read_function ? NULL : default_file(program);
	if (file && body->left_offset >= 0 && ftello(file) < body->left_offset)
		fseeko(file, body->left_offset, SEEK_SET);
	int64_t begin_bytes = program->resume_bytes > 0 ? program->resume_bytes : 0; /* of what was read */
	if (!file && program->seek_function && body->left_bytes < INT64_MAX && body->given_bytes < body->left_bytes)
		program->seek_function(program->seek_data, begin_bytes + body->left_bytes, SEEK_SET);
}

static bool reserve_copy(struct body *body, size_t needed_bytes)
{
	size_t capacity_bytes = body->copy_capacity_bytes ? body->copy_capacity_bytes : FIRST_COPY_BYTES;
	while (capacity_bytes < needed_bytes)
		capacity_bytes *= 2;
	if (capacity_bytes == body->copy_capacity_bytes)
		return true;
	char *larger = realloc(body->copy, capacity_bytes);
	if (!larger)
		return false;
	body->copy = larger;
	body->copy_capacity_bytes = capacity_bytes;
	return true;
}

static void keep_copy(struct body *body, const char *bytes, size_t count_bytes, size_t limit_bytes)
{
	if (body->copy_lost || count_bytes == 0)
		return;
	if (body->copy_bytes + count_bytes > limit_bytes || !reserve_copy(body, body->copy_bytes + count_bytes)) {
		body->copy_lost = true;
		return;
	}
	memcpy(body->copy + body->copy_bytes, bytes, count_bytes);
	body->copy_bytes += count_bytes;
}

static size_t read_copy(struct body *body, char *out, size_t room_bytes)
{
	size_t left_bytes = body->copy_bytes - body->position;
	size_t count_bytes = left_bytes < room_bytes ? left_bytes : room_bytes;
	memcpy(out, body->copy + body->position, count_bytes);
	body->position += count_bytes;
	return count_bytes;
}

static void add_given(struct body *body, const char *bytes, size_t given)
{
	body->given_bytes += (int64_t)given;
	body->ended = given == 0;
	hash_stream_add(&body->given, bytes, given);
}

static void note_head(struct body *body)
{
	if (body->head_bytes > 0 && body->given_bytes > HEAD_BYTES)
		return;
	body->head_bytes = body->given_bytes;
	body->head_key = hash_stream_value(&body->given);
}

/*
 * A program's position 0 may be another place than where its stream stood: curl's is the file's begin, whatever a shell
 * had read of it. Returns whether the body goes on as before.
 */
static bool add_again(struct body *body, const char *bytes, size_t given)
{
	int64_t left_bytes = body->head_bytes - body->given_bytes;
	size_t head = left_bytes < (int64_t)given ? (size_t)(left_bytes > 0 ? left_bytes : 0) : given;
	bool ends_early = given == 0 && left_bytes > 0;
	if (left_bytes > 0 && head > 0)
		add_given(body, bytes, head);
	bool is_head = left_bytes > 0 && left_bytes == (int64_t)head;
	if (ends_early || (is_head && hash_stream_value(&body->given) != body->head_key))
		return false;
	if (head < given || given == 0)
		add_given(body, bytes + head, given - head);
	return true;
}

/* Reads from what the program rewinds by itself. PAUSE and ABORT are more than was asked for. */
static size_t read_stream(struct handle *handle, char *out, size_t size, size_t count, int64_t sends)
{
	struct body *body = &handle->body;
	size_t given = body->read_function(out, size, count, body->read_data);
	/* What libcurl rewinds by itself in an attempt is known for something else. */
	bool is_compared = body->is_again && sends <= 1;
	if (given > size * count)
		return given;
	if (is_compared && !add_again(body, out, given)) {
		body->differs = true;
		return CURL_READFUNC_ABORT;
	}
	if (!is_compared)
		add_given(body, out, given);
	if (!body->is_again)
		note_head(body);
	return given;
}

/* As much as libcurl would ask for at most. */
static size_t preview_step_bytes(const struct handle *handle)
{
	int64_t size_bytes = program_body_announced_bytes(&handle->program);
	int64_t left_bytes = size_bytes >= 0 ? size_bytes - handle->body.given_bytes : PREVIEW_STEP_BYTES;
	return left_bytes < PREVIEW_STEP_BYTES ? (size_t)left_bytes : PREVIEW_STEP_BYTES;
}

/* As between two reads of libcurl's: the progress callback is asked now and then. May end the operation. */
static bool lets_go_on(const struct handle *handle, const struct progress *progress, int64_t *next_ms)
{
	int64_t now_ms = clock_ms();
	if (now_ms < *next_ms)
		return true;
	*next_ms = now_ms + PREVIEW_PROGRESS_MS;
	return !progress_is_wanted(handle) || progress_report(handle, progress);
}

/* Reads the program's stream to its end, as long as there is time. */
static enum body_preview read_ahead(struct handle *handle, const struct progress *progress, int64_t end_ms, char *room)
{
	const struct operation *operation = handle->active;
	int64_t next_ms = clock_ms() + PREVIEW_PROGRESS_MS;
	size_t given = 1;
	while (!program_body_has_ended(handle) && given > 0 && given <= PREVIEW_STEP_BYTES && clock_ms() < end_ms) {
		given = read_stream(handle, room, 1, preview_step_bytes(handle), 0);
		if (given == CURL_READFUNC_ABORT || !handle_runs(handle, operation) ||
		    !lets_go_on(handle, progress, &next_ms) || !handle_runs(handle, operation))
			return BODY_CANCELLED;
	}
	handle->body.preview_key = program_body_key(handle);
	return BODY_READY;
}

static enum body_preview preview(struct handle *handle, const struct progress *progress, int64_t end_ms)
{
	char *room = malloc(PREVIEW_STEP_BYTES);
	if (!room)
		return BODY_READY;
	enum body_preview end = read_ahead(handle, progress, end_ms, room);
	free(room);
	if (end != BODY_READY)
		return end;
	begin_stream(&handle->body);
	handle->body.is_again = true;
	return program_body_can_be_rewound(&handle->program) && ask_program_to_rewind(handle) ? BODY_READY : BODY_LOST;
}

enum body_preview body_preview(struct handle *handle, const struct progress *progress, int64_t end_ms)
{
	const struct operation *operation = handle->active;
	/* While there is nothing to lose: the program may have a pipe behind its callbacks. */
	bool is_rewindable = ask_program_to_rewind(handle);
	return is_rewindable && handle_runs(handle, operation) ? preview(handle, progress, end_ms) : BODY_READY;
}

size_t body_read_idle(struct handle *handle, char *out, size_t size, size_t count)
{
	struct body *body = &handle->body;
	body->was_read = true;
	return body->read_function(out, size, count, body->read_data);
}

size_t body_read(struct handle *handle, char *out, size_t size, size_t count, int64_t sends, size_t limit_bytes)
{
	struct body *body = &handle->body;

	body->was_read = true;
	if (body->is_rewound_by_program)
		return read_stream(handle, out, size, count, sends);
	if (!body->copy_lost && body->position < body->copy_bytes)
		return read_copy(body, out, size * count);
	if (body->ended)
		return 0;
	const struct operation *operation = handle->active;
	size_t given = body->read_function(out, size, count, body->read_data);
	if (given == CURL_READFUNC_ABORT || given == CURL_READFUNC_PAUSE || !handle_runs(handle, operation))
		return given;
	body->ended = given == 0;
	/* More than was asked for is an error that libcurl tells. */
	if (given <= size * count)
		keep_copy(body, out, given, limit_bytes);
	body->position = body->copy_bytes;
	return given;
}

int body_seek_callback(void *data, curl_off_t offset, int origin)
{
	struct handle *handle = data;
	struct body *body = &handle->body;
	if (offset != 0 || origin != SEEK_SET)
		return CURL_SEEKFUNC_CANTSEEK;
	if (!body->read_function)
		return seek_file(body->read_data, body->file_offset) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
	if (body->copy_lost)
		return CURL_SEEKFUNC_FAIL;
	body->position = 0;
	return CURL_SEEKFUNC_OK;
}

void body_end(struct handle *handle, bool may_be_left)
{
	if (may_be_left && handle_body_source(handle) != BODY_NONE)
		handle->body.rewind_is_due = true;
	if (handle->body.copy_capacity_bytes > KEPT_COPY_BYTES)
		body_state_free(&handle->body);
}
