/* SPDX-License-Identifier: MIT */

/*
 * One described transfer, and everything the program can see of it.
 *
 *     transfer URL [option=value …]
 *
 * Each callback prints a line with its kind and its bytes (escaped), then come the result, the error buffer and info
 * values. Run with and without the preload, the outputs can be compared. Options are a table (see `settings`); `--
 * option=value …` begins another perform on the same handle with the options changed so. `at_header=PREFIX` or
 * `at_write=N` with `then=option=value` sets an option inside a callback.
 */

#define CURL_DISABLE_DEPRECATION /* old options are what old programs use */
#include <curl/curl.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UPLOAD_CHUNK_BYTES 1000

struct upload {
	size_t size_bytes, position;
	bool can_seek;
};

struct transfer {
	CURL *curl;
	FILE *sink;
	char error_text[CURL_ERROR_SIZE];
	struct curl_slist *headers, *proxy_headers, *hosts;
	CURLSH *share;
	struct upload upload;
	curl_mime *mime;
	struct curl_httppost *form;

	/* What the callbacks do besides printing. */
	const char *refuse_header; /* return short for a header line that begins so */
	long refuse_write;         /* return short at this write, counted from 1; 0: never */
	long pause_header;         /* pause at this header call, once; 0: never */
	long pause_write;
	long abort_progress_after_ms;
	long abort_progress_call; /* the number of the first call that does */
	bool prints_progress;
	const char *jump_header; /* leave by longjmp at a header line that begins so */
	const char *inner_url;   /* perform this on another handle inside the first header callback */
	const char *at_header;   /* at a header line that begins so … */
	long at_write;           /* … or at this write, counted from 1 … */
	const char *at_callback; /* … or at the first call of progress, debug, read … */
	long at_progress_ms;     /* … not before this time … */
	const char *then;        /* … apply this option, or several with spaces between them */
	CURL *copy;              /* made inside a callback, performed after the handle itself */
	bool aborts_on_signal;
	long header_calls, write_calls, progress_calls;
	bool paused;
	struct timespec began;
};

static jmp_buf jump_back;
static volatile sig_atomic_t signals;

static void apply_argument(struct transfer *transfer, const char *argument);

static long since_begin_ms(const struct transfer *transfer)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - transfer->began.tv_sec) * 1000 + (now.tv_nsec - transfer->began.tv_nsec) / 1000000;
}

static void print_bytes(const char *kind, const char *bytes, size_t count_bytes)
{
	printf("%s %zu ", kind, count_bytes);
	for (size_t i = 0; i < count_bytes; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		if (byte >= ' ' && byte < 127 && byte != '\\')
			putchar(byte);
		else
			printf("\\x%02x", byte);
	}
	putchar('\n');
}

static size_t discard(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	return size * count;
}

static void perform_inner(const char *url)
{
	CURL *inner = curl_easy_init();
	curl_easy_setopt(inner, CURLOPT_URL, url);
	curl_easy_setopt(inner, CURLOPT_WRITEFUNCTION, discard);
	CURLcode result = curl_easy_perform(inner);
	long status = 0;
	curl_easy_getinfo(inner, CURLINFO_RESPONSE_CODE, &status);
	printf("inner %d %ld\n", result, status);
	curl_easy_cleanup(inner);
}

static bool begins_with(const char *bytes, size_t count_bytes, const char *prefix)
{
	return prefix && count_bytes >= strlen(prefix) && strncmp(bytes, prefix, strlen(prefix)) == 0;
}

static void apply_then(struct transfer *transfer)
{
	char *rest = strdup(transfer->then); /* stays: POSTFIELDS isn't copied */
	for (char *option; (option = strsep(&rest, " "));)
		apply_argument(transfer, option);
}

static void note_callback(struct transfer *transfer, const char *name)
{
	if (!transfer->at_callback || strcmp(transfer->at_callback, name) != 0)
		return;
	transfer->at_callback = NULL;
	apply_then(transfer);
}

