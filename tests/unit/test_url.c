/* SPDX-License-Identifier: MIT */
/*
 * One reader of URLs, and libcurl's own beside it: whatever libcurl makes of a URL, we make of it, and so do matching,
 * origins and logs; where it refuses one, so do we. And those four say the same of it, however it is spelled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/url.h"
#include "config/match.h"
#include "log/record.h"
#include "tests/unit/test_policy_support.h"

struct example {
	const char *text, *default_protocol;
	const char *origin; /* as it is told; NULL: not read, or not HTTP */
};

static const struct example EXAMPLES[] = {
    /* the scheme: given, by default, guessed */
    {"http://h", "", "http://h"},
    {"HTTPS://H", "", "https://h"},
    {"h", "", "http://h"},
    {"h", "https", "https://h"},
    {"h", "HTTPS", "https://h"},
    {"h:443/x", "https", "https://h"},
    {"h:80/x", "https", "https://h:80"},
    {"u:p@h", "https", "https://h"},
    {"http://h", "https", "http://h"},
    {"https://h", "ftp", "https://h"},
    {"h", "ftp", NULL},
    {"h", "?", NULL},
    {"h", "http://x", NULL},
    {"h", "file", NULL},
    {"FTP.h", "", NULL},
    {"ftp.h", "http", "http://ftp.h"},
    {"http://ftp.h", "", "http://ftp.h"},
    {"u@ftp.h", "", NULL},
    {"dict.h", "", NULL},
    {"dict.", "", NULL},
    {"ldap.h", "", NULL},
    {"imap.h", "", NULL},
    {"smtp.h", "", NULL},
    {"pop3.h", "", NULL},
    {"ftps.h", "", "http://ftps.h"},
    {"ftp", "", "http://ftp"},
    {"ftp://h", "", NULL},
    {"gopher://h", "", NULL},
    {"mailto:a@h", "", "http://h"}, /* a user and a password */
    {"http:h", "", NULL},
    {"1http://h", "http", NULL},
    {"h:/x", "", NULL},
    {"file:///x", "", NULL},
    {"file://localhost/x", "", NULL},

    /* slashes */
    {"http:/h", "", "http://h"},
    {"http:///h", "", "http://h"},
    {"http:////h", "", NULL},
    {"//h", "", NULL},
    {"/h", "", NULL},
    {"/h", "https", "https://h"},
    {"//h", "https", NULL},
    {"http:\\\\h", "", NULL},
    {"http://\\h", "", NULL},
    {"http://h\\x/", "", NULL},
    {"http://a\\@h/", "", "http://h"},

    /* userinfo */
    {"http://u:p:q@h", "", "http://h"},
    {"http://@h", "", "http://h"},
    {"http://u@", "", NULL},
    {"http://u@v@h", "", NULL},
    {"http://u%40v@h", "", "http://h"},
    {"http://u v@h", "", NULL},

    /* blanks and control bytes round it and in it */
    {" http://h", "", NULL},
    {"\thttp://h", "", NULL},
    {"http://h ", "", NULL},
    {"http://h\r\n", "", NULL},
    {"http://h\x7f", "", NULL},
    {"", "", NULL},
    {"http://", "", NULL},
    {"http://?", "", NULL},

    /* hosts */
    {"http://h.", "", "http://h"},
    {"http://h..", "", NULL},
    {"http://.", "", NULL},
    {"http://h_a-b", "", "http://h_a-b"},
    {"http://%48", "", "http://h"},
    {"http://h%2Fx", "", NULL},
    {"http://h%00", "", NULL},
    {"http://h%", "", NULL},
    {"http://h,g", "", NULL},
    {"http://b\xc3\xbc", "", "http://b%C3%BC"},
    {"http://b%c3%bc", "", "http://b%C3%BC"},
    {"http://xn--b-xga", "", "http://xn--b-xga"},

    /* addresses */
    {"http://127.1", "", "http://127.0.0.1"},
    {"http://0x7F.0.0.1", "", "http://127.0.0.1"},
    {"http://0177.1", "", "http://127.0.0.1"},
    {"http://2130706433", "", "http://127.0.0.1"},
    {"http://0x7f000001.", "", "http://127.0.0.1"},
    {"http://4294967296", "", "http://4294967296"},
    {"http://127.0.0.256", "", "http://127.0.0.256"},
    {"http://127.0.0.08", "", "http://127.0.0.08"},
    {"http://1.2.3.4.5", "", "http://1.2.3.4.5"},
    {"http://[::1]", "", "http://[::1]"},
    {"http://[0:0::0:1]:80", "", "http://[::1]"},
    {"http://[FE80::1%25eth0]", "", "http://[fe80::1]"},
    {"http://[fe80::1%eth0]:81", "", "http://[fe80::1]:81"},
    {"http://[fe80::1%]", "", NULL},
    {"http://[::1", "", NULL},
    {"http://[::1]x", "", NULL},
    {"http://[h]", "", NULL},
    {"http://::1", "", NULL},

    /* ports */
    {"http://h:", "", "http://h"},
    {"h:", "", NULL},
    {"h:", "https", "https://h"},
    {"http://h:0", "", "http://h:0"},
    {"http://h:00080", "", "http://h"},
    {"http://h:65535", "", "http://h:65535"},
    {"http://h:65536", "", NULL},
    {"http://h:18446744073709551696", "", NULL},
    {"http://h:-1", "", NULL},
    {"http://h:+1", "", NULL},
    {"http://h:1 ", "", NULL},
    {"http://h:1:2", "", NULL},
};

