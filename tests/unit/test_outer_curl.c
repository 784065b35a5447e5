/* SPDX-License-Identifier: MIT */
/* What curl's command line and config files say of its own retries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/outer_layer.h"

#define NEWEST    0x081500u /* 8.21 */
#define WORDS_MAX 16
#define BYTES_MAX 1024

/* What files there are, by name; "" is curlrc. */
struct config_file {
	const char *name, *text;
};

struct sources {
	struct outer_curl curl;
	const struct config_file *files;
	int opened; /* files that were asked for, found or not */
};

static void open_config(void *context, const char *path)
{
	struct sources *sources = context;

	sources->opened++;
	for (const struct config_file *file = sources->files; file && file->name; file++)
		if (strcmp(file->name, path ? path : "") == 0)
			outer_layer_read_curl_config(&sources->curl, file->text, strlen(file->text));
}

/* Words end with NULL. */
static struct sources read_words(const char *const *words, const struct config_file *files)
{
	struct sources sources = {.files = files};
	char line[BYTES_MAX];
	size_t bytes = 0;

	for (; *words; words++) {
		size_t word_bytes = strlen(*words) + 1;
		assert_true(bytes + word_bytes <= sizeof line);
		memcpy(line + bytes, *words, word_bytes);
		bytes += word_bytes;
	}
	/* Memory of that size exactly: a sanitizer sees a byte too far. */
	char *exact = malloc(bytes ? bytes : 1);
	memcpy(exact, line, bytes);
	outer_layer_read_curl_words(&sources.curl, exact, bytes, open_config, &sources);
	free(exact);
	return sources;
}

/* "-": no layer. Else r: a reset, c: a refused connection, s: 503, each if it retries that. */
static const char *retried(const struct outer_curl *curl, unsigned int version)
{
	static char letters[4];
	const struct outer_layer *layer = outer_layer_of_curl(curl, version);
	size_t count = 0;

	if (!layer)
		return "-";
	if (outer_layer_retries(layer, ENGINE_CLASS_STATUS, 503))
		letters[count++] = 's';
	if (outer_layer_retries(layer, ENGINE_CLASS_CONNECT, 0))
		letters[count++] = 'c';
	if (outer_layer_retries(layer, ENGINE_CLASS_RECEIVE, 0))
		letters[count++] = 'r';
	letters[count] = '\0';
	return letters;
}

struct command_line {
	const char *retried;
	const char *words[WORDS_MAX];
};

static void check(const struct command_line *lines, size_t count, const struct config_file *files)
{
	for (size_t i = 0; i < count; i++) {
		struct sources sources = read_words(lines[i].words, files);
		const char *found = retried(&sources.curl, NEWEST);
		if (strcmp(found, lines[i].retried) != 0) {
			for (const char *const *word = lines[i].words; *word; word++)
				print_error("'%s' ", *word);
			fail_msg("in row %zu: %s instead of %s", i, found, lines[i].retried);
		}
	}
}

#define CHECK(lines, files) check(lines, sizeof(lines) / sizeof((lines)[0]), files)

static void options_of_retries(void **state)
{
	(void)state;
	static const struct command_line LINES[] = {
	    {"-", {"URL"}},
	    {"-", {NULL}},
	    {"s", {"--retry", "3", "URL"}},
	    {"s", {"URL", "--retry", "3"}},
	    {"s", {"--retry=3", "URL"}},
	    {"s", {"--RETRY", "3", "URL"}},
	    {"s", {"--retry", "010", "URL"}},
	    {"-", {"--retry", "0", "URL"}},
	    {"-", {"--retry=00", "URL"}},
	    {"-", {"--retry", "three", "URL"}},
	    {"-", {"--retry", "-3", "URL"}},
	    {"-", {"--retry"}},
	    {"-", {"--retry", "3", "--retry", "0", "URL"}},
	    {"s", {"--retry", "0", "--retry", "3", "URL"}},
	    {"-", {"--expand-retry", "{{TRIES}}", "URL"}},
	    {"s", {"--expand-retry", "3", "URL"}},
	    {"-", {"--retry-all-errors", "URL"}},
	    {"-", {"--retry-delay", "3", "--retry-max-time", "9", "URL"}},
	    {"scr", {"--retry", "3", "--retry-all-errors", "URL"}},
	    {"scr", {"--retry-all", "--retry", "3", "URL"}},
	    {"sc", {"--retry", "3", "--retry-connrefused", "URL"}},
	    {"sc", {"--retry-c", "--retry", "3", "URL"}},
	    {"s", {"--retry", "3", "--retry-connrefused", "--no-retry-connrefused", "URL"}},
	    {"scr", {"--retry", "3", "--no-retry-all-errors", "--retry-all-errors", "URL"}},
	    {"s", {"--retry", "3", "--retry-all-errors", "--no-retry-all-errors", "URL"}},
	};
	CHECK(LINES, NULL);
}

