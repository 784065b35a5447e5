/* SPDX-License-Identifier: MIT */

/*
 * A history: operations on one handle, each after a few random options. Every choice is drawn before the operation that
 * it is for, so that what comes later doesn't depend on what happened.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

#define FILE_BYTES 120000
#define TIMEOUT_MS 2500L

static bool is_body_token(char c)
{
	return c == '[' || c == ']' || (c >= '0' && c <= '9');
}

/* Keeps the numbers in brackets: they name the sends that were answered. */
static void keep(char *seen, size_t *used, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count && *used + 1 < SEEN_BYTES; i++)
		if (is_body_token(bytes[i]))
			seen[(*used)++] = bytes[i];
	seen[*used] = '\0';
}

bool play_trick(struct program *program, enum place place)
{
	enum trick trick = program->trick_place == place ? program->trick : TRICK_NONE;
	if (trick == TRICK_NONE)
		return true;
	program->trick = TRICK_NONE;
	switch (trick) {
	case TRICK_STOP_FOLLOWING:
		curl_easy_setopt(program->curl, CURLOPT_FOLLOWLOCATION, 0L);
		break;
	case TRICK_NEXT_URL:
		curl_easy_setopt(program->curl, CURLOPT_URL, program->next_url);
		break;
	case TRICK_NEXT_POSTFIELDS:
		curl_easy_setopt(program->curl, CURLOPT_POSTFIELDSIZE, 64L);
		curl_easy_setopt(program->curl, CURLOPT_POSTFIELDS, bodies_memory(64));
		break;
	case TRICK_NEXT_VERB:
		curl_easy_setopt(program->curl, CURLOPT_CUSTOMREQUEST, "DELETE");
		break;
	case TRICK_GET:
		curl_easy_setopt(program->curl, CURLOPT_HTTPGET, 1L);
		break;
	case TRICK_HEADERS:
		curl_easy_setopt(program->curl, CURLOPT_HTTPHEADER, program->headers[0]);
		break;
	default:
		return false;
	}
	return true;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *data)
{
	struct program *program = data;
	if (strncmp(bytes, "X-Send:", 7) == 0)
		keep(program->seen_headers, &program->header_bytes, bytes, size * count);
	return play_trick(program, PLACE_HEADER) ? size * count : 0;
}

static size_t on_write(char *bytes, size_t size, size_t count, void *data)
{
	struct program *program = data;
	keep(program->seen_body, &program->body_bytes, bytes, size * count);
	return play_trick(program, PLACE_WRITE) ? size * count : 0;
}

static int on_progress(void *data, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now)
{
	struct program *program = data;
	(void)total, (void)now, (void)up_total, (void)up_now;
	return play_trick(program, PLACE_PROGRESS) ? 0 : 1;
}

/* Options that a perform can't do without; curl_easy_reset() takes them away. */
static void set_basics(struct program *program)
{
	CURL *curl = program->curl;
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_write);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, program);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, program);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(curl, CURLOPT_XFERINFODATA, program);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
	curl_easy_setopt(curl, CURLOPT_FTP_RESPONSE_TIMEOUT, 2L);
	curl_easy_setopt(curl, CURLOPT_READFUNCTION, program->reads_file ? NULL : stream_read);
	curl_easy_setopt(curl, CURLOPT_READDATA, program->reads_file ? (void *)program->file : &program->stream);
}

static void announce_size(struct program *program)
{
	curl_off_t announced = program->sized ? program->size_bytes : -1;
	curl_easy_setopt(program->curl, CURLOPT_INFILESIZE_LARGE, announced);
	if (!program->copied)
		curl_easy_setopt(program->curl, CURLOPT_POSTFIELDSIZE_LARGE, announced);
}

static void set_size(struct program *program, bool sized)
{
	struct random *random = &program->random;
	program->sized = sized;
	program->size_bytes = 20 + pick(random, chance(random, 15) ? 90000 : 900);
	announce_size(program);
}

