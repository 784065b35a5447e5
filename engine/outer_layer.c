/* SPDX-License-Identifier: MIT */

#include "engine/outer_layer.h"

#include <fnmatch.h>
#include <string.h>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/span.h"

#define CLASS(name) (UINT32_C(1) << ENGINE_CLASS_##name)
/* What a layer retries that doesn't ask which failure libcurl returned. */
#define TRANSPORT                                                                                                      \
	(CLASS(PROXY) | CLASS(RESOLVE) | CLASS(CONNECT) | CLASS(TLS) | CLASS(SEND) | CLASS(RECEIVE) | CLASS(EMPTY) |   \
	 CLASS(PARTIAL) | CLASS(HTTP2) | CLASS(TIMEOUT))

const struct outer_layer outer_layer_unknown = {CLASS(STATUS) | TRANSPORT, NULL};

static const int transient_statuses[] = {408, 429, 500, 502, 503, 504, 0};
static const int transient_without_408[] = {429, 500, 502, 503, 504, 0};
static const int transient_without_429[] = {408, 500, 502, 503, 504, 522, 524, 0};
static const int throttled_or_server_error[] = {429, 500, 502, 503, 504, 522, 524, 0};
static const int timeout_or_server_error[] = {408, 429, 500, 502, 503, 504, 522, 524, 0};
static const int server_error[] = {500, 502, 503, 504, 0};
static const int s3fs_statuses[] = {500, 503, 0};

bool outer_layer_retries(const struct outer_layer *layer, enum engine_class failure, int status)
{
	if ((layer->failures & (UINT32_C(1) << failure)) == 0)
		return false;
	if (failure != ENGINE_CLASS_STATUS || !layer->statuses)
		return true;
	for (const int *retried = layer->statuses; *retried != 0; retried++)
		if (*retried == status)
			return true;
	return false;
}

static uint64_t hash_of(struct span span)
{
	uint64_t hash = hash_fnv(span.text, span.bytes);

	return hash != 0 ? hash : 1;
}

static int number_at(struct span digits)
{
	int number = 0;

	for (size_t i = 0; i < digits.bytes && ascii_is_digit(digits.text[i]) && number < 100000; i++)
		number = number * 10 + (digits.text[i] - '0');
	return number;
}

/* The number after `name=` in "name=1; other=2"; -1: there is none. */
static int parameter(struct span value, const char *name)
{
	while (value.bytes > 0) {
		struct span item = span_trimmed(span_cut(&value, ";"));
		struct span number = span_after(item, ascii_prefix_bytes(item.text, item.bytes, name));
		if (number.bytes < item.bytes && number.bytes > 0 && ascii_is_digit(number.text[0]))
			return number_at(number);
	}
	return -1;
}

/* The rest of the first word that begins with `prefix`; no text: there is none. */
static struct span word_after(struct span value, const char *prefix)
{
	while (value.bytes > 0) {
		struct span word = span_cut(&value, " \t,");
		size_t prefix_bytes = ascii_prefix_bytes(word.text, word.bytes, prefix);
		if (prefix_bytes > 0)
			return span_after(word, prefix_bytes);
	}
	return (struct span){NULL, 0};
}

/* Whether a header's value says that its sender retries. */

static bool says_number(struct span value)
{
	return value.bytes > 0 && ascii_is_digit(value.text[0]);
}

static bool says_true(struct span value)
{
	return ascii_equals(value.text, value.bytes, "true");
}

static bool says_text(struct span value)
{
	return value.bytes > 0;
}

static bool says_attempt(struct span value)
{
	return parameter(value, "attempt=") >= 0;
}

/* Without max= the layer doesn't say how many attempts it makes. */
static bool says_several_attempts(struct span value)
{
	int most = parameter(value, "max=");

	return says_attempt(value) && (most < 0 || most > 1);
}

static bool says_one_attempt(struct span value)
{
	int most = parameter(value, "max=");

	return says_attempt(value) && most >= 0 && most <= 1;
}

static bool says_gccl_attempt(struct span value)
{
	return word_after(value, "gccl-attempt-count/").text || word_after(value, "gccl-invocation-id/").text;
}

static struct span gccl_invocation(struct span value)
{
	return word_after(value, "gccl-invocation-id/");
}

static struct span whole_value(struct span value)
{
	return value;
}