static const char *origin_of(const char *text, const char *default_protocol, char out[static 300])
{
	struct url url;
	if (!url_read(text, default_protocol, &url) || !url_is_http(&url))
		return NULL;
	record_redact_url(&url, POLICY_LOG_URL_ORIGIN, out, 300);
	return out;
}

static void test_h14_urls_are_read_like_this(void **state)
{
	char origin[300];

	(void)state;
	for (size_t i = 0; i < sizeof(EXAMPLES) / sizeof(EXAMPLES[0]); i++) {
		const struct example *example = &EXAMPLES[i];
		const char *seen = origin_of(example->text, example->default_protocol, origin);
		if ((seen == NULL) != (example->origin == NULL) || (seen && strcmp(seen, example->origin) != 0))
			fail_msg("%s (default %s): %s, expected %s", example->text, example->default_protocol,
			         seen ? seen : "(not read)", example->origin ? example->origin : "(not read)");
	}
}

static void test_h14_parts_are_parts_of_the_text(void **state)
{
	static const char TEXT[] = "http://u:p@[fe80::1%25eth0]:81/a/b?c=d?e#f#g";
	struct url url;

	(void)state;
	assert_true(url_read(TEXT, "", &url));
#define assert_part(part, expected)                                                                                    \
	do {                                                                                                           \
		assert_int_equal(url.part.bytes, strlen(expected));                                                    \
		assert_memory_equal(url.part.text, expected, strlen(expected));                                        \
		assert_in_range((uintptr_t)url.part.text, (uintptr_t)TEXT, (uintptr_t)TEXT + sizeof(TEXT));            \
	} while (0)
	assert_part(scheme, "http");
	assert_part(userinfo, "u:p");
	assert_part(authority, "[fe80::1%25eth0]:81");
	assert_part(zone, "eth0");
	assert_part(path, "/a/b");
	assert_part(query, "c=d?e");
	assert_part(fragment, "f#g");
	assert_int_equal(url.port, 81);
	assert_int_equal(url.host_kind, URL_HOST_IPV6);

	assert_true(url_read("h", "", &url));
	assert_null(url.scheme.text);
	assert_null(url.userinfo.text);
	assert_null(url.path.text);
	assert_null(url.query.text);
	assert_null(url.fragment.text);
	assert_true(url_read("h?", "", &url));
	assert_non_null(url.query.text);
	assert_int_equal(url.query.bytes, 0);
}

/* Generated URLs, of pieces that were chosen to mislead. */

static uint64_t random_state = 20261201;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random_state >> 33) % limit;
}

#define PICK(pieces) (pieces)[random_below(sizeof(pieces) / sizeof((pieces)[0]))]

