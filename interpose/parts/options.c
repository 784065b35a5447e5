/* SPDX-License-Identifier: MIT */

/*
 * The options that tenacurl follows, as a table. Option numbers are unique without their type (number % 10000), so the
 * table is indexed by them and every other option costs one comparison.
 */

#include <stddef.h>
#include <string.h>

#include "base/hash.h"
#include "interpose/handle/content_key.h"
#include "interpose/libcurl/list_hash.h"
#include "interpose/parts/options.h"
#include "interpose/parts/progress.h"

enum option_kind {
	KIND_NONE,
	KIND_FLAG,    /* long: zero or not */
	KIND_NUMBER,  /* long, kept as int64_t */
	KIND_POINTER, /* object or function pointer */
	KIND_TEXT,    /* text that libcurl copies: only a hash of it is kept, 0 for NULL */
	KIND_SPECIAL, /* has a function of its own */
};

/* Small, since what holds a pointer is copied into each process that the object is mapped into. */
struct tracked_option {
	void (*note)(struct handle *handle, const void *argument); /* KIND_SPECIAL */
	CURLoption option;
	uint16_t program_offset; /* in struct program_options */
	uint8_t lent_offset;     /* in struct lent_options; NOT_LENT: never lent */
	uint8_t kind;            /* enum option_kind */
};

#define OPTION_NUMBER_BASE 10000
#define OPTION_NUMBERS     330
#define NOT_LENT           UINT8_MAX

#define NUMBER_OF(id)  ((id) % OPTION_NUMBER_BASE)
#define PROGRAM(field) offsetof(struct program_options, field)
#define LENT(field)    offsetof(struct lent_options, field)

#define ENTRY(id, entry_kind, offset, lent, function)                                                                  \
	[NUMBER_OF(id)] = {                                                                                            \
	    .note = (function),                                                                                        \
	    .option = (CURLoption)(id),                                                                                \
	    .program_offset = (offset),                                                                                \
	    .lent_offset = (lent),                                                                                     \
	    .kind = (entry_kind),                                                                                      \
	}
#define FLAG(id, field)                  ENTRY(id, KIND_FLAG, PROGRAM(field), NOT_LENT, NULL)
#define POINTER(id, field)               ENTRY(id, KIND_POINTER, PROGRAM(field), NOT_LENT, NULL)
#define NUMBER(id, field)                ENTRY(id, KIND_NUMBER, PROGRAM(field), NOT_LENT, NULL)
#define TEXT(id, field)                  ENTRY(id, KIND_TEXT, PROGRAM(field), NOT_LENT, NULL)
#define LENT_FLAG(id, field, lent)       ENTRY(id, KIND_FLAG, PROGRAM(field), LENT(lent), NULL)
#define LENT_NUMBER(id, field, lent)     ENTRY(id, KIND_NUMBER, PROGRAM(field), LENT(lent), NULL)
#define LENT_POINTER(id, field, lent)    ENTRY(id, KIND_POINTER, PROGRAM(field), LENT(lent), NULL)
#define SPECIAL(id, function)            ENTRY(id, KIND_SPECIAL, 0, NOT_LENT, function)
#define LENT_SPECIAL(id, function, lent) ENTRY(id, KIND_SPECIAL, 0, LENT(lent), function)

/*
 * The method machine. It mirrors lib/setopt.c: the order of these options decides what is sent, and versions differ
 * where UPLOAD is followed by POST, by POST = 0 or by NOBODY (the upload flag sticks up to 7.88 and 8.0, so a PUT goes
 * out whose body comes from the read callback).
 */

static void change_method(struct program_options *program, enum base_method method)
{
	program->mixed_history = program->mixed_history || program->upload;
	program->method = method;
}

static void note_httpget(struct handle *handle, const void *argument)
{
	if (!argument)
		return;
	handle->program.method = BASE_GET;
	handle->program.no_body = false;
	handle->program.upload = false;
	handle->program.mixed_history = false;
}

static void note_nobody(struct handle *handle, const void *argument)
{
	struct program_options *program = &handle->program;
	bool touches_method = handle->libcurl->version_number >= NOBODY_IS_METHOD_VERSION;
	program->no_body = argument != NULL;
	if (touches_method && argument)
		change_method(program, BASE_HEAD);
	else if (touches_method && program->method == BASE_HEAD)
		change_method(program, BASE_GET);
}

