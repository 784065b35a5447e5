/* SPDX-License-Identifier: MIT */
/* What a log may tell of a URL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "log/record.h"

#define PATH   POLICY_LOG_URL_PATH
#define ORIGIN POLICY_LOG_URL_ORIGIN
#define FULL   POLICY_LOG_URL_FULL_PATH
#define HASH   POLICY_LOG_URL_HASH

struct example {
	const char *url;
	enum policy_log_url detail;
	const char *told;
};

static const struct example EXAMPLES[] = {
    /* userinfo, query and fragment are never told */
    {"http://user:S3CRET@127.0.0.1:8080/p/ath?token=T0KEN&X-Amz-Signature=SIGN#frag", PATH,
     "http://127.0.0.1:8080/p/ath"},
    {"http://user@host/", PATH, "http://host/"},
    {"http://:pw@host", PATH, "http://host"},
    {"http://u:p@ss@host/x", PATH, "?"},
    {"http://u:p%40ss@host/x", PATH, "http://host/x"},
    {"http://u@evil:pw@host:1/x@y", PATH, "?"},
    {"user:pw@host/x", PATH, "http://host/x"},
    {"http://host?token=T0KEN", PATH, "http://host"},
    {"http://host#frag", PATH, "http://host"},
    {"http://host/a#f?r/ag", PATH, "http://host/a"},
    {"http://host/a?x@y/z", PATH, "http://host/a"},
    {"http://host/?u=http://a:b@c/", PATH, "http://host/"},
    {"http://u:p\\w@host/x", PATH, "http://host/x"},

    /* forms that libcurl takes */
    {"host", PATH, "http://host"},
    {"host:8080/path", PATH, "http://host:8080/path"},
    {"HTTPS://Host.Example./A", PATH, "https://host.example/A"},
    {"http:/host/x", PATH, "http://host/x"},
    {"http:///host/x", PATH, "http://host/x"},
    {"http://[::1]:8080/x", PATH, "http://[::1]:8080/x"},
    {"http://u:p@[fe80::1%25eth0]/x", PATH, "http://[fe80::1]/x"},
    {"http://[::ffff:1.2.3.4]/", PATH, "http://[::ffff:1.2.3.4]/"},
    {"http://host:/x", PATH, "http://host/x"},
    {"http://host:080/x", PATH, "http://host/x"},
    {"https://host:443/x", PATH, "https://host/x"},
    {"http://0x7f.1/x", PATH, "http://127.0.0.1/x"},
    {"http://b\xc3\xbc"
     "cher/x",
     PATH, "http://b%C3%BCcher/x"},
    {"http://ho%73t/x", PATH, "http://host/x"},
    {"http://host/a%20b/%2F", PATH, "http://host/a%20b/%2F"},

    /* what doesn't parse is not told at all */
    {"", PATH, "?"},
    {NULL, PATH, "?"},
    {"http://", PATH, "?"},
    {"http://user:S3/CRET@host/", PATH, "?"},
    {"http://user:S3?CRET@host/", PATH, "?"},
    {"http://user:S3#CRET@host/", PATH, "?"},
    {"http://user:pw%40host/", PATH, "?"},
    {"http://user%40host/", PATH, "?"},
    {"http://user%3Apw%40host/", PATH, "?"},
    {"http://user%00host/", PATH, "?"},
    {"http://host%4/", PATH, "?"},
    {"http://ho st/", PATH, "?"},
    {"http://ho\nst/", PATH, "?"},
    {"http://host:80x/", PATH, "?"},
    {"http://host:123456/", PATH, "?"},
    {"http://a:b:c/", PATH, "?"},
    {"http://[::1/", PATH, "?"},
    {"http://[::1]x/", PATH, "?"},
    {"http://[secret word]/", PATH, "?"},
    {"http://[]/", PATH, "?"},
    {"http:////host/", PATH, "?"},
    {"file:///etc/hosts", PATH, "?"},
    {"ftp://user:S3CRET@host/x", PATH, "?"},
    {"ftp.host/x", PATH, "?"},
    {"{\"token\":\"S3CRET\"}", PATH, "?"},

    /* control bytes, blanks and whatever is not ASCII are encoded */
    {"http://host/a\nb\x1b[31m\x7f c", PATH, "http://host/a%0Ab%1B[31m%7F%20c"},
    {"http://host/\xc3\xbc\xff", PATH, "http://host/%C3%BC%FF"},

    /* details */
    {"http://u:p@host:1/a/b?q", ORIGIN, "http://host:1"},
    {"host/a", ORIGIN, "http://host"},
    {"http://host/0123456789abcdef0123456789abcdef/x", PATH, "http://host/~30a283c2/x"},
    {"http://host/0123456789abcdef0123456789abcdef0/x", FULL, "http://host/0123456789abcdef0123456789abcdef0/x"},
    {"http://host", HASH, "http://host"},
    {"http://host//a//", PATH, "http://host//a//"},
};