static const char *const SCHEMES[] = {"http://",  "http://",  "https://",  "HTTP://", "hTTps://", "http:/",
                                      "http:///", "http:",    "http:////", "",        "",         "",
                                      "//",       "/",        "ftp://",    "foo://",  "file://",  "x-y.z+1://",
                                      ":",        " http://", "http:\\\\"};
static const char *const USERS[] = {"",       "",       "",     "",     "u@",   "u:p@",  "u:p:q@", "@",         ":@",
                                    "u%40x@", "u:p@v@", "a/b@", "a?b@", "a#b@", "a\\b@", "u;o@",   "\xc3\xbc@", "u u@"};
static const char *const HOSTS[] = {
    "h",
    "Host.Example",
    "a.b.c",
    "h.",
    "ftp.x",
    "DICT.x",
    "ldap.x",
    "imap.x",
    "smtp.x",
    "pop3.x",
    "ftp",
    "www.ftp.x",
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "0177.0.0.1",
    "1",
    "4294967295",
    "4294967296",
    "256.1.1.1",
    "1.2.3.4.5",
    "1.2.3",
    "1.2.65536",
    "0x",
    "0x7g",
    "08.1",
    "1.",
    "[::1]",
    "[0::1]",
    "[::ffff:1.2.3.4]",
    "[fe80::1%25eth0]",
    "[fe80::1%eth0]",
    "[::1",
    "::1",
    "[]",
    "[h]",
    "[::g]",
    "[1::2::3]",
    "xn--b-xga",
    "b\xc3\xbc",
    "%68ost",
    "h%2ex",
    "h%2fx",
    "h%0ax",
    "h_x",
    "h-",
    "-h",
    "h!x",
    "h;x",
    "h x",
    "h\x01",
    "h'x",
    "h\\x",
    "{h}",
    "h*",
    "",
};
static const char *const PORTS[] = {"",       "",     "",      "",      ":",
                                    ":80",    ":443", ":8080", ":0080", ":65535",
                                    ":65536", ":1x",  ":x",    ":-1",   ":99999999999999999999",
                                    ":0x50",  ": 80"};
static const char *const PATHS[] = {"",         "",         "/",     "/a/b",    "/a/../b", "/./a",
                                    "/a/..",    "/../../x", "/a//b", "/%2e%2f", "/a@b:c",  "/x;y=z",
                                    "//host/x", "/a/.../b", "/a/./", "/..a/b.."};
static const char *const TAILS[] = {"", "", "", "?", "?q=1", "?u=http://x@y/", "#", "#f", "?q#f", "#f?q", "?a?b#c#d"};
static const char *const DEFAULTS[] = {"", "", "", "", "http", "https", "HTTPS", "ftp", "file"};

static void make_url(char text[static 256])
{
	const char *pieces[] = {PICK(SCHEMES), PICK(USERS), PICK(HOSTS), PICK(PORTS), PICK(PATHS), PICK(TAILS)};
	text[0] = '\0';
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		strcat(text, pieces[i]);
	/* And some that nobody would think of. */
	size_t length = strlen(text);
	if (length > 0 && random_below(4) == 0)
		text[random_below((uint32_t)length)] = "/:@?#[]%.\\x1 "[random_below(13)];
}