static void set_seek(struct program *program)
{
	int kind = pick(&program->random, 4);
	program->stream.seek_fails = kind == 2;
	curl_easy_setopt(program->curl, CURLOPT_SEEKFUNCTION, kind == 0 || kind == 3 ? NULL : stream_seek);
	curl_easy_setopt(program->curl, CURLOPT_SEEKDATA, &program->stream);
	curl_easy_setopt(program->curl, CURLOPT_IOCTLFUNCTION, kind == 3 ? stream_ioctl : NULL);
	curl_easy_setopt(program->curl, CURLOPT_IOCTLDATA, &program->stream);
}

/* A form's stream is no FILE: libcurl would call fread() with it. */
static void set_source(struct program *program)
{
	program->reads_file = chance(&program->random, 40) && !program->stream_in_form;
	set_basics(program);
	set_seek(program);
}

static void set_headers(struct program *program)
{
	static const char *const lines[] = {"Idempotency-Key: k1",
	                                    "Idempotency-Key:  ",
	                                    "Idempotency-Key;",
	                                    "If-Match: \"e\"",
	                                    "Expect:",
	                                    "Expect: 100-continue",
	                                    "X-HTTP-Method-Override: POST",
	                                    "x-goog-if-generation-match: 0",
	                                    "If-None-Match: *",
	                                    "X-Plain: yes",
	                                    "Content-Type: text/x"};
	struct random *random = &program->random;
	struct curl_slist *headers = NULL;
	if (program->header_count == THINGS_MAX)
		return;
	for (int i = pick(random, 4); i > 0; i--)
		headers = curl_slist_append(headers, lines[pick(random, (int)(sizeof(lines) / sizeof(lines[0])))]);
	program->headers[program->header_count++] = headers;
	curl_easy_setopt(program->curl, CURLOPT_HTTPHEADER, headers);
}

static void set_proxy(struct program *program)
{
	char proxy[64];
	int kind = pick(&program->random, 8);
	int port = kind == 0 ? server_dead_port() : server_port();
	snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", port);
	curl_easy_setopt(program->curl, CURLOPT_PROXY, kind < 5 ? proxy : NULL);
	curl_easy_setopt(program->curl, CURLOPT_HTTPPROXYTUNNEL, kind == 4 ? 0L : 1L);
}

static void duplicate(struct program *program)
{
	CURL *copy = program->source_count < THINGS_MAX ? curl_easy_duphandle(program->curl) : NULL;
	if (!copy)
		return;
	if (chance(&program->random, 50))
		program->sources[program->source_count++] = program->curl;
	else
		curl_easy_cleanup(program->curl);
	program->curl = copy;
}

static void reset(struct program *program)
{
	curl_easy_reset(program->curl);
	program->copied = false;
	program->reads_file = program->reads_file && !program->stream_in_form;
	set_basics(program);
}

static void set_verb(struct program *program)
{
	static const char *const verbs[] = {NULL, "PATCH", "DELETE", "GET", "PUT", "POST", "LOCK", "OPTIONS"};
	curl_easy_setopt(program->curl, CURLOPT_CUSTOMREQUEST, verbs[pick(&program->random, 8)]);
}

static void set_auth(struct program *program)
{
	bool on = chance(&program->random, 60);
	long methods = chance(&program->random, 50) ? (long)CURLAUTH_ANY : (long)CURLAUTH_DIGEST;
	curl_easy_setopt(program->curl, CURLOPT_USERPWD, on ? "user:password" : NULL);
	curl_easy_setopt(program->curl, CURLOPT_HTTPAUTH, on ? methods : (long)CURLAUTH_BASIC);
}

static void set_flag(struct program *program)
{
	static const CURLoption flags[] = {CURLOPT_NOBODY,       CURLOPT_UPLOAD,         CURLOPT_POST,
	                                   CURLOPT_HTTPGET,      CURLOPT_FOLLOWLOCATION, CURLOPT_AUTOREFERER,
	                                   CURLOPT_FAILONERROR,  CURLOPT_HEADER,         CURLOPT_FRESH_CONNECT,
	                                   CURLOPT_FORBID_REUSE, CURLOPT_APPEND,         CURLOPT_UNRESTRICTED_AUTH};
	CURLoption flag = flags[pick(&program->random, (int)(sizeof(flags) / sizeof(flags[0])))];
	long value = chance(&program->random, 70);
	curl_easy_setopt(program->curl, flag, value);
}