static void tell(const char *text, enum policy_log_url detail, char *out, size_t out_bytes)
{
	struct url url;
	record_redact_url(url_read(text, "", &url) ? &url : NULL, detail, out, out_bytes);
}

static void urls_are_told_like_this(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(EXAMPLES) / sizeof(EXAMPLES[0]); i++) {
		char out[256];
		tell(EXAMPLES[i].url, EXAMPLES[i].detail, out, sizeof(out));
		if (strcmp(out, EXAMPLES[i].told) != 0)
			fail_msg("%s: told %s, expected %s", EXAMPLES[i].url, out, EXAMPLES[i].told);
	}
}

static void redact(const char *url, enum policy_log_url detail, char out[static 256])
{
	tell(url, detail, out, 256);
}

static const char *const ORDINARY_PATHS[] = {
    "/",
    "/index.html",
    "/v1/chat/completions",
    "/v1beta1/projects",
    "/apis/apps/v1alpha1/namespaces/default/pods",
    "/api/v2.0/users/42/orders/1000000001",
    "/2024-01-31/report.csv",
    "/2024/01/31/",
    "/20240131T235959Z.log",
    "/how-to-retry-http-requests-in-2024-without-harm",
    "/wiki/Exponential_backoff",
    "/de/Geschwindigkeitsbegrenzung",
    "/getUserById/HTTPServer/createOrUpdateV1beta2",
    "/XMLHttpRequest/IncomingWebhook",
    "/utf8mb4/x86_64/sha256sums",
    "/debian/pool/main/c/curl/libcurl4_7.88.1-10+deb12u5_amd64.deb",
    "/simple/manylinux2014_x86_64.whl",
    "/python3.11-1.2.3rc1.tar.gz",
    "/releases/download/v10.20.30-beta.4/tool_linux_arm64.zip",
    "/k8s/i18n/a11y/h264",
    "/blog/10-tips-for-2025",
    "/iphone-15-pro-max-256gb",
    "/M%C3%BCnchen/caf%C3%A9",
    "/en-US/docs/Web/HTTP/Status/503",
    "/health",
    "/.well-known/openid-configuration",
    "/oauth2/token",
    "/token/refresh",
    "/password/forgot",
    "/hooks/catch/123",
    "/users/me@example.org",
    "/a%20b",
    "/1.0/~/$metadata",
    "/Products(1)/Name",
    "/_bulk",
    "/q=1,2,3",
    "/index.php/rest/V1/products/24-MB01",
    "/search/kubernetes/serviceaccounttokenvolume",
    "/ServiceAccountTokenVolumeProjection",
    "/statuses/1234567890123456789",
    "/x/../y",
    "//",
    "/latest/meta-data/",
    "/en/latest/reference/api/numpy.lib.stride_tricks.html",
    "/ISO8601/RFC9110/UTF-8/EUR-USD",
    "/s3/b2b/p2p/mp3",
};

static void test_a16_ordinary_paths_stay_readable(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ORDINARY_PATHS) / sizeof(ORDINARY_PATHS[0]); i++) {
		char url[256], out[256];
		snprintf(url, sizeof(url), "http://h%s", ORDINARY_PATHS[i]);
		tell(url, PATH, out, sizeof(out));
		if (strcmp(out, url) != 0)
			fail_msg("%s: told %s", url, out);
	}
}

