/* SPDX-License-Identifier: MIT */
/* Hosts where no answer is an answer (H-08). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/probe.h"

#define countof(array) (sizeof(array) / sizeof((array)[0]))

static void assert_asked(const char *text, bool expected)
{
	struct url url;

	if (!url_read(text, "", &url))
		fail_msg("can't be read: %s", text);
	if (probe_is_made_once(&url, NULL) != expected)
		fail_msg("%s: expected %d", text, expected);
}

static void metadata_is_known_however_it_is_written(void **state)
{
	static const char *const urls[] = {
	    "http://169.254.169.254/latest/meta-data/",
	    "169.254.169.254",
	    "http://user@169.254.169.254:80/",
	    "http://169.254.170.2/v2/credentials",
	    "http://169.254.0.0/",
	    "http://169.254.255.255/",
	    "http://2852039166/",
	    "http://0xA9FEA9FE/",
	    "http://0251.0376.0251.0376/",
	    "http://169.16689662/",
	    "http://169.254.43518/",
	    "http://[fe80::1]/",
	    "http://[fe80::1%25eth0]/",
	    "http://[FE80:0:0:0:0:0:0:1]/",
	    "http://[febf::1]/",
	    "http://[fd00:ec2::254]/latest/",
	    "http://[fd00:0ec2:0:0:0:0:0:254]/",
	    "http://[fd20:ce::254]/",
	    "http://[fd00:c1::a9fe:a9fe]/opc/v2/",
	    "http://[fd00:42::42]/conf",
	    "http://[::ffff:169.254.169.254]/",
	    "http://[::ffff:a9fe:a9fe]/",
	    "http://[0:0:0:0:0:ffff:a9fe:a9fe]/",
	    "http://[64:ff9b::a9fe:a9fe]/",
	    "http://[::169.254.169.254]/",
	    "http://100.100.100.200/latest/meta-data",
	    "http://168.63.129.16/machine",
	    "http://[::ffff:100.100.100.200]/",
	    "http://metadata.google.internal/computeMetadata/v1/",
	    "http://METADATA.Google.Internal./",
	    "http://metadata/",
	    "http://metadata.goog/",
	    "http://instance-data/latest/",
	    "http://metadata.tencentyun.com/",
	};

	(void)state;
	for (size_t i = 0; i < countof(urls); i++)
		assert_asked(urls[i], true);
}

static void others_are_hosts_as_any(void **state)
{
	static const char *const urls[] = {
	    "http://169.253.255.255/",
	    "http://169.255.0.0/",
	    "http://127.0.0.1/",
	    "http://10.0.0.1/",
	    "http://100.100.100.201/",
	    "http://[::1]/",
	    "http://[fec0::1]/",
	    "http://[fd00:ec2::255]/",
	    "http://[fd00::1]/",
	    "http://[::ffff:10.0.0.1]/",
	    "http://[2001:db8::a9fe:a9fe]/",
	    "http://metadata.example.com/",
	    "http://my-metadata/",
	    "http://metadata.google.internal.example.com/",
	    "http://google.internal/",
	    "http://169.254.169.254.nip.io/",
	};

	(void)state;
	for (size_t i = 0; i < countof(urls); i++)
		assert_asked(urls[i], false);
}

static void a_section_names_a_host_or_matches_any(void **state)
{
	static const char *const named[] = {"169.254.169.254",          "169.254.*",  "metadata",
	                                    "metadata.google.internal", "metadata.*", "[fe80::1]",
	                                    "[fd00:ec2::254]"};
	static const char *const any[] = {"*", "*.internal", "?", "m*", "*.*"};
	struct url url;

	(void)state;
	assert_true(url_read("http://169.254.169.254/", "", &url));
	for (size_t i = 0; i < countof(named); i++)
		assert_false(probe_is_made_once(&url, named[i]));
	for (size_t i = 0; i < countof(any); i++)
		assert_true(probe_is_made_once(&url, any[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(metadata_is_known_however_it_is_written),
	    cmocka_unit_test(others_are_hosts_as_any),
	    cmocka_unit_test(a_section_names_a_host_or_matches_any),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