static void set_number(struct program *program)
{
	static const struct {
		CURLoption option;
		long values[4];
	} numbers[] = {
	    {CURLOPT_POSTREDIR, {0, 1, 4, 7}},
	    {CURLOPT_MAXREDIRS, {-1, 0, 1, 3}},
	    {CURLOPT_HTTP_VERSION, {CURL_HTTP_VERSION_NONE, CURL_HTTP_VERSION_1_0, CURL_HTTP_VERSION_1_1, 0}},
	    {CURLOPT_REDIR_PROTOCOLS, {CURLPROTO_ALL, CURLPROTO_HTTP, CURLPROTO_HTTP | CURLPROTO_FTP, CURLPROTO_ALL}}};
	int which = pick(&program->random, 4), value = pick(&program->random, 4);
	curl_easy_setopt(program->curl, numbers[which].option, numbers[which].values[value]);
}

/* A body that is read, as programs ask for one. */
static void put(struct program *program)
{
	set_source(program);
	set_size(program, chance(&program->random, 75));
	curl_easy_setopt(program->curl, CURLOPT_CUSTOMREQUEST, NULL);
	curl_easy_setopt(program->curl, CURLOPT_NOBODY, 0L);
	curl_easy_setopt(program->curl, CURLOPT_UPLOAD, 1L);
}

static void post_read(struct program *program)
{
	set_source(program);
	curl_easy_setopt(program->curl, CURLOPT_POSTFIELDS, NULL);
	program->copied = false;
	set_size(program, true);
	curl_easy_setopt(program->curl, CURLOPT_POST, 1L);
}

static void set_tunnel(struct program *program)
{
	char proxy[64];
	snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", server_port());
	curl_easy_setopt(program->curl, CURLOPT_PROXY, proxy);
	curl_easy_setopt(program->curl, CURLOPT_HTTPPROXYTUNNEL, 1L);
}