static void an_argument_is_no_option(void **state)
{
	(void)state;
	static const struct command_line LINES[] = {
	    /* In the arguments of others … */
	    {"-", {"-o", "--retry", "3", "URL"}},
	    {"-", {"-sSo", "--retry", "3", "URL"}},
	    {"-", {"-H", "--retry", "3", "URL"}},
	    {"-", {"--user-agent", "--retry", "3", "URL"}},
	    {"-", {"--data", "--retry", "3", "URL"}},
	    {"-", {"--dat", "--retry", "3", "URL"}},
	    {"-", {"--url", "--retry", "3"}},
	    {"-", {"-w", "--retry=3", "URL"}},
	    {"-", {"--variable", "--retry=3", "URL"}},
	    {"-", {"--", "--retry", "3", "URL"}},
	    {"-", {"URL", "--", "--retry=3"}},
	    /* … and not in those of options that have theirs, or take none. */
	    {"s", {"-ofile", "--retry", "3", "URL"}},
	    {"s", {"--output=file", "--retry", "3", "URL"}},
	    {"s", {"-sSf", "--retry", "3", "URL"}},
	    {"s", {"-sSfLo", "file", "--retry", "3", "URL"}},
	    {"s", {"-s", "--head", "--retry", "3", "URL"}},
	    {"s", {"--netrc", "--retry", "3", "URL"}},
	    {"s", {"--ssl", "--retry", "3", "URL"}},
	    {"s", {"--no-keepalive", "--retry", "3", "URL"}},
	    {"s", {"--ftp-ssl-ccc", "--retry", "3", "URL"}},
	    {"s", {"--location-trusted", "--retry", "3", "URL"}},
	    {"s", {"--option-of-the-future", "--retry", "3", "URL"}},
	    {"s", {"--url-query", "a=b", "--retry", "3", "URL"}},
	    {"s", {"-o", "-", "--retry", "3", "URL"}},
	    {"s", {"-d", "", "--retry", "3", "URL"}},
	};
	CHECK(LINES, NULL);
}

static void all_urls_must_be_retried(void **state)
{
	(void)state;
	static const struct command_line LINES[] = {
	    {"s", {"--retry", "3", "URL", "--next", "--retry", "2", "URL"}},
	    {"-", {"--retry", "3", "URL", "--next", "URL"}},
	    {"-", {"URL", "--next", "--retry", "3", "URL"}},
	    {"-", {"--retry", "3", "URL", "-:", "URL"}},
	    {"-", {"--retry", "3", "URL", "-s:", "URL"}},
	    {"-", {"--retry", "3", "--url", "URL", "--nex", "--url", "URL"}},
	    {"-", {"--retry", "3", "-K", "-", "--next", "URL"}},
	    {"s", {"--retry", "3", "URL", "URL"}},
	    {"s", {"--retry", "3", "URL", "--next"}},
	    {"s", {"--retry", "3", "--next", "URL"}},
	    {"s", {"--retry", "3", "-K", "-"}},
	    {"s", {"--retry", "3", "-K-"}},
	    {"s", {"--retry", "3", "--retry-all-errors", "URL", "--next", "--retry", "3", "URL"}},
	    {"sc",
	     {"--retry", "3", "--retry-connrefused", "URL", "--next", "--retry", "3", "--retry-connrefused", "URL"}},
	    {"scr", {"--retry-all-errors", "--retry", "3", "URL", "-:", "--retry", "3", "--retry-all-errors", "URL"}},
	    {"s", {"--retry", "3", "URL", "--next", "--retry", "3", "--retry-all-errors", "URL"}},
	};
	CHECK(LINES, NULL);
}

