/* SPDX-License-Identifier: MIT */
/* Which section is for which URL. */
#include "base/url.h"
#include "config/match.h"
#include "tests/unit/test_policy_support.h"

static const struct policy_section *select_for(const struct policy *policy, const char *text)
{
	struct url url;

	return policy_select(policy, url_read(text, "", &url) ? &url : NULL);
}

static void test_patterns_fit_urls(void **state)
{
	static const struct {
		const char *pattern;
		const char *url;
		bool fits;
	} cases[] = {
	    {"api.example", "https://api.example/", true},
	    {"api.example", "HTTP://API.Example", true},
	    {"API.example", "http://api.example/x", true},
	    {"api.example", "api.example/x", true},
	    {"api.example", "http://api.example:8080/", true},
	    {"api.example", "http://api.example.", true},
	    {"api.example", "http://my.api.example", false},
	    {"api.example", "http://api.example.org", false},
	    {"api.example", "http://me:secret@api.example/", true},
	    {"api.example", "http://api.example@evil.org/", false},
	    {"api.example", "http://evil.org/@api.example", false},
	    {"api.example", "http://evil.org?@api.example", false},
	    {"api.example", "http://evil.org#@api.example", false},
	    {"api.example", "http:/api.example/", true},
	    {"api.example", "http:///api.example/", true},
	    {"api.example", "", false},
	    {"*", "", false},
	    {"*", "http://", false},
	    {"*", "http://x:99999/", false},
	    {"*", "http://x:8o/", false},
	    {"*", "http://[::1", false},
	    {"*", "http://[::1]x/", false},
	    {"*", "http://x", true},
	    {"*.example", "http://a.b.example", true},
	    {"*.example", "http://example", false},
	    {"a?c", "http://abc", true},
	    {"a?c", "http://ac", false},
	    {"https://*", "https://x", true},
	    {"https://*", "http://x", false},
	    {"https://*", "x", false},
	    {"http://*", "x", true},
	    {"x:80", "http://x", true},
	    {"x:443", "https://x", true},
	    {"x:443", "https://x:/", true},
	    {"x:443", "http://x", false},
	    {"x:8443", "https://x:8443/", true},
	    {"x:8443", "https://x:08443/", true},
	    {"[::1]", "http://[::1]/", true},
	    {"[::1]:80", "http://[0:0:0:0:0:0:0:1]", true},
	    {"[0::1]", "http://[::1]:1", true},
	    {"[FE80::1]", "http://[fe80::1%25eth0]/", true},
	    {"[::1]", "http://[::2]/", false},
	    {"x/v1/*", "http://x/v1/a/b?q", true},
	    {"x/v1/*", "http://x/v1", false},
	    {"x/v1", "http://x/v1?q=1", true},
	    {"x/v1", "http://x/v1#f", true},
	    {"x/v1", "http://x/V1", false},
	    {"x/", "http://x", true},
	    {"x/", "http://x?q", true},
	    {"x/", "http://x/a", false},
	    {"x/*/b*", "http://x/a/c/b", true},
	    {"x/b", "http://x/a/../b", true},
	    {"x/a/*", "http://x/a/../b", false},
	    {"127.0.0.1", "http://0x7f.1/", true},
	    {"127.1", "http://127.0.0.1/", true},
	    {"ho-st", "http://%48o%2Dst./", true},
	    {"*", "ftp://x/", false},
	    {"*", "ftp.x", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct arena arena = {NULL};
		struct policy_match match;
		const char *wrong = NULL;

		if (!match_parse(cases[i].pattern, &arena, &match, &wrong))
			fail_msg("%s: %s", cases[i].pattern, wrong);
		struct url url;
		if ((url_read(cases[i].url, "", &url) && match_url(&match, &url)) != cases[i].fits)
			fail_msg("match = %s, URL %s: expected %s", cases[i].pattern, cases[i].url,
			         cases[i].fits ? "a fit" : "no fit");
		arena_free(&arena);
	}
}

static void test_the_first_section_that_fits_wins(void **state)
{
	const struct policy *policy = load_text("[upstream a]\nmatch = api/v1/*\n"
	                                        "[upstream b]\nmatch = api\n"
	                                        "[upstream c]\nmatch = *.local\n");

	(void)state;
	assert_string_equal(select_for(policy, "http://api/v1/x")->name, "a");
	assert_string_equal(select_for(policy, "http://api/v2/x")->name, "b");
	assert_string_equal(select_for(policy, "x.local")->name, "c");
	assert_string_equal(select_for(policy, "http://elsewhere/")->name, "policy");
	assert_string_equal(select_for(policy, "http://[")->name, "policy");
	assert_string_equal(select_for(policy, "")->name, "policy");
	assert_string_equal(policy_select(policy, NULL)->name, "policy");
	assert_string_equal(select_for(policy_builtin(), "http://api/")->name, "policy");
	policy_free(policy);
}

static void test_globs_that_could_take_for_ever_end(void **state)
{
	char text[4097];

	(void)state;
	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	alarm(30);
	assert_false(match_glob("*a*a*a*a*a*a*a*a*a*a*a*a*b", text, sizeof text - 1));
	assert_true(match_glob("*a*a*a*a*a*a*a*a*a*a*a*a*", text, sizeof text - 1));
	alarm(0);
	assert_true(match_glob("", "", 0));
	assert_true(match_glob("**", "", 0));
	assert_false(match_glob("?", "", 0));
}

static void test_overlong_hosts_fit_nothing(void **state)
{
	const struct policy *policy = load_text("[upstream all]\nmatch = *\n");
	char url[400];

	(void)state;
	memset(url, 'h', sizeof url);
	url[255] = '\0';
	assert_string_equal(select_for(policy, url)->name, "all");
	url[255] = 'h';
	url[sizeof url - 1] = '\0';
	assert_string_equal(select_for(policy, url)->name, "policy");
	policy_free(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_patterns_fit_urls),
	    cmocka_unit_test(test_the_first_section_that_fits_wins),
	    cmocka_unit_test(test_globs_that_could_take_for_ever_end),
	    cmocka_unit_test(test_overlong_hosts_fit_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