static size_t on_header(char *bytes, size_t size, size_t count, void *data)
{
	struct transfer *transfer = data;
	size_t count_bytes = size * count;
	if (++transfer->header_calls == transfer->pause_header && !transfer->paused) {
		puts("pause header");
		transfer->paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	print_bytes("header", bytes, count_bytes);
	if (transfer->inner_url && transfer->header_calls == 1)
		perform_inner(transfer->inner_url);
	if (begins_with(bytes, count_bytes, transfer->jump_header))
		longjmp(jump_back, 1);
	if (begins_with(bytes, count_bytes, transfer->at_header))
		apply_then(transfer);
	return begins_with(bytes, count_bytes, transfer->refuse_header) ? 0 : count_bytes;
}

static size_t on_write(char *bytes, size_t size, size_t count, void *data)
{
	struct transfer *transfer = data;
	if (++transfer->write_calls == transfer->pause_write && !transfer->paused) {
		puts("pause write");
		transfer->paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	print_bytes("write", bytes, size * count);
	if (transfer->write_calls == transfer->at_write)
		apply_then(transfer);
	return transfer->write_calls == transfer->refuse_write ? 0 : size * count;
}

static size_t on_other_header(char *bytes, size_t size, size_t count, void *data)
{
	(void)data;
	print_bytes("other-header", bytes, size * count);
	return size * count;
}

static size_t on_other_write(char *bytes, size_t size, size_t count, void *data)
{
	(void)data;
	print_bytes("other-write", bytes, size * count);
	return size * count;
}

/* CURLOPT_HEADERDATA without a header function: the header lines come here, with another pointer than the body. */
static size_t on_write_or_header(char *bytes, size_t size, size_t count, void *data)
{
	print_bytes(data == (void *)jump_back ? "header-by-write" : "write", bytes, size * count);
	return size * count;
}

static long info_bytes(const struct transfer *transfer, CURLINFO info)
{
	curl_off_t bytes = 0;
	curl_easy_getinfo(transfer->curl, info, &bytes);
	return (long)bytes;
}

static int on_progress(void *data, curl_off_t download_total, curl_off_t download_now, curl_off_t upload_total,
                       curl_off_t upload_now)
{
	struct transfer *transfer = data;
	transfer->progress_calls++;
	if (since_begin_ms(transfer) >= transfer->at_progress_ms)
		note_callback(transfer, "progress");
	if (transfer->prints_progress)
		printf("progress %ld %ld %ld %ld info %ld %ld\n", (long)download_total, (long)download_now,
		       (long)upload_total, (long)upload_now, info_bytes(transfer, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T),
		       info_bytes(transfer, CURLINFO_SIZE_DOWNLOAD_T));
	if (transfer->paused) {
		transfer->paused = false;
		/* Whether the body comes from inside this call or after it is chance. */
		if (curl_easy_pause(transfer->curl, CURLPAUSE_CONT) != CURLE_OK)
			puts("unpause failed");
	}
	if (transfer->aborts_on_signal && signals > 0)
		return 1;
	bool aborts =
	    (transfer->abort_progress_after_ms && since_begin_ms(transfer) >= transfer->abort_progress_after_ms) ||
	    (transfer->abort_progress_call && transfer->progress_calls >= transfer->abort_progress_call);
	if (aborts && transfer->prints_progress)
		puts("aborts");
	return aborts;
}

static int on_old_progress(void *data, double download_total, double download_now, double upload_total,
                           double upload_now)
{
	return on_progress(data, (curl_off_t)download_total, (curl_off_t)download_now, (curl_off_t)upload_total,
	                   (curl_off_t)upload_now);
}

static size_t on_read(char *bytes, size_t size, size_t count, void *data)
{
	struct upload *upload = data;
	size_t room_bytes = size * count, left_bytes = upload->size_bytes - upload->position;
	size_t count_bytes = left_bytes < room_bytes ? left_bytes : room_bytes;
	if (count_bytes > UPLOAD_CHUNK_BYTES)
		count_bytes = UPLOAD_CHUNK_BYTES;
	for (size_t i = 0; i < count_bytes; i++)
		bytes[i] = (char)('a' + (upload->position + i) % 26);
	printf("read %zu at %zu\n", count_bytes, upload->position);
	upload->position += count_bytes;
	return count_bytes;
}

static int on_seek(void *data, curl_off_t offset, int origin)
{
	struct upload *upload = data;
	printf("seek %ld %d\n", (long)offset, origin);
	if (!upload->can_seek)
		return CURL_SEEKFUNC_CANTSEEK;
	upload->position = (size_t)offset;
	return CURL_SEEKFUNC_OK;
}

static int on_debug(CURL *curl, curl_infotype type, char *bytes, size_t count_bytes, void *data)
{
	(void)curl;
	note_callback(data, "debug");
	if (type == CURLINFO_HEADER_OUT)
		print_bytes("sent", bytes, count_bytes);
	return 0;
}

static curl_socket_t on_open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	(void)data;
	(void)purpose;
	(void)address;
	puts("opensocket");
	return CURL_SOCKET_BAD;
}

static void on_signal(int number)
{
	(void)number;
	signals++;
}

/* Settings. */

static void set_long(struct transfer *transfer, CURLoption option, const char *value)
{
	curl_easy_setopt(transfer->curl, option, strtol(value, NULL, 10));
}

static void set_text(struct transfer *transfer, CURLoption option, const char *value)
{
	curl_easy_setopt(transfer->curl, option, *value ? value : NULL);
}

static void set_callbacks(struct transfer *transfer, CURLoption option, const char *value)
{
	(void)option;
	bool by_write = strcmp(value, "header-by-write") == 0;
	bool to_file = strcmp(value, "file") == 0;
	curl_easy_setopt(transfer->curl, CURLOPT_WRITEFUNCTION,
	                 to_file    ? NULL
	                 : by_write ? on_write_or_header
	                            : on_write);
	curl_easy_setopt(transfer->curl, CURLOPT_WRITEDATA, to_file ? (void *)transfer->sink : transfer);
	curl_easy_setopt(transfer->curl, CURLOPT_HEADERFUNCTION, strcmp(value, "both") == 0 ? on_header : NULL);
	curl_easy_setopt(transfer->curl, CURLOPT_HEADERDATA,
	                 strcmp(value, "both") == 0 ? (void *)transfer
	                 : by_write                 ? (void *)jump_back
	                                            : NULL);
}

static void set_other_callbacks(struct transfer *transfer, CURLoption option, const char *value)
{
	bool headers = strcmp(value, "write") != 0, writes = strcmp(value, "header") != 0;
	if (headers)
		curl_easy_setopt(transfer->curl, CURLOPT_HEADERFUNCTION, on_other_header);
	if (writes)
		curl_easy_setopt(transfer->curl, option, on_other_write);
}

static void add_header(struct transfer *transfer, CURLoption option, const char *value)
{
	transfer->headers = curl_slist_append(transfer->headers, value);
	curl_easy_setopt(transfer->curl, option, transfer->headers);
}

static void add_proxy_header(struct transfer *transfer, CURLoption option, const char *value)
{
	transfer->proxy_headers = curl_slist_append(transfer->proxy_headers, value);
	curl_easy_setopt(transfer->curl, option, transfer->proxy_headers);
}

static void add_host(struct transfer *transfer, CURLoption option, const char *value)
{
	transfer->hosts = curl_slist_append(transfer->hosts, value);
	curl_easy_setopt(transfer->curl, option, transfer->hosts);
}

static void share_connections(struct transfer *transfer, CURLoption option, const char *value)
{
	(void)value;
	transfer->share = curl_share_init();
	curl_share_setopt(transfer->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
	curl_easy_setopt(transfer->curl, option, transfer->share);
}

static void set_copied_body(struct transfer *transfer, CURLoption option, const char *value)
{
	curl_easy_setopt(transfer->curl, CURLOPT_POSTFIELDSIZE, (long)strlen(value));
	curl_easy_setopt(transfer->curl, option, value);
}

static void set_upload(struct transfer *transfer, CURLoption option, const char *value)
{
	transfer->upload.size_bytes = strtoul(value, NULL, 10);
	curl_easy_setopt(transfer->curl, CURLOPT_READFUNCTION, on_read);
	curl_easy_setopt(transfer->curl, CURLOPT_READDATA, &transfer->upload);
	curl_easy_setopt(transfer->curl, option, 1L);
}

static void set_seek(struct transfer *transfer, CURLoption option, const char *value)
{
	transfer->upload.can_seek = strcmp(value, "fails") != 0;
	curl_easy_setopt(transfer->curl, CURLOPT_SEEKDATA, &transfer->upload);
	curl_easy_setopt(transfer->curl, option, on_seek);
}

static void set_progress(struct transfer *transfer, CURLoption option, const char *value)
{
	/* libcurl before 7.32 has the old form only. */
	if (strcmp(value, "old") == 0 || curl_easy_setopt(transfer->curl, option, on_progress) != CURLE_OK)
		curl_easy_setopt(transfer->curl, CURLOPT_PROGRESSFUNCTION, on_old_progress);
	curl_easy_setopt(transfer->curl, CURLOPT_PROGRESSDATA, transfer);
	curl_easy_setopt(transfer->curl, CURLOPT_NOPROGRESS, 0L);
	/* libcurl goes on calling the newer one. */
	if (strcmp(value, "then-null") == 0)
		curl_easy_setopt(transfer->curl, CURLOPT_PROGRESSFUNCTION, NULL);
}

static void refuse_sockets(struct transfer *transfer, CURLoption option, const char *value)
{
	(void)value;
	curl_easy_setopt(transfer->curl, option, on_open_socket);
}

/* on_sigint=abort: the progress callback ends the transfer; on_sigint=note: nothing but a system call is interrupted.
 */
static void set_on_sigint(struct transfer *transfer, CURLoption option, const char *value)
{
	(void)option;
	const struct sigaction action = {.sa_handler = on_signal};
	sigaction(SIGINT, &action, NULL);
	transfer->aborts_on_signal = strcmp(value, "abort") == 0;
}

static void set_mime(struct transfer *transfer, CURLoption option, const char *value)
{
	transfer->mime = curl_mime_init(transfer->curl);
	curl_mimepart *part = curl_mime_addpart(transfer->mime);
	curl_mime_name(part, "field");
	curl_mime_data(part, value, CURL_ZERO_TERMINATED);
	curl_easy_setopt(transfer->curl, option, transfer->mime);
}

static void set_form(struct transfer *transfer, CURLoption option, const char *value)
{
	struct curl_httppost *last = NULL;
	curl_formadd(&transfer->form, &last, CURLFORM_COPYNAME, "field", CURLFORM_COPYCONTENTS, value, CURLFORM_END);
	curl_easy_setopt(transfer->curl, option, transfer->form);
}

static void set_curlu(struct transfer *transfer, CURLoption option, const char *value)
{
	CURLU *url = curl_url();
	curl_url_set(url, CURLUPART_URL, value, 0);
	curl_easy_setopt(transfer->curl, option, url);
}

static void set_debug(struct transfer *transfer, CURLoption option, const char *value)
{
	curl_easy_setopt(transfer->curl, option, on_debug);
	curl_easy_setopt(transfer->curl, CURLOPT_DEBUGDATA, transfer);
	set_long(transfer, CURLOPT_VERBOSE, value);
}

static void reset(struct transfer *transfer, CURLoption option, const char *value)
{
	(void)option;
	curl_easy_reset(transfer->curl);
	set_text(transfer, CURLOPT_URL, value);
	set_callbacks(transfer, CURLOPT_WRITEFUNCTION, "both");
	curl_easy_setopt(transfer->curl, CURLOPT_ERRORBUFFER, transfer->error_text);
}

static void duplicate(struct transfer *transfer, CURLoption option, const char *value)
{
	(void)option;
	(void)value;
	CURL *copy = curl_easy_duphandle(transfer->curl);
	curl_easy_cleanup(transfer->curl);
	transfer->curl = copy;
	curl_easy_setopt(transfer->curl, CURLOPT_ERRORBUFFER, transfer->error_text);
}

static void make_copy(struct transfer *transfer, CURLoption option, const char *value)
{
	(void)option;
	(void)value;
	if (!transfer->copy)
		transfer->copy = curl_easy_duphandle(transfer->curl);
}

static const struct setting {
	const char *name;
	void (*apply)(struct transfer *transfer, CURLoption option, const char *value);
	CURLoption option;
} settings[] = {
    {"url", set_text, CURLOPT_URL},
    {"default_protocol", set_text, CURLOPT_DEFAULT_PROTOCOL},
    {"port", set_long, CURLOPT_PORT},
    {"callbacks", set_callbacks, CURLOPT_WRITEFUNCTION},
    {"others", set_other_callbacks, CURLOPT_WRITEFUNCTION},
    {"header", set_long, CURLOPT_HEADER},
    {"failonerror", set_long, CURLOPT_FAILONERROR},
    {"follow", set_long, CURLOPT_FOLLOWLOCATION},
    {"maxredirs", set_long, CURLOPT_MAXREDIRS},
    {"nobody", set_long, CURLOPT_NOBODY},
    {"httpget", set_long, CURLOPT_HTTPGET},
    {"post", set_long, CURLOPT_POST},
    {"postfields", set_copied_body, CURLOPT_POSTFIELDS},
    {"copypostfields", set_copied_body, CURLOPT_COPYPOSTFIELDS},
    {"mime", set_mime, CURLOPT_MIMEPOST},
    {"form", set_form, CURLOPT_HTTPPOST},
    {"upload", set_upload, CURLOPT_UPLOAD},
    {"postread", set_upload, CURLOPT_POST},
    {"uploadsize", set_long, CURLOPT_INFILESIZE},
    {"postsize", set_long, CURLOPT_POSTFIELDSIZE},
    {"seek", set_seek, CURLOPT_SEEKFUNCTION},
    {"request", set_text, CURLOPT_CUSTOMREQUEST},
    {"h", add_header, CURLOPT_HTTPHEADER},
    {"userpwd", set_text, CURLOPT_USERPWD},
    {"proxyuserpwd", set_text, CURLOPT_PROXYUSERPWD},
    {"httpauth", set_long, CURLOPT_HTTPAUTH},
    {"proxy", set_text, CURLOPT_PROXY},
    {"proxytunnel", set_long, CURLOPT_HTTPPROXYTUNNEL},
    {"suppress_connect", set_long, CURLOPT_SUPPRESS_CONNECT_HEADERS},
    {"encoding", set_text, CURLOPT_ACCEPT_ENCODING},
    {"http_version", set_long, CURLOPT_HTTP_VERSION},
    {"insecure", set_long, CURLOPT_SSL_VERIFYPEER},
    {"verifyhost", set_long, CURLOPT_SSL_VERIFYHOST},
    {"timeout_ms", set_long, CURLOPT_TIMEOUT_MS},
    {"timeout", set_long, CURLOPT_TIMEOUT},
    {"connect_timeout_ms", set_long, CURLOPT_CONNECTTIMEOUT_MS},
    {"low_speed_limit", set_long, CURLOPT_LOW_SPEED_LIMIT},
    {"low_speed_time", set_long, CURLOPT_LOW_SPEED_TIME},
    {"connect_only", set_long, CURLOPT_CONNECT_ONLY},
    {"fresh", set_long, CURLOPT_FRESH_CONNECT},
    {"maxconnects", set_long, CURLOPT_MAXCONNECTS},
    {"forbid_reuse", set_long, CURLOPT_FORBID_REUSE},
    {"range", set_text, CURLOPT_RANGE},
    {"request_target", set_text, (CURLoption)10266}, /* CURLOPT_REQUEST_TARGET, 7.55 */
    {"cookiefile", set_text, CURLOPT_COOKIEFILE},
    {"cookiejar", set_text, CURLOPT_COOKIEJAR},
    {"hsts", set_text, CURLOPT_HSTS},
    {"hsts_ctrl", set_long, CURLOPT_HSTS_CTRL},
    {"altsvc", set_text, CURLOPT_ALTSVC},
    {"altsvc_ctrl", set_long, CURLOPT_ALTSVC_CTRL},
    {"cainfo", set_text, CURLOPT_CAINFO},
    {"timecondition", set_long, CURLOPT_TIMECONDITION},
    {"timevalue", set_long, CURLOPT_TIMEVALUE},
    {"rtsp", set_long, CURLOPT_RTSP_REQUEST},
    {"rtsp_uri", set_text, CURLOPT_RTSP_STREAM_URI},
    {"append", set_long, CURLOPT_APPEND},
    {"proxyheader", add_proxy_header, CURLOPT_PROXYHEADER},
    {"autoreferer", set_long, CURLOPT_AUTOREFERER},
    {"referer", set_text, CURLOPT_REFERER},
    {"unrestricted", set_long, CURLOPT_UNRESTRICTED_AUTH},
    {"postredir", set_long, CURLOPT_POSTREDIR},
    {"resume_from", set_long, CURLOPT_RESUME_FROM},
    {"redir_protocols", set_long, CURLOPT_REDIR_PROTOCOLS},
    {"resolve", add_host, CURLOPT_RESOLVE},
    {"share", share_connections, CURLOPT_SHARE},
    {"opensocket", refuse_sockets, CURLOPT_OPENSOCKETFUNCTION},
    {"on_sigint", set_on_sigint, CURLOPT_LASTENTRY},
    {"copy", make_copy, CURLOPT_URL},
    {"protocols", set_text, CURLOPT_PROTOCOLS_STR},
    {"curlu", set_curlu, CURLOPT_CURLU},
    {"debug", set_debug, CURLOPT_DEBUGFUNCTION},
    {"progress", set_progress, CURLOPT_XFERINFOFUNCTION},
    {"reset", reset, CURLOPT_URL},
    {"duplicate", duplicate, CURLOPT_URL},
};

static const struct behaviour {
	const char *name;
	size_t text_offset, number_offset;
} behaviours[] = {
    {"refuse_header", offsetof(struct transfer, refuse_header), 0},
    {"jump_header", offsetof(struct transfer, jump_header), 0},
    {"inner", offsetof(struct transfer, inner_url), 0},
    {"at_header", offsetof(struct transfer, at_header), 0},
    {"then", offsetof(struct transfer, then), 0},
    {"at_callback", offsetof(struct transfer, at_callback), 0},
    {"at_progress_ms", 0, offsetof(struct transfer, at_progress_ms)},
    {"at_write", 0, offsetof(struct transfer, at_write)},
    {"refuse_write", 0, offsetof(struct transfer, refuse_write)},
    {"pause_header", 0, offsetof(struct transfer, pause_header)},
    {"pause_write", 0, offsetof(struct transfer, pause_write)},
    {"abort_progress_after_ms", 0, offsetof(struct transfer, abort_progress_after_ms)},
    {"abort_progress_call", 0, offsetof(struct transfer, abort_progress_call)},
};

static bool apply_setting(struct transfer *transfer, const char *name, const char *value)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		if (strcmp(settings[i].name, name) != 0)
			continue;
		settings[i].apply(transfer, settings[i].option, value);
		return true;
	}
	for (size_t i = 0; i < sizeof(behaviours) / sizeof(behaviours[0]); i++) {
		if (strcmp(behaviours[i].name, name) != 0)
			continue;
		if (behaviours[i].text_offset)
			*(const char **)(void *)((char *)transfer + behaviours[i].text_offset) = value;
		else
			*(long *)(void *)((char *)transfer + behaviours[i].number_offset) = strtol(value, NULL, 10);
		return true;
	}
	if (strcmp(name, "print_progress") != 0)
		return false;
	transfer->prints_progress = true;
	return true;
}