static void config_files(void **state)
{
	(void)state;
	static const struct config_file FILES[] = {
	    {"", "# ours\nretry = 3\n"}, {"all", "retry-all-errors\nretry=2"}, {"none", "silent\n"}, {NULL, NULL}};
	static const struct command_line LINES[] = {
	    {"s", {"URL"}},
	    {"-", {"-q", "URL"}},
	    {"-", {"-qs", "URL"}},
	    {"-", {"--disable", "URL"}},
	    {"s", {"-s", "-q", "URL"}},
	    {"-", {"--retry", "0", "URL"}},
	    {"scr", {"-q", "-K", "all", "URL"}},
	    {"scr", {"-q", "-Kall", "URL"}},
	    {"scr", {"-q", "--config", "all", "URL"}},
	    {"scr", {"-q", "--config=all", "URL"}},
	    {"scr", {"-q", "-sSK", "all", "URL"}},
	    {"-", {"-q", "-K", "none", "URL"}},
	    {"-", {"-q", "-K", "missing", "URL"}},
	    {"-", {"-q", "-o", "-Kall", "URL"}},
	    /* curlrc is for the first group alone. */
	    {"-", {"URL", "--next", "URL"}},
	    {"s", {"URL", "--next", "--retry", "1", "URL"}},
	};
	CHECK(LINES, FILES);
	assert_int_equal(read_words((const char *[]){"-q", "-K", "-", NULL}, FILES).opened, 0);
	assert_int_equal(read_words((const char *[]){"-K", "all", NULL}, FILES).opened, 2);
	assert_true(read_words((const char *[]){"URL", NULL}, FILES).curl.from_config);
	assert_false(read_words((const char *[]){"--retry", "3", "URL", NULL}, FILES).curl.from_config);
	assert_true(read_words((const char *[]){"--retry", "3", "-K", "all", "URL", NULL}, FILES).curl.from_config);
}

static void the_syntax_of_config_files(void **state)
{
	(void)state;
	static const struct {
		const char *retried, *text;
	} TEXTS[] = {
	    {"-", ""},
	    {"-", "\n\n"},
	    {"s", "retry 3"},
	    {"s", "retry=3\n"},
	    {"s", "retry: 3\n"},
	    {"s", "retry = \"3\"\n"},
	    {"s", "retry\t=\t3\r\nsilent\r\n"},
	    {"s", "  retry 3 # tries\n"},
	    {"s", "--retry 3\n"},
	    {"s", "--retry=3\n"},
	    {"s", "-s\n-o file\n--retry 3\n"},
	    {"scr", "retry-all-errors\nretry 3\n"},
	    {"s", "retry-all-errors\nretry 3\nno-retry-all-errors\n"},
	    {"s", "url = \"http://a/\"\nretry = 3\nnext\nurl = \"http://b/\"\nretry = 3\n"},
	    {"-", "url = \"http://a/\"\nretry = 3\nnext\nurl = \"http://b/\"\n"},
	    {"-", "url = \"http://a/\"\nretry = 3\n-:\n-K more\n"},
	    {"-", "#retry = 3\n"},
	    {"-", "  # retry = 3\n"},
	    {"-", "--retry = 3\n"},
	    {"-", "retry = \"3 \\\"\n"},
	    {"-", "retry =\n3\n"},
	    {"-", "retry\n"},
	    {"-", "user-agent = \"retry 3\"\n"},
	    {"-", "user-agent =\nretry = 0\n"},
	    {"-", "data = \"a\\\"\n"},
	    {"-", "retries = 3\n"},
	};
	for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
		struct outer_curl curl = {.groups = 0};
		size_t bytes = strlen(TEXTS[i].text);
		char *exact = malloc(bytes ? bytes : 1);
		memcpy(exact, TEXTS[i].text, bytes);
		outer_layer_read_curl_config(&curl, exact, bytes);
		free(exact);
		const char *found = retried(&curl, NEWEST);
		if (strcmp(found, TEXTS[i].retried) != 0)
			fail_msg("%s\n%s instead of %s", TEXTS[i].text, found, TEXTS[i].retried);
	}
}