/* Of each the part that must not be told. */
static const struct {
	const char *path, *secret;
} SECRETS[] = {
    {"/services/T024BE7LD/B03KC5NK0DV/uQ3xKZ1yV7mJ8wPfT2aLcR9d", "uQ3x"},
    {"/api/webhooks/1012345678901234567/yG4vWc1_Zr8KpLq-0aXbTn5MdEjFuHsIo3B7R9kCfVxN2QwYiTgAmZlPzDhJeS6tUvOb", "yG4v"},
    {"/webhookb2/3f2504e0-4f89-11d3-9a0c-0305e82c3301@7d444840-9dc0-11d1-b245-5ffdce74fad2/IncomingWebhook/x", "3f25"},
    {"/bot123456:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/sendMessage", "AAHd"},
    {"/hooks/catch/123456/ab1cd2e/", "ab1cd2e"},
    {"/trigger/event/with/key/dK3nB_x2", "dK3n"},
    {"/integration/0123456789abcdef0123456789abcdef/enqueue", "0123"},
    {"/ping/5f9d2c1e-88a4-4b7e-9d3f-2a61c0b7e954", "5f9d"},
    {"/users/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjMifQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "eyJh"},
    {"/x/%65%79Jh%62GciOiJIUzI1NiJ9%2EeyJzdWIiOiIx", "GciO"},
    {"/a;jsessionid=S3CRET/b", "S3CRET"},
    {"/a;v=1;token=S3CRET", "S3CRET"},
    {"/a%3Bjsessionid=S3CRET/b", "S3CRET"},
    {"/;S3CRET", "S3CRET"},
    {"/proxy/http%3A%2F%2Fh%2Fx%3Fkey=S3CRET", "S3CRET"},
    {"/proxy/http://user:S3CRET@h/x", "S3CRET"},
    {"/proxy/http:%2F%2Fuser%3AS3CRET%40h", "S3CRET"},
    {"/token/S3CRET", "S3CRET"},
    {"/API-Keys/S3CRET", "S3CRET"},
    {"/reset/123456", "123456"},
    {"/unlock/AB12C-D3E4F-56GH7-8IJ9K", "AB12"},
    {"/AKIAIOSFODNN7EXAMPLE", "AKIA"},
    {"/ghp_16C7e42F292c6912E7710c838347Ae178B4a", "16C7"},
    {"/123456789012345678901234567890", "1234"},
    {"/abcdefghijklmnopqrstuvwxyzabcdefgh", "abcd"},
};

static void test_a16_secrets_in_paths_are_not_told(void **state)
{
	static const enum policy_log_url ALL[] = {PATH, ORIGIN, HASH};
	(void)state;
	for (size_t i = 0; i < sizeof(SECRETS) / sizeof(SECRETS[0]); i++) {
		for (size_t detail = 0; detail < sizeof(ALL) / sizeof(ALL[0]); detail++) {
			char url[256], out[256];
			snprintf(url, sizeof(url), "https://h%s", SECRETS[i].path);
			tell(url, ALL[detail], out, sizeof(out));
			if (strstr(out, SECRETS[i].secret) || strncmp(out, "https://h", 9) != 0)
				fail_msg("%s: told %s", url, out);
		}
	}
	char out[256];
	tell("http://h/a;jsessionid=1/b;c", FULL, out, sizeof(out));
	assert_string_equal(out, "http://h/a/b");
}

/* Tokens of many kinds, drawn by lot. */

static uint64_t random_state = 20261201;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random_state >> 33) % limit;
}

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static const struct token_kind {
	const char *form; /* "*": a character of the alphabet */
	const char *alphabet;
	int told_max; /* of a thousand */
} TOKEN_KINDS[] = {
    {"****************", DIGITS "abcdef", 0},                 /* 64 bits in hexadecimal */
    {"********************************", DIGITS "abcdef", 0}, /* 128 bits */
    {"********************************", DIGITS "ABCDEF", 0},
    {"****************************************", DIGITS "abcdef", 0},   /* SHA-1 */
    {"********-****-4***-a***-************", DIGITS "abcdef", 0},       /* UUID */
    {"************************", LOWER UPPER DIGITS, 1},                /* Slack */
    {"**********************************", LOWER UPPER DIGITS "-_", 1}, /* Telegram */
    {"**********************", LOWER UPPER DIGITS "-_", 8},             /* 128 bits in base64url */
    {"*******************************************", LOWER UPPER DIGITS "-_", 1},
    {"*********************", LOWER UPPER DIGITS "-_", 8}, /* nanoid */
    {"****************", LOWER UPPER DIGITS, 8},
    {"**************************", LOWER DIGITS, 3},                    /* Mattermost */
    {"**************************", DIGITS "ABCDEFGHJKMNPQRSTVWXYZ", 3}, /* ULID */
    {"AKIA****************", UPPER "234567", 12},                       /* AWS */
    {"********************************", UPPER "234567", 1},            /* base32 */
    {"************************", LOWER UPPER, 6},
    {"********************", LOWER, 25},
    {"ghp_************************************", LOWER UPPER DIGITS, 1},
    {"sk_live_************************", LOWER UPPER DIGITS, 1},
    {"eyJhbGciOiJIUzI1NiJ9.*******************************************", LOWER UPPER DIGITS "-_", 0},
    {"SG.**********************.*******************************************", LOWER UPPER DIGITS "-_", 0},
    {"*****-*****-*****-*****-*****", UPPER DIGITS, 60}, /* license keys */
};