/* As libcurl asks itself: parseurlandfillconn() in its lib/url.c. */
static bool ask_libcurl(CURLU *reader, const char *text, const char *default_protocol)
{
	char whole[300];
	size_t scheme_bytes = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
	bool is_absolute = scheme_bytes > 0 && strncmp(text + scheme_bytes, ":/", 2) == 0;
	bool has_default = default_protocol[0] && !is_absolute;
	snprintf(whole, sizeof(whole), "%s%s%s", has_default ? default_protocol : "", has_default ? "://" : "", text);
	return curl_url_set(reader, CURLUPART_URL, whole, CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
}

static void get_part(CURLU *reader, CURLUPart part, unsigned flags, char out[static 300])
{
	char *text = NULL;
	snprintf(out, 300, "%s", curl_url_get(reader, part, &text, flags) == CURLUE_OK ? text : "");
	curl_free(text);
}

/* The host's one spelling, by other means than ours. */
static void normalize_host(char host[static 300])
{
	struct in_addr address;
	struct in6_addr address6;
	size_t length = strlen(host);
	for (size_t i = 0; i < length; i++)
		host[i] = host[i] >= 'A' && host[i] <= 'Z' ? (char)(host[i] | 0x20) : host[i];
	if (length > 0 && host[length - 1] == '.')
		host[--length] = '\0';
	if (length > 0 && host[0] >= '0' && host[0] <= '9' && inet_aton(host, &address))
		inet_ntop(AF_INET, &address, host, 300);
	if (host[0] != '[')
		return;
	host[length - 1] = '\0';
	assert_int_equal(inet_pton(AF_INET6, host + 1, &address6), 1);
	inet_ntop(AF_INET6, &address6, host + 1, 298);
	strcat(host, "]");
}

/* Before 7.86 libcurl let through what no resolver knows, guessed by the userinfo and left hosts undecoded. */
static bool is_strict(void)
{
	return curl_version_info(CURLVERSION_NOW)->version_num >= 0x075600;
}

/* What some version of libcurl takes and another refuses, or takes for a name that no resolver knows: we refuse it. */
static bool is_disputed(const char *text, const char *host)
{
	size_t length = strlen(host);
	return strchr("0123456789+-.", text[0]) || strpbrk(host, "%|&+\x7f") || strcmp(host, ".") == 0 ||
	       (length > 1 && strcmp(host + length - 2, "..") == 0);
}

/* Blanks and control bytes behind the authority are libcurl's to refuse. */
static bool has_bad_tail(const struct url *url)
{
	const char *at = url->authority.text + url->authority.bytes;
	for (; *at; at++)
		if ((unsigned char)*at <= 0x20 || *at == 0x7f)
			return true;
	return false;
}

struct pair {
	const char *text;
	CURLU *reader;
	const struct url *url;
};

static void compare_part(const struct pair *pair, CURLUPart part, struct span ours)
{
	char theirs[300];
	get_part(pair->reader, part, 0, theirs);
	if (strlen(theirs) != ours.bytes || memcmp(theirs, ours.text ? ours.text : "", ours.bytes) != 0)
		fail_msg("%s: part %d is %.*s, libcurl says %s", pair->text, (int)part, (int)ours.bytes, ours.text,
		         theirs);
}

static void compare_path(const struct pair *pair)
{
	char theirs[300], ours[300];
	get_part(pair->reader, CURLUPART_PATH, 0, theirs);
	assert_true(url_path(pair->url, ours, sizeof(ours)) > 0);
	if (strcmp(theirs, ours) != 0)
		fail_msg("%s: path %s, libcurl says %s", pair->text, ours, theirs);
}

/* Matching, origin and log all tell what libcurl tells. */
static void compare_readers(const struct pair *pair, const struct policy *policy)
{
	char scheme[300], host[300], port[300], expected[1000], told[1000];
	get_part(pair->reader, CURLUPART_SCHEME, 0, scheme);
	get_part(pair->reader, CURLUPART_HOST, 0, host);
	get_part(pair->reader, CURLUPART_PORT, CURLU_DEFAULT_PORT, port);
	normalize_host(host);
	bool is_https = strcasecmp(scheme, "https") == 0;
	bool is_http = is_https || strcasecmp(scheme, "http") == 0;
	if (is_http != url_is_http(pair->url))
		fail_msg("%s: is %sHTTP, libcurl says %s", pair->text, is_http ? "not " : "", scheme);
	if (!is_http)
		return;
	if (strcmp(host, pair->url->host) != 0 || atoi(port) != pair->url->port)
		fail_msg("%s: %s:%d, libcurl says %s:%s", pair->text, pair->url->host, pair->url->port, host, port);

	const char *section = policy_select(policy, pair->url)->name;
	if (strcmp(section, is_https ? "secure" : atoi(port) == 8080 ? "port" : "plain") != 0)
		fail_msg("%s: gets [upstream %s]", pair->text, section);

	bool has_port = atoi(port) != (is_https ? 443 : 80);
	snprintf(expected, sizeof(expected), "%s://%s%s%s", is_https ? "https" : "http", host, has_port ? ":" : "",
	         has_port ? port : "");
	record_redact_url(pair->url, POLICY_LOG_URL_ORIGIN, told, sizeof(told));
	if (strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-._[:]!;~") == strlen(host) &&
	    strcmp(told, expected) != 0)
		fail_msg("%s: told as %s, expected %s", pair->text, told, expected);
}

static void compare(const char *text, const char *default_protocol, const struct policy *policy, int *read_by_both)
{
	CURLU *reader = curl_url();
	struct url url;
	bool theirs = ask_libcurl(reader, text, default_protocol);
	bool ours = url_read(text, default_protocol, &url);
	struct pair pair = {text, reader, &url};
	char scheme[300], host[300];

	get_part(reader, CURLUPART_SCHEME, 0, scheme);
	get_part(reader, CURLUPART_HOST, 0, host);
	if (!is_strict() && (!ours || !theirs || !url_is_http(&url) || strchr(host, '%')))
		theirs = ours = false;
	if (theirs && !ours && strcasecmp(scheme, "file") != 0 && !is_disputed(text, host))
		fail_msg("%s (default %s): libcurl reads it, we don't", text, default_protocol);
	if (ours && !theirs && !has_bad_tail(&url) && url_is_http(&url))
		fail_msg("%s (default %s): we read it, libcurl doesn't", text, default_protocol);
	if (ours && theirs) {
		compare_readers(&pair, policy);
		compare_part(&pair, CURLUPART_QUERY, url.query);
		compare_part(&pair, CURLUPART_FRAGMENT, url.fragment);
		compare_path(&pair);
		*read_by_both += url_is_http(&url);
	}
	curl_url_cleanup(reader);
}

static void test_h14_libcurl_reads_the_same(void **state)
{
	const struct policy *policy = load_text("[upstream secure]\nmatch = https://*\n"
	                                        "[upstream port]\nmatch = *:8080\n"
	                                        "[upstream plain]\nmatch = http://*/*\n");
	char text[256];
	int read_by_both = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(EXAMPLES) / sizeof(EXAMPLES[0]); i++)
		if (strspn(EXAMPLES[i].default_protocol, "abcdefghijklmnopqrstuvwxyzHTPS") ==
		    strlen(EXAMPLES[i].default_protocol))
			compare(EXAMPLES[i].text, EXAMPLES[i].default_protocol, policy, &read_by_both);
	for (int i = 0; i < 10000; i++) {
		make_url(text);
		compare(text, PICK(DEFAULTS), policy, &read_by_both);
	}
	/* Enough of them are URLs. */
	assert_in_range(read_by_both, 1000, 9000);
	policy_free(policy);
}