/* "stainless-LANGUAGE-retry-RANDOM" */
static struct span stainless_key(struct span value)
{
	size_t product_bytes = ascii_prefix_bytes(value.text, value.bytes, "stainless-");
	struct span rest = span_after(value, product_bytes);
	size_t language_bytes = span_until(rest, "-");

	if (product_bytes == 0 || language_bytes == 0)
		return (struct span){NULL, 0};
	rest = span_after(rest, language_bytes);
	return ascii_prefix_bytes(rest.text, rest.bytes, "-retry-") > 0 ? value : (struct span){NULL, 0};
}

static bool says_stainless_key(struct span value)
{
	return stainless_key(value).text != NULL;
}

struct known_header {
	const char *name;
	bool (*says_retry)(struct span value);
	struct span (*invocation)(struct span value); /* NULL: it has no id of the invocation */
	struct outer_layer layer;
	bool (*says_once)(struct span value); /* its sender makes one attempt only; NULL: the header never says so */
};

static const struct known_header known_headers[] = {
    /* aws-sdk-cpp, AWSClient.cpp (RequestInfo), CurlHttpClient.cpp (every failure of libcurl's is NETWORK_CONNECTION,
     * retryable), HttpResponse.h (IsRetryableHttpResponseCode). */
    {"amz-sdk-request", says_several_attempts, NULL, {CLASS(STATUS) | TRANSPORT, transient_statuses}, says_one_attempt},
    /* Likewise; sent along with max=1, too. */
    {"amz-sdk-invocation-id", says_text, whole_value, {CLASS(STATUS) | TRANSPORT, transient_statuses}, NULL},
    /* aws-sdk-php, RetryMiddleware.php (statuses 500 to 504 and connection errors; Guzzle calls these so) and
     * RetryHelperTrait.php (the header, only where retries are on). */
    {"aws-sdk-retry",
     says_number,
     NULL,
     {CLASS(STATUS) | CLASS(RESOLVE) | CLASS(CONNECT) | CLASS(TLS) | CLASS(EMPTY) | CLASS(TIMEOUT), server_error},
     NULL},
    {"aws-sdk-invocation-id",
     says_text,
     whole_value,
     {CLASS(STATUS) | CLASS(RESOLVE) | CLASS(CONNECT) | CLASS(TLS) | CLASS(EMPTY) | CLASS(TIMEOUT), server_error},
     NULL},
    /* google-cloud-php, Storage/src/Connection/Rest.php (updateRetryHeaders) and RetryTrait.php; google-cloud-go,
     * storage/invoke.go. Other clients send this header without such words. */
    {"x-goog-api-client", says_gccl_attempt, gccl_invocation, {CLASS(STATUS), transient_statuses}, NULL},
    /* google-cloud-cpp, storage/internal/connection_impl.cc, storage/retry_policy.h (StatusTraits), curl_handle.cc
     * (AsStatus). */
    {"x-goog-gcs-idempotency-token",
     says_text,
     whole_value,
     {CLASS(STATUS) | (TRANSPORT & ~(CLASS(PROXY) | CLASS(HTTP2))), transient_without_408},
     NULL},
    /* SDKs that Stainless generates (of OpenAI, Anthropic and others), BaseClient.php (sendRequest, shouldRetry). */
    {"x-stainless-retry-count", says_number, NULL, {CLASS(STATUS) | TRANSPORT, timeout_or_server_error}, NULL},
    /* Likewise (generateIdempotencyKey). Any other key says nothing of retries. */
    {"Idempotency-Key", says_stainless_key, stainless_key, {CLASS(STATUS) | TRANSPORT, timeout_or_server_error}, NULL},
    /* ve-tos-cpp-sdk, TosClientImpl.cc (checkShouldRetry, findInCanRetryCurlErr). attempt= counts retries here, so
     * that max=1 means one. */
    {"x-sdk-retry-count",
     says_attempt,
     NULL,
     {CLASS(STATUS) | CLASS(CONNECT) | CLASS(SEND) | CLASS(RECEIVE) | CLASS(EMPTY) | CLASS(PARTIAL) | CLASS(TIMEOUT),
      throttled_or_server_error},
     NULL},
    /* oci-java-sdk, RetryUtils.java (set by whether the client's retrier retries); oci-python-sdk, base_client.py;
     * oci-go-sdk, common/client.go. */
    {"opc-client-retries", says_true, NULL, {CLASS(STATUS), transient_without_408}, NULL},
};