static void follow_anywhere(struct program *program)
{
	curl_easy_setopt(program->curl, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(program->curl, CURLOPT_REDIR_PROTOCOLS, CURLPROTO_ALL);
	curl_easy_setopt(program->curl, CURLOPT_APPEND, (long)chance(&program->random, 50));
}

static const struct {
	void (*act)(struct program *program);
	int weight;
} actions[] = {
    {put, 14},
    {post_read, 8},
    {bodies_postfields, 12},
    {bodies_copypostfields, 8},
    {bodies_form, 6},
    {bodies_mime, 10},
    {set_flag, 30},
    {set_number, 8},
    {set_verb, 10},
    {set_headers, 8},
    {set_proxy, 5},
    {set_tunnel, 4},
    {follow_anywhere, 12},
    {set_auth, 5},
    {set_seek, 6},
    {set_source, 4},
    {duplicate, 5},
    {reset, 4},
};

static void act(struct program *program)
{
	int total = 0;
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		total += actions[i].weight;
	int drawn = pick(&program->random, total);
	size_t i = 0;
	while ((drawn -= actions[i].weight) >= 0)
		i++;
	actions[i].act(program);
}

static int64_t position_of(const struct program *program)
{
	return program->reads_file ? (int64_t)ftello(program->file) : program->stream.position;
}

/* libcurl before 8.7 reads and sends a file to its end, whatever size was announced. */
static void place_file(struct program *program)
{
	int64_t left = FILE_BYTES - (int64_t)ftello(program->file);
	if (!program->reads_file)
		return;
	if (left == 0)
		fseeko(program->file, FILE_BYTES - program->size_bytes, SEEK_SET);
	else
		program->size_bytes = left;
	announce_size(program);
}

static void prepare(struct program *program, uint64_t seed, int policy)
{
	struct random *random = &program->random;
	for (int i = 1 + pick(random, program->operation ? 4 : 7); i > 0; i--)
		act(program);
	if (program->size_bytes == 0 || chance(random, 30))
		set_size(program, chance(random, 80));
	place_file(program);
	program->trick = chance(random, 8) ? (enum trick)(1 + pick(random, TRICK_COUNT - 1)) : TRICK_NONE;
	program->planned_trick = program->trick;
	program->trick_place = (enum place)pick(random, PLACE_COUNT);
	program->stream.piece_bytes = 50 + (size_t)pick(random, 5000);
	program->stream.begin = program->stream.position;
	program->stream.end = program->stream.begin + program->size_bytes;
	program->body_bytes = program->header_bytes = 0;
	program->seen_body[0] = program->seen_headers[0] = '\0';
	snprintf(program->url, sizeof(program->url), "http://127.0.0.1:%d/p%d/%" PRIu64 "/o%d", server_port(), policy,
	         seed, program->operation);
	snprintf(program->next_url, sizeof(program->next_url), "%s/next", program->url);
	curl_easy_setopt(program->curl, CURLOPT_URL, program->url);
	/* Most programs look at their progress only if they have a bar to draw. */
	curl_easy_setopt(program->curl, CURLOPT_NOPROGRESS,
	                 (long)(program->trick == TRICK_NONE || program->trick_place != PLACE_PROGRESS));
}

static void operate(struct program *program)
{
	long status = 0;
	int64_t begin = position_of(program);
	CURLcode result = curl_easy_perform(program->curl);
	curl_easy_getinfo(program->curl, CURLINFO_RESPONSE_CODE, &status);
	printf("op %d result=%d status=%ld body=%s headers=%s file=%d begin=%" PRId64 " moved=%" PRId64 " size=%" PRId64
	       " trick=%d\n",
	       program->operation, result, status, program->seen_body[0] ? program->seen_body : "-",
	       program->seen_headers[0] ? program->seen_headers : "-", program->reads_file, begin,
	       position_of(program) - begin, program->size_bytes,
	       (int)program->trick_place * 100 + (int)program->planned_trick);
}

static void release(struct program *program)
{
	curl_easy_cleanup(program->curl);
	for (int i = 0; i < program->source_count; i++)
		curl_easy_cleanup(program->sources[i]);
	for (int i = 0; i < program->mime_count; i++)
		curl_mime_free(program->mimes[i]);
	for (int i = 0; i < program->form_count; i++)
		curl_formfree(program->forms[i]);
	for (int i = 0; i < program->header_count; i++)
		curl_slist_free_all(program->headers[i]);
}

static void draw_script(struct random *random, struct script *script)
{
	memset(script, 0, sizeof(*script));
	for (int i = 0; i < OPERATIONS_MAX; i++) {
		int length = chance(random, 25) ? 0 : 1 + pick(random, 4);
		for (int k = 0; k < length; k++)
			script->steps[i][k] =
			    pick_letter(random, "ooogcbbbbbBrrrRqpeffffxxxxyhtTw123784123784anddDDUFGFGS");
	}
	int connects = chance(random, 30) ? 0 : 1 + pick(random, 5);
	for (int k = 0; k < connects; k++)
		script->connects[k] = pick_letter(random, "22222555547fx");
}

static FILE *pattern_file(void)
{
	static FILE *file;
	if (!file) {
		file = tmpfile();
		for (int64_t i = 0; i < FILE_BYTES; i++)
			fputc(pattern_at(i), file);
		fflush(file);
	}
	fseeko(file, 0, SEEK_END);
	return file;
}

void history_run(uint64_t seed, int policies)
{
	struct program *program = calloc(1, sizeof(*program));
	struct script script;
	program->random.state = seed * UINT64_C(0xD1342543DE82EF95) + 1;
	draw_script(&program->random, &script);
	record_reset(&script);
	int policy = pick(&program->random, policies), operations = 1 + pick(&program->random, OPERATIONS_MAX - 1);
	program->file = pattern_file();
	program->stream.program = program;
	program->curl = curl_easy_init();
	printf("run %" PRIu64 " policy=%d\n", seed, policy);
	set_basics(program);
	for (program->operation = 0; program->operation < operations; program->operation++) {
		server_expect(program->operation);
		prepare(program, seed, policy);
		operate(program);
	}
	release(program);
	free(program);
	printf("quiet=%d\n", server_is_quiet());
	record_print();
	printf("end\n");
}