static void note_upload(struct handle *handle, const void *argument)
{
	struct program_options *program = &handle->program;
	program->upload = argument != NULL;
	program->method = argument ? BASE_PUT : BASE_GET;
	if (argument)
		program->no_body = false;
}

static void note_post(struct handle *handle, const void *argument)
{
	struct program_options *program = &handle->program;
	if (argument)
		program->no_body = false;
	change_method(program, argument ? BASE_POST : BASE_GET);
}

static void note_postfields(struct handle *handle, const void *argument)
{
	handle->program.has_postfields = argument != NULL;
	handle->program.post_fields = argument;
	change_method(&handle->program, BASE_POST);
}

static void note_copypostfields(struct handle *handle, const void *argument)
{
	struct program_options *program = &handle->program;
	note_postfields(handle, argument);
	/* The program's memory may be gone when the request is made. */
	program->post_fields = NULL;
	program->post_fields_hash = argument ? content_key_of_memory(argument, program->post_bytes) : 0;
}

static void note_httppost(struct handle *handle, const void *argument)
{
	handle->program.form = argument;
	handle->program.no_body = false;
	change_method(&handle->program, BASE_FORM);
}

static void note_mimepost(struct handle *handle, const void *argument)
{
	mime_attach(&handle->program.mime, argument);
	handle->program.no_body = false;
	change_method(&handle->program, BASE_MIME);
}

static void note_customrequest(struct handle *handle, const void *argument)
{
	const char *verb = argument;
	char *kept = handle->program.custom_verb;
	size_t room_bytes = sizeof(handle->program.custom_verb);
	if (!verb)
		kept[0] = '\0';
	else if (strlen(verb) < room_bytes)
		strcpy(kept, verb);
	else
		strcpy(kept, "?");
}

static void note_default_protocol(struct handle *handle, const void *argument)
{
	const char *protocol = argument;
	handle->selected_version = 0;
	char *kept = handle->program.default_protocol;
	size_t room_bytes = sizeof(handle->program.default_protocol);
	kept[0] = '\0';
	/* Anything longer isn't http or https, which is all that is asked of it. */
	if (protocol)
		strcpy(kept, strlen(protocol) < room_bytes ? protocol : "?");
}

static void note_port(struct handle *handle, const void *argument)
{
	handle->program.port = (intptr_t)argument;
	handle->selected_version = 0;
}

static void note_url(struct handle *handle, const void *argument)
{
	handle_set_url(handle, argument);
}

static void note_curlu(struct handle *handle, const void *argument)
{
	/* libcurl only reads it. */
	handle->program.url_handle = (void *)(uintptr_t)argument;
	handle->selected_version = 0;
}

static void note_writedata(struct handle *handle, const void *argument)
{
	handle->program.write_data = (void *)(uintptr_t)argument;
	handle->program.write_data_set = true;
}

static void note_readdata(struct handle *handle, const void *argument)
{
	handle->program.read_data = (void *)(uintptr_t)argument;
	handle->program.read_data_set = true;
}

/* libcurl has the program's function by now; it is lent again. */
static void relend_progress(struct handle *handle)
{
	if (handle->lent.callbacks)
		progress_lend(handle);
}

static void note_xferinfo(struct handle *handle, const void *argument)
{
	memcpy(&handle->program.xferinfo_function, &argument, sizeof(argument));
	relend_progress(handle);
}

static void note_progress(struct handle *handle, const void *argument)
{
	memcpy(&handle->program.progress_function, &argument, sizeof(argument));
	relend_progress(handle);
}

static void note_timeout_s(struct handle *handle, const void *argument)
{
	handle->program.timeout_ms = (int64_t)(intptr_t)argument * 1000;
}

static void note_timeout_ms(struct handle *handle, const void *argument)
{
	handle->program.timeout_ms = (int64_t)(intptr_t)argument;
}

static void note_connect_timeout_s(struct handle *handle, const void *argument)
{
	handle->program.connect_timeout_ms = (int64_t)(intptr_t)argument * 1000;
}

static void note_connect_timeout_ms(struct handle *handle, const void *argument)
{
	handle->program.connect_timeout_ms = (int64_t)(intptr_t)argument;
}

static void note_protocols(struct handle *handle, const void *argument)
{
	handle->program.protocols = (int64_t)(intptr_t)argument;
	handle->program.protocols_by_name = false;
}

static void note_protocols_str(struct handle *handle, const void *argument)
{
	(void)argument;
	handle->program.protocols_by_name = true;
}