static void apply_argument(struct transfer *transfer, const char *argument)
{
	const char *equals = argument ? strchr(argument, '=') : NULL;
	char name[64] = "";
	if (equals && equals - argument < (ptrdiff_t)sizeof(name))
		memcpy(name, argument, (size_t)(equals - argument));
	if (!equals || !apply_setting(transfer, name, equals + 1)) {
		fprintf(stderr, "transfer: unknown option %s\n", argument);
		exit(99);
	}
}

/* Results. */

static const struct {
	const char *name;
	CURLINFO info;
} long_infos[] = {
    {"response_code", CURLINFO_RESPONSE_CODE},   {"connect_code", CURLINFO_HTTP_CONNECTCODE},
    {"redirect_count", CURLINFO_REDIRECT_COUNT}, {"header_size", CURLINFO_HEADER_SIZE},
    {"request_size", CURLINFO_REQUEST_SIZE},     {"num_connects", CURLINFO_NUM_CONNECTS},
    {"http_version", CURLINFO_HTTP_VERSION},     {"os_errno", CURLINFO_OS_ERRNO},
};

static void print_result(struct transfer *transfer, CURLcode result, int errno_after)
{
	printf("result %d %s\n", result, transfer->error_text);
	for (size_t i = 0; i < sizeof(long_infos) / sizeof(long_infos[0]); i++) {
		long value = -1;
		curl_easy_getinfo(transfer->curl, long_infos[i].info, &value);
		printf("info %s %ld\n", long_infos[i].name, value);
	}
	curl_off_t bytes = -1;
	curl_easy_getinfo(transfer->curl, CURLINFO_SIZE_DOWNLOAD_T, &bytes);
	printf("info size_download %ld\n", (long)bytes);
	char *text = NULL;
	curl_easy_getinfo(transfer->curl, CURLINFO_CONTENT_TYPE, &text);
	printf("info content_type %s\n", text ? text : "-");
	/* Not part of what is compared: it differs from run to run. */
	fprintf(stderr, "elapsed_ms %ld progress_calls %ld errno %d\n", since_begin_ms(transfer),
	        transfer->progress_calls, errno_after);
}

