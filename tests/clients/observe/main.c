/* SPDX-License-Identifier: MIT */

/*
 * Everything a program can see of a transfer, for the differential harness (tests/e2e/test_differential.py).
 *
 *     observe URL [name=value …]
 *
 * performs the described transfer, then two more on the same handle that show which options are in force: one to the
 * URL `again`, and one to the URL `multi` through the multi interface, which nobody stands in front of. For each it
 * prints a section of streams (what came through the header and write callbacks is one sequence, and so are the
 * debug callback's two directions, read and seek), then the result, the error buffer and info values. Consecutive
 * bytes of a kind are joined: how a network cuts them is chance.
 *
 * `observe --features` prints which of the optional features this libcurl has.
 */

#include <stdlib.h>
#include <string.h>

#include "tests/clients/observe/observe.h"

static const struct {
	const char *name;
	CURLoption option;
} options[] = {
    {"header", CURLOPT_HEADER},
    {"failonerror", CURLOPT_FAILONERROR},
    {"follow", CURLOPT_FOLLOWLOCATION},
    {"maxredirs", CURLOPT_MAXREDIRS},
    {"httpauth", CURLOPT_HTTPAUTH},
    {"userpwd", CURLOPT_USERPWD},
    {"encoding", CURLOPT_ACCEPT_ENCODING},
    {"http_version", CURLOPT_HTTP_VERSION},
    {"proxy", CURLOPT_PROXY},
    {"proxytunnel", CURLOPT_HTTPPROXYTUNNEL},
    {"timeout_ms", CURLOPT_TIMEOUT_MS},
};

static bool set_by_name(struct transfer *transfer, const char *name, const char *value)
{
	const struct {
		const char *name, **text;
	} texts[] = {{"method", &transfer->method},   {"body", &transfer->body},       {"file", &transfer->file_path},
	             {"again", &transfer->again_url}, {"multi", &transfer->multi_url}, {"pause", &transfer->pause}};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strcmp(texts[i].name, name) == 0) {
			*texts[i].text = value;
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (strcmp(options[i].name, name) != 0)
			continue;
		bool is_long = options[i].option < CURLOPTTYPE_OBJECTPOINT;
		if (is_long)
			curl_easy_setopt(transfer->curl, options[i].option, strtol(value, NULL, 10));
		else
			curl_easy_setopt(transfer->curl, options[i].option, value);
		return true;
	}
	if (strcmp(name, "delivery") != 0)
		return false;
	set_delivery(transfer, value);
	return true;
}

static void set_defaults(struct transfer *transfer, const char *url)
{
	CURL *curl = transfer->curl;
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->error_text);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
	set_watchers(transfer);
}

static const struct {
	const char *name;
	CURLINFO info;
} infos[] = {
    {"response_code", CURLINFO_RESPONSE_CODE},     {"connect_code", CURLINFO_HTTP_CONNECTCODE},
    {"redirect_count", CURLINFO_REDIRECT_COUNT},   {"header_size", CURLINFO_HEADER_SIZE},
    {"request_size", CURLINFO_REQUEST_SIZE},       {"num_connects", CURLINFO_NUM_CONNECTS},
    {"http_version", CURLINFO_HTTP_VERSION},       {"httpauth_avail", CURLINFO_HTTPAUTH_AVAIL},
    {"content_type", CURLINFO_CONTENT_TYPE},       {"effective_url", CURLINFO_EFFECTIVE_URL},
    {"redirect_url", CURLINFO_REDIRECT_URL},       {"effective_method", CURLINFO_EFFECTIVE_METHOD},
    {"size_download", CURLINFO_SIZE_DOWNLOAD},     {"size_upload", CURLINFO_SIZE_UPLOAD},
    {"length", CURLINFO_CONTENT_LENGTH_DOWNLOAD},  {"upload_length", CURLINFO_CONTENT_LENGTH_UPLOAD},
    {"condition_unmet", CURLINFO_CONDITION_UNMET},
};

static void print_info(CURL *curl, const char *name, CURLINFO info)
{
	long number = 0;
	double real = 0;
	char *text = NULL;
	switch (info & CURLINFO_TYPEMASK) {
	case CURLINFO_LONG:
		curl_easy_getinfo(curl, info, &number);
		printf("%s %ld\n", name, number);
		break;
	case CURLINFO_DOUBLE:
		curl_easy_getinfo(curl, info, &real);
		printf("%s %.0f\n", name, real);
		break;
	default:
		curl_easy_getinfo(curl, info, &text);
		printf("%s %s\n", name, text ? text : "-");
		break;
	}
}