static void note_ssl_options(struct handle *handle, const void *argument)
{
	handle->program.early_data = ((intptr_t)argument & SSLOPT_EARLYDATA_BIT) != 0;
}

static void note_referer(struct handle *handle, const void *argument)
{
	handle_set_referer(handle, argument);
}

static void note_request_target(struct handle *handle, const void *argument)
{
	handle_set_request_target(handle, argument);
}

static void note_resolve(struct handle *handle, const void *argument)
{
	handle->program.resolve_hash = argument ? hash_list(HASH_BASIS, argument) : 0;
}

static void note_connect_to(struct handle *handle, const void *argument)
{
	handle->program.connect_to_hash = argument ? hash_list(HASH_BASIS, argument) : 0;
}

static void note_share(struct handle *handle, const void *argument)
{
	handle->shares = argument != NULL;
}

static void note_headers(struct handle *handle, const void *argument)
{
	handle->program.http_headers = (struct curl_slist *)(uintptr_t)argument;
}

static const struct tracked_option tracked_options[OPTION_NUMBERS] = {
    LENT_POINTER(CURLOPT_WRITEFUNCTION, write_function, callbacks),
    LENT_SPECIAL(CURLOPT_WRITEDATA, note_writedata, callbacks),
    LENT_POINTER(CURLOPT_HEADERFUNCTION, header_function, callbacks),
    LENT_POINTER(CURLOPT_HEADERDATA, header_data, callbacks),
    LENT_POINTER(OPTION_PREREQFUNCTION, prereq_function, prereq),
    LENT_POINTER(OPTION_PREREQDATA, prereq_data, prereq),
    SPECIAL(OPTION_XFERINFOFUNCTION, note_xferinfo),
    SPECIAL(CURLOPT_PROGRESSFUNCTION, note_progress),
    LENT_POINTER(CURLOPT_READFUNCTION, read_function, read),
    LENT_SPECIAL(CURLOPT_READDATA, note_readdata, read),
    LENT_POINTER(CURLOPT_SEEKFUNCTION, seek_function, seek),
    LENT_POINTER(CURLOPT_SEEKDATA, seek_data, seek),
    POINTER(CURLOPT_IOCTLFUNCTION, ioctl_function),
    POINTER(CURLOPT_IOCTLDATA, ioctl_data),
    NUMBER(CURLOPT_INFILESIZE, upload_bytes),
    NUMBER(OPTION_INFILESIZE_LARGE, upload_bytes),
    NUMBER(CURLOPT_RESUME_FROM, resume_bytes),
    NUMBER(OPTION_RESUME_FROM_LARGE, resume_bytes),
    NUMBER(CURLOPT_POSTFIELDSIZE, post_bytes),
    NUMBER(OPTION_POSTFIELDSIZE_LARGE, post_bytes),
    LENT_POINTER(CURLOPT_PROGRESSDATA, progress_data, progress),
    POINTER(CURLOPT_ERRORBUFFER, error_buffer),
    POINTER(OPTION_AWS_SIGV4, aws_sigv4),
    LENT_FLAG(CURLOPT_NOPROGRESS, no_progress, no_progress),
    FLAG(CURLOPT_HEADER, header_in_body),
    FLAG(CURLOPT_FAILONERROR, fail_on_error),
    FLAG(CURLOPT_FOLLOWLOCATION, follow_location),
    FLAG(CURLOPT_AUTOREFERER, auto_referer),
    NUMBER(CURLOPT_HTTPAUTH, http_auth),
    FLAG(CURLOPT_CONNECT_ONLY, connect_only),
    FLAG(CURLOPT_NOSIGNAL, no_signal),
    FLAG(CURLOPT_RTSP_REQUEST, rtsp),
    POINTER(CURLOPT_OPENSOCKETFUNCTION, open_socket),
    POINTER(OPTION_RESOLVER_START_FUNCTION, resolver_start),
    POINTER(OPTION_TRAILERFUNCTION, trailer_function),
    FLAG(CURLOPT_TIMECONDITION, time_condition),
    FLAG(OPTION_TCP_FASTOPEN, fast_open),
    LENT_FLAG(CURLOPT_FRESH_CONNECT, fresh_connect, fresh_connect),
    LENT_FLAG(OPTION_QUICK_EXIT, quick_exit, quick_exit),
    LENT_NUMBER(CURLOPT_DNS_CACHE_TIMEOUT, dns_cache_timeout_s, dns_cache_timeout),
    LENT_SPECIAL(CURLOPT_TIMEOUT, note_timeout_s, timeout),
    LENT_SPECIAL(CURLOPT_TIMEOUT_MS, note_timeout_ms, timeout),
    LENT_SPECIAL(CURLOPT_CONNECTTIMEOUT, note_connect_timeout_s, connect_timeout),
    LENT_SPECIAL(CURLOPT_CONNECTTIMEOUT_MS, note_connect_timeout_ms, connect_timeout),
    POINTER(OPTION_PROXYHEADER, proxy_headers),
    LENT_SPECIAL(CURLOPT_HTTPHEADER, note_headers, http_headers),
    SPECIAL(CURLOPT_HTTPGET, note_httpget),
    SPECIAL(CURLOPT_NOBODY, note_nobody),
    SPECIAL(CURLOPT_UPLOAD, note_upload),
    SPECIAL(CURLOPT_PUT, note_upload),
    SPECIAL(CURLOPT_POST, note_post),
    SPECIAL(CURLOPT_POSTFIELDS, note_postfields),
    SPECIAL(CURLOPT_COPYPOSTFIELDS, note_copypostfields),
    SPECIAL(CURLOPT_HTTPPOST, note_httppost),
    SPECIAL(OPTION_MIMEPOST, note_mimepost),
    SPECIAL(CURLOPT_CUSTOMREQUEST, note_customrequest),
    SPECIAL(OPTION_DEFAULT_PROTOCOL, note_default_protocol),
    SPECIAL(CURLOPT_PORT, note_port),
    TEXT(CURLOPT_RANGE, range_hash),
    TEXT(CURLOPT_PROXY, proxy_hash),
    TEXT(OPTION_UNIX_SOCKET_PATH, unix_socket_hash),
    TEXT(CURLOPT_USERPWD, user_password_hash),
    TEXT(CURLOPT_USERNAME, user_hash),
    TEXT(OPTION_XOAUTH2_BEARER, bearer_hash),
    TEXT(CURLOPT_INTERFACE, interface_hash),
    TEXT(OPTION_ABSTRACT_UNIX_SOCKET, abstract_socket_hash),
    SPECIAL(CURLOPT_RESOLVE, note_resolve),
    SPECIAL(OPTION_CONNECT_TO, note_connect_to),
    SPECIAL(CURLOPT_URL, note_url),
    SPECIAL(OPTION_CURLU, note_curlu),
    SPECIAL(CURLOPT_PROTOCOLS, note_protocols),
    SPECIAL(OPTION_PROTOCOLS_STR, note_protocols_str),
    SPECIAL(OPTION_SSL_OPTIONS, note_ssl_options),
    SPECIAL(CURLOPT_SHARE, note_share),
    SPECIAL(CURLOPT_REFERER, note_referer),
    SPECIAL(OPTION_REQUEST_TARGET, note_request_target),
};