static void print_sink(struct transfer *transfer)
{
	char bytes[4096];
	rewind(transfer->sink);
	for (size_t count; (count = fread(bytes, 1, sizeof(bytes), transfer->sink)) > 0;)
		print_bytes("file", bytes, count);
}

static void perform(struct transfer *transfer)
{
	transfer->error_text[0] = '\0';
	transfer->header_calls = transfer->write_calls = transfer->progress_calls = 0;
	clock_gettime(CLOCK_MONOTONIC, &transfer->began);
	if (setjmp(jump_back) != 0) {
		puts("jumped out of perform");
		return;
	}
	errno = 0;
	CURLcode result = curl_easy_perform(transfer->curl);
	print_result(transfer, result, errno);
	if (!transfer->copy)
		return;
	result = curl_easy_perform(transfer->copy);
	printf("copy result %d\n", result);
	curl_easy_cleanup(transfer->copy);
	transfer->copy = NULL;
}

int main(int argc, char **argv)
{
	static struct transfer transfer;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2) {
		fprintf(stderr, "usage: transfer URL [option=value …] [-- option=value …]…\n");
		return 99;
	}
	curl_global_init(CURL_GLOBAL_ALL);
	transfer.curl = curl_easy_init();
	transfer.sink = tmpfile();
	curl_easy_setopt(transfer.curl, CURLOPT_URL, argv[1]);
	curl_easy_setopt(transfer.curl, CURLOPT_ERRORBUFFER, transfer.error_text);
	set_callbacks(&transfer, CURLOPT_WRITEFUNCTION, "both");
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			perform(&transfer);
		else
			apply_argument(&transfer, argv[i]);
	}
	perform(&transfer);
	print_sink(&transfer);
	curl_easy_cleanup(transfer.curl);
	if (transfer.mime) /* 7.56 and later */
		curl_mime_free(transfer.mime);
	curl_formfree(transfer.form);
	curl_slist_free_all(transfer.headers);
	curl_slist_free_all(transfer.proxy_headers);
	curl_slist_free_all(transfer.hosts);
	if (transfer.share)
		curl_share_cleanup(transfer.share);
	curl_global_cleanup();
	return 0;
}