/* Splits CURLOPT_HTTPHEADER's syntax; false for "Name:", which only takes a header of libcurl's own away. */
static bool split_header(const char *line, struct span *name, struct span *value)
{
	struct span whole = {line, strlen(line)};
	size_t name_bytes = span_until(whole, ":;");

	*name = span_trimmed((struct span){line, name_bytes});
	if (name->bytes == 0 || name_bytes == whole.bytes)
		return false;
	*value = span_trimmed(span_after(whole, name_bytes + 1));
	/* "Name;" is sent with an empty value; with more after it libcurl ignores the line. */
	return (line[name_bytes] == ';') == (value->bytes == 0);
}

static const char *name_in_policy(struct span name, const struct policy_list *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (ascii_equals(name.text, name.bytes, names->items[i]))
			return names->items[i];
	return NULL;
}

static struct outer_header read_known(const struct known_header *known, struct span value)
{
	struct outer_header header = {.name = known->name};

	if (known->says_retry(value))
		header.layer = &known->layer;
	header.once = known->says_once && known->says_once(value);
	if (known->invocation) {
		struct span id = known->invocation(value);
		header.invocation = id.bytes > 0 ? hash_of(id) : 0;
	}
	return header;
}

struct outer_header outer_layer_of_header(const char *line, const struct policy_list *names)
{
	struct span name, value;
	const char *wanted;

	if (!split_header(line, &name, &value) || !(wanted = name_in_policy(name, names)))
		return (struct outer_header){.name = NULL};
	for (size_t i = 0; i < sizeof known_headers / sizeof known_headers[0]; i++)
		if (ascii_equals(name.text, name.bytes, known_headers[i].name))
			return read_known(&known_headers[i], value);
	return (struct outer_header){.layer = &outer_layer_unknown, .name = wanted};
}

/* Programs and libraries that retry unless they are told not to. */
static const struct known_program {
	const char *glob;
	struct outer_layer layer;
} known_programs[] = {
    /* s3fs-fuse, src/curl.cpp (RequestPerform: 5 tries); what all releases since 1.87 retry. Like
     * freshclam it is none of the default's programs: both may well be told to try once. */
    {"s3fs",
     {CLASS(STATUS) | CLASS(RESOLVE) | CLASS(CONNECT) | CLASS(TLS) | CLASS(SEND) | CLASS(RECEIVE) | CLASS(EMPTY) |
          CLASS(PARTIAL) | CLASS(TIMEOUT),
      s3fs_statuses}},
    /* s3backer, http_io.c (http_io_perform_io: all but 304 and 404, for 30 s). */
    {"s3backer", {CLASS(STATUS) | TRANSPORT, NULL}},
    /* clamav, libfreshclam.c (3 tries after FC_ECONNECTION and FC_EFAILEDGET), libfreshclam_internal.c (downloadFile:
     * after 429 it stays away for hours). */
    {"freshclam", {CLASS(STATUS) | TRANSPORT, transient_without_429}},
    {"libfreshclam.so*", {CLASS(STATUS) | TRANSPORT, transient_without_429}},
    /* PROJ, src/networkfilemanager.cpp (GetNewRetryDelay; the failures of libcurl's that it retries it tells by their
     * texts). */
    {"libproj.so*", {CLASS(STATUS), transient_without_408}},
    /* syslog-ng, modules/http/http-worker.c (_flush_on_target, map_http_status_to_worker_status: 5xx). */
    {"syslog-ng", {CLASS(STATUS) | TRANSPORT, server_error}},
    /* uacme, curlwrap.c (curl_get, curl_post: 3 tries when libcurl fails, whatever the status). */
    {"uacme", {TRANSPORT, NULL}},
    /* dub, source/dub/internal/utils.d (retryDownload: 3 tries after all but 404). */
    {"dub", {CLASS(STATUS) | TRANSPORT, NULL}},
};

static bool fits_policy(const char *name, const struct policy_list *globs)
{
	for (size_t i = 0; i < globs->count; i++)
		if (fnmatch(globs->items[i], name, 0) == 0)
			return true;
	return false;
}

const struct outer_layer *outer_layer_of_program(const char *name, const struct policy_list *globs)
{
	if (!fits_policy(name, globs))
		return NULL;
	for (size_t i = 0; i < sizeof known_programs / sizeof known_programs[0]; i++)
		if (fnmatch(known_programs[i].glob, name, 0) == 0)
			return &known_programs[i].layer;
	return &outer_layer_unknown;
}