static void print_result(struct transfer *transfer, CURLcode result)
{
	streams_print(transfer->streams);
	printf("# result\ncode %d\nerror %s\n# progress\n%s\n# info\n", result, transfer->error_text,
	       transfer->progress_text);
	for (size_t i = 0; i < sizeof(infos) / sizeof(infos[0]); i++)
		print_info(transfer->curl, infos[i].name, infos[i].info);
	fflush(stdout); /* what was seen until then, if the next transfer never ends */
}

static void begin_section(struct transfer *transfer, const char *name)
{
	printf("## %s\n", name);
	transfer->error_text[0] = transfer->progress_text[0] = '\0';
	rewind_upload(transfer);
	streams_open(transfer->streams);
}

static void perform(struct transfer *transfer, const char *section)
{
	begin_section(transfer, section);
	print_result(transfer, curl_easy_perform(transfer->curl));
	if (transfer->file)
		printf("# file\noffset %ld\n", ftell(transfer->file));
}

/*
 * The same handle where only libcurl sees it. CURLOPT_TIMEOUT has no getter, but libcurl keeps a timer for it: the
 * longest time that it ever asks to be left alone, in tens of seconds.
 */
static void perform_by_multi(struct transfer *transfer)
{
	CURLM *multi = curl_multi_init();
	CURLcode result = CURLE_OK;
	long longest_ms = -1;
	begin_section(transfer, "multi");
	curl_multi_add_handle(multi, transfer->curl);
	for (int running = 1; running;) {
		long timeout_ms = -1;
		curl_multi_perform(multi, &running);
		curl_multi_timeout(multi, &timeout_ms);
		longest_ms = timeout_ms > longest_ms ? timeout_ms : longest_ms;
		if (running)
			curl_multi_wait(multi, NULL, 0, 50, NULL);
	}
	int left;
	const CURLMsg *message = curl_multi_info_read(multi, &left);
	if (message)
		result = message->data.result;
	print_result(transfer, result);
	/* Else the timers of connecting were there until the end. */
	if (longest_ms > 10000)
		printf("# timer\ntens_of_seconds %ld\n", (longest_ms + 9999) / 10000);
	curl_multi_remove_handle(multi, transfer->curl);
	curl_multi_cleanup(multi);
}

static int print_features(void)
{
	const curl_version_info_data *version = curl_version_info(CURLVERSION_NOW);
	printf("version %s\n", version->version);
	if (version->features & CURL_VERSION_SSL)
		puts("tls");
	if (version->features & CURL_VERSION_HTTP2)
		puts("http2");
	if (version->features & CURL_VERSION_LIBZ)
		puts("gzip");
	if (version->version_num >= 0x073800)
		puts("mime");
	return 0;
}

static void clean_up(struct transfer *transfer)
{
	curl_easy_cleanup(transfer->curl);
	if (transfer->mime) /* 7.56 and later */
		curl_mime_free(transfer->mime);
	curl_formfree(transfer->form);
	curl_slist_free_all(transfer->headers);
	free(transfer->memory);
	if (transfer->file)
		fclose(transfer->file);
	curl_global_cleanup();
}

int main(int argc, char **argv)
{
	static struct transfer transfer = {.method = "GET", .body = "none"};
	if (argc < 2) {
		fprintf(stderr, "usage: observe URL [name=value …] | --features\n");
		return 99;
	}
	curl_global_init(CURL_GLOBAL_ALL);
	if (strcmp(argv[1], "--features") == 0)
		return print_features();
	transfer.curl = curl_easy_init();
	set_defaults(&transfer, argv[1]);
	for (int i = 2; i < argc; i++) {
		char *equals = strchr(argv[i], '=');
		if (equals)
			*equals = '\0';
		if (!equals || !set_by_name(&transfer, argv[i], equals + 1)) {
			fprintf(stderr, "observe: unknown option %s\n", argv[i]);
			return 99;
		}
	}
	if (!set_request(&transfer)) {
		fprintf(stderr, "observe: unknown body %s\n", transfer.body);
		return 99;
	}
	perform(&transfer, "first");
	if (transfer.again_url) {
		curl_easy_setopt(transfer.curl, CURLOPT_URL, transfer.again_url);
		perform(&transfer, "again");
	}
	if (transfer.multi_url) {
		curl_easy_setopt(transfer.curl, CURLOPT_URL, transfer.multi_url);
		perform_by_multi(&transfer);
	}
	clean_up(&transfer);
	return 0;
}
