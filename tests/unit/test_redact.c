/* SPDX-License-Identifier: MIT */
/* What a log may tell of a URL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
    {"http://host/0123456789abcdef0123456789abcdef/x", PATH, "http://host/0123456789abcdef0123456789abcdef/x"},
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
	    cmocka_unit_test(long_segments_become_hashes_that_tell_them_apart),
	    cmocka_unit_test(a_hashed_path_tells_nothing_but_equality),
	    cmocka_unit_test(any_room_is_enough),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