static void releases_retry_different_statuses(void **state)
{
	(void)state;
	static const struct {
		unsigned int version;
		int status;
		bool retries;
	} CASES[] = {
	    {0x071d00, 503, true},  {0x071d00, 429, false}, {0x074200, 429, false}, {0x074300, 429, true},
	    {0x074300, 408, false}, {0x074a00, 408, true},  {0x075801, 522, false}, {0x081000, 524, false},
	    {0x081100, 522, true},  {0x081100, 524, true},  {0x081100, 425, false}, {0xffffff, 500, true},
	};
	struct outer_curl curl = read_words((const char *[]){"--retry", "3", "URL", NULL}, NULL).curl;

	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		const struct outer_layer *layer = outer_layer_of_curl(&curl, CASES[i].version);
		if (outer_layer_retries(layer, ENGINE_CLASS_STATUS, CASES[i].status) != CASES[i].retries)
			fail_msg("%x: %d", CASES[i].version, CASES[i].status);
	}
	const struct outer_layer *layer = outer_layer_of_curl(&curl, NEWEST);
	assert_true(outer_layer_retries(layer, ENGINE_CLASS_RESOLVE, 0));
	assert_true(outer_layer_retries(layer, ENGINE_CLASS_TIMEOUT, 0));
	assert_false(outer_layer_retries(layer, ENGINE_CLASS_PARTIAL, 0));
	assert_false(outer_layer_retries(layer, ENGINE_CLASS_PROXY, 0));
}

static void a_line_that_is_cut_off(void **state)
{
	(void)state;
	struct outer_curl curl = {.groups = 0};
	outer_layer_read_curl_words(&curl, "URL\0--retry\0003", sizeof "URL\0--retry\0003" - 1, NULL, NULL);
	assert_string_equal(retried(&curl, NEWEST), "-");
}

/* Whether `--retry 3` is read as retries after this option. */
static bool lets_retry_through(const char *option)
{
	struct sources sources = read_words((const char *[]){"-q", option, "--retry", "3", "URL", NULL}, NULL);
	return outer_layer_of_curl(&sources.curl, NEWEST) != NULL;
}

static bool is_argument(char first)
{
	return first == '<' || first == '[';
}

/* " -o, --output <file> …", "     --netrc …" */
static bool check_help_line(const char *line)
{
	char letter, name[64], argument[2] = "";

	if (sscanf(line, " -%c, --%63s %1s", &letter, name, argument) >= 2) {
		char option[] = {'-', letter, '\0'};
		if (lets_retry_through(option) == is_argument(argument[0]))
			fail_msg("%s", line);
	} else if (sscanf(line, " --%63s %1s", name, argument) < 1) {
		return false;
	}
	char option[80];
	snprintf(option, sizeof option, "--%s", name);
	if (lets_retry_through(option) == is_argument(argument[0]))
		fail_msg("%s", line);
	return true;
}

/* The table of options that take an argument, against the curl that is installed. */
static void curl_agrees_about_arguments(void **state)
{
	(void)state;
	FILE *help = popen("curl --help all 2>/dev/null", "r");
	char line[512];
	int count = 0;

	assert_non_null(help);
	while (fgets(line, sizeof line, help))
		/* What --help takes doesn't matter, since nothing is transferred. */
		if (!strstr(line, "--help ") && check_help_line(line))
			count++;
	pclose(help);
	if (count < 100)
		skip(); /* no curl, or one without this list (before 7.73) */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(options_of_retries),         cmocka_unit_test(an_argument_is_no_option),
	    cmocka_unit_test(all_urls_must_be_retried),   cmocka_unit_test(config_files),
	    cmocka_unit_test(the_syntax_of_config_files), cmocka_unit_test(releases_retry_different_statuses),
	    cmocka_unit_test(a_line_that_is_cut_off),     cmocka_unit_test(curl_agrees_about_arguments),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