/* Scheme, matching, origin and log, of one URL and of its other spellings. */

static void tell(const struct url *url, enum policy_log_url detail, char out[static 1000])
{
	record_redact_url(url, detail, out, 1000);
}

/* Whether `pattern`, to which `url` gave its scheme, host and port, fits it. */
static bool fits(const struct url *url, const char *scheme, int port)
{
	char pattern[2 * URL_HOST_BYTES];
	struct arena arena = {NULL};
	struct policy_match match;
	const char *wrong;
	snprintf(pattern, sizeof(pattern), "%s://%s:%d", scheme, url->host, port);
	bool is_fit = match_parse(pattern, &arena, &match, &wrong) && match_url(&match, url);
	arena_free(&arena);
	return is_fit;
}

/* What a pattern can name: ports from 1 on, hosts as DNS has them. */
static bool can_be_matched(const struct url *url)
{
	const char *host = url->host;
	if (url->host_kind == URL_HOST_NAME)
		for (; *host; host++)
			if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-._", *host) && (unsigned char)*host < 0x80)
				return false;
	return url->port > 0 && url->host[0] != '.';
}

static void expect_match(const char *text, const struct url *url)
{
	const char *scheme = url_protocol_name(url->protocol);
	const char *other = url->protocol == URL_HTTP ? "https" : "http";
	if (!fits(url, scheme, url->port) || fits(url, other, url->port) || fits(url, scheme, url->port % 65535 + 1))
		fail_msg("%s: matching sees another than %s://%s:%d", text, scheme, url->host, url->port);
}