static void note_option(struct handle *handle, const struct tracked_option *tracked, void *argument)
{
	char *field = (char *)&handle->program + tracked->program_offset;
	switch (tracked->kind) {
	case KIND_FLAG:
		*(bool *)field = argument != NULL;
		break;
	case KIND_NUMBER:
		*(int64_t *)(void *)field = (int64_t)(intptr_t)argument;
		break;
	case KIND_POINTER:
		memcpy(field, &argument, sizeof(argument));
		break;
	case KIND_TEXT:
		*(uint64_t *)(void *)field = argument ? hash_text(HASH_BASIS, argument) : 0;
		break;
	case KIND_SPECIAL:
		tracked->note(handle, argument);
		break;
	case KIND_NONE:
		break;
	}
}

CURLcode options_set(struct handle *handle, CURLoption option, void *argument)
{
	unsigned int number = (unsigned int)option % OPTION_NUMBER_BASE;
	const struct tracked_option *tracked = number < OPTION_NUMBERS ? &tracked_options[number] : NULL;
	if (!tracked || tracked->option != option || tracked->kind == KIND_NONE)
		return handle->libcurl->setopt(handle->curl, option, argument);

	bool lent = tracked->lent_offset != NOT_LENT && *((const bool *)&handle->lent + tracked->lent_offset);
	CURLcode result = lent ? CURLE_OK : handle->libcurl->setopt(handle->curl, option, argument);
	if (result == CURLE_OK)
		note_option(handle, tracked, argument);
	else if (option == (CURLoption)OPTION_MIMEPOST)
		mime_detach(&handle->program.mime); /* it lets go of the old one before it refuses the new one */
	return result;
}