static void make_token(const struct token_kind *kind, char token[static 128])
{
	size_t bytes = 0;
	for (; kind->form[bytes]; bytes++)
		token[bytes] = kind->form[bytes] != '*'
		                   ? kind->form[bytes]
		                   : kind->alphabet[random_below((uint32_t)strlen(kind->alphabet))];
	token[bytes] = '\0';
}

static void test_a16_tokens_are_hashed_whatever_their_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(TOKEN_KINDS) / sizeof(TOKEN_KINDS[0]); i++) {
		int told = 0;
		for (int round = 0; round < 1000; round++) {
			char url[256], out[256], token[128];
			make_token(&TOKEN_KINDS[i], token);
			snprintf(url, sizeof(url), "http://h/v1/%s/x", token);
			tell(url, PATH, out, sizeof(out));
			told += strstr(out, token) != NULL;
		}
		if (told > TOKEN_KINDS[i].told_max)
			fail_msg("%s of %s: %d of 1000 told", TOKEN_KINDS[i].form, TOKEN_KINDS[i].alphabet, told);
	}
}

static void long_segments_become_hashes_that_tell_them_apart(void **state)
{
	(void)state;
	char first[256], again[256], other[256];
	redact("http://host/hook/T0KEN0123456789abcdef0123456789abc/x", PATH, first);
	redact("http://host/hook/T0KEN0123456789abcdef0123456789abc/x?q", PATH, again);
	redact("http://host/hook/T0KEN0123456789abcdef0123456789abd/x", PATH, other);
	assert_null(strstr(first, "T0KEN"));
	assert_int_equal(strlen(first), strlen("http://host/hook/~01234567/x"));
	assert_memory_equal(first, "http://host/hook/~", 18);
	assert_string_equal(first + 26, "/x");
	assert_string_equal(first, again);
	assert_string_not_equal(first, other);
}

static void a_hashed_path_tells_nothing_but_equality(void **state)
{
	(void)state;
	char first[256], again[256], other[256];
	redact("http://host/a/b?x=1", HASH, first);
	redact("http://u@host/a/b?x=2", HASH, again);
	redact("http://host/a/c", HASH, other);
	assert_int_equal(strlen(first), strlen("http://host/~01234567"));
	assert_string_equal(first, again);
	assert_string_not_equal(first, other);
}

static void any_room_is_enough(void **state)
{
	(void)state;
	static const char URL[] = "http://user:S3CRET@host.example:8080/some/path/that/is/long?T0KEN";
	for (size_t room = 0; room < 64; room++) {
		char out[80];
		memset(out, 'Z', sizeof(out));
		tell(URL, PATH, out, room);
		for (size_t i = room; i < sizeof(out); i++)
			assert_int_equal(out[i], 'Z');
		if (room)
			assert_non_null(memchr(out, '\0', room));
		if (room > 4 && room < strlen("http://host.example:8080/some/path/that/is/long") + 1)
			assert_non_null(strstr(out, "\xe2\x80\xa6"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(urls_are_told_like_this),
	    cmocka_unit_test(test_a16_ordinary_paths_stay_readable),
	    cmocka_unit_test(test_a16_secrets_in_paths_are_not_told),
	    cmocka_unit_test(test_a16_tokens_are_hashed_whatever_their_kind),
	    cmocka_unit_test(long_segments_become_hashes_that_tell_them_apart),
	    cmocka_unit_test(a_hashed_path_tells_nothing_but_equality),
	    cmocka_unit_test(any_room_is_enough),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