/* Every log_url begins with the origin, and nothing but a path follows. */
static void expect_told(const char *text, const struct url *url, const char *origin)
{
	static const enum policy_log_url details[] = {POLICY_LOG_URL_PATH, POLICY_LOG_URL_FULL_PATH,
	                                              POLICY_LOG_URL_HASH};
	size_t origin_bytes = strlen(origin);
	char told[1000];
	for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++) {
		tell(url, details[i], told);
		if (strncmp(told, origin, origin_bytes) != 0 || !strchr("/", told[origin_bytes]) || strpbrk(told, "?#"))
			fail_msg("%s: told as %s, its origin is %s", text, told, origin);
	}
}

/* What is told of an origin is a URL of that origin, whatever the default protocol. */
static void expect_same(const char *text, const struct url *url, const char *origin, const char *default_protocol)
{
	struct url again;
	if (!url_read(origin, default_protocol, &again) || again.protocol != url->protocol || again.port != url->port ||
	    strcmp(again.host, url->host) != 0)
		fail_msg("%s (default %s): %s://%s:%d is another", origin, default_protocol,
		         url_protocol_name(url->protocol), url->host, url->port);
	expect_told(text, &again, origin);
}

static void put_upper(char *out, const char *text)
{
	for (; *text; text++)
		*out++ = *text >= 'a' && *text <= 'z' ? (char)(*text & ~0x20) : *text;
	*out = '\0';
}

/* Upper case, a user, a dot at the end, the port as a default or padded; the default protocol for the scheme. */
static void expect_spellings(const struct url *url, const char *origin)
{
	char host[URL_HOST_BYTES], scheme[8], spelling[1000], told[1000];
	const char *dot = url->host_kind == URL_HOST_IPV6 ? "" : ".";
	struct url again;
	put_upper(host, url->host);
	put_upper(scheme, url_protocol_name(url->protocol));
	for (int i = 0; i < 8; i++) {
		const char *user = i & 1 ? "U:P@" : "", *end = i & 2 ? dot : "", *tail = i & 1 ? "/?q@h#f" : "#f?q";
		bool has_scheme = i & 4;
		snprintf(spelling, sizeof(spelling), "%s%s%s%s%s:%05d%s", has_scheme ? scheme : "",
		         has_scheme ? "://" : "", user, host, end, url->port, tail);
		if (!url_read(spelling, has_scheme ? "ftp" : scheme, &again) || again.protocol != url->protocol)
			fail_msg("%s (default %s) isn't read as %s", spelling, scheme, origin);
		tell(&again, POLICY_LOG_URL_ORIGIN, told);
		if (strcmp(told, origin) != 0)
			fail_msg("%s: its origin is %s, not %s", spelling, told, origin);
		if (can_be_matched(&again))
			expect_match(spelling, &again);
	}
}

static void test_h14_scheme_matching_origin_and_log_agree(void **state)
{
	const struct policy *policy = load_text("[upstream all]\nmatch = *\n");
	char text[256], origin[1000];
	int read = 0, matched = 0, refused = 0;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		struct url url;
		make_url(text);
		bool is_http = url_read(text, PICK(DEFAULTS), &url) && url_is_http(&url);
		tell(is_http ? &url : NULL, POLICY_LOG_URL_ORIGIN, origin);
		const char *section = policy_select(policy, is_http ? &url : NULL)->name;
		if (strcmp(section, is_http ? "all" : "policy") != 0 || (strcmp(origin, "?") == 0) == is_http)
			fail_msg("%s: gets [%s], told as %s", text, section, origin);
		refused += !is_http;
		if (!is_http)
			continue;
		read++;
		expect_told(text, &url, origin);
		expect_same(text, &url, origin, "");
		expect_same(text, &url, origin, "ftp");
		expect_spellings(&url, origin);
		if (can_be_matched(&url)) {
			expect_match(text, &url);
			matched++;
		}
	}
	assert_in_range(read, 1000, 9000);
	assert_in_range(matched, 1000, read);
	assert_in_range(refused, 1000, 9000);
	policy_free(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_h14_urls_are_read_like_this),
	    cmocka_unit_test(test_h14_parts_are_parts_of_the_text),
	    cmocka_unit_test(test_h14_libcurl_reads_the_same),
	    cmocka_unit_test(test_h14_scheme_matching_origin_and_log_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
