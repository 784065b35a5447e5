/* SPDX-License-Identifier: MIT */

/*
 * curl's command line, a config file of curl's, and a request header: the same bytes as each of them.
 *
 * Checked besides memory: a layer of curl's means that every group of options has --retry, however the arguments are
 * cut short; another `--next URL` without one takes that away; and a line is read the same way twice.
 *
 *     build/fuzz/fuzz_outer_layer -max_total_time=60 NEW_CORPUS tests/fuzz/corpus/outer_layer
 */

#include <stdlib.h>
#include <string.h>

#include "engine/outer_layer.h"

#define VERSION 0x081500u /* 8.21 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_curl(struct outer_curl curl)
{
	static const char ANOTHER[] = "--next\0URL";

	if (outer_layer_of_curl(&curl, VERSION))
		check(curl.groups_retry + curl.last.retries >= curl.groups);
	curl.last.has_url = true;
	outer_layer_read_curl_words(&curl, ANOTHER, sizeof ANOTHER, NULL, NULL);
	check(!outer_layer_of_curl(&curl, VERSION));
}

static void read_config(void *context, const char *path)
{
	/* A name is terminated. */
	if (path)
		outer_layer_read_curl_config(context, path, strlen(path));
}

static void check_header(const char *line)
{
	static const char *const NAMES[] = {"amz-sdk-request", "x-goog-api-client", "Idempotency-Key", "x-ours"};
	static const struct policy_list LIST = {NAMES, sizeof NAMES / sizeof NAMES[0]};
	struct outer_header first = outer_layer_of_header(line, &LIST), second = outer_layer_of_header(line, &LIST);

	check(first.layer == second.layer && first.invocation == second.invocation);
	check(first.name || (!first.layer && first.invocation == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = malloc(size + 1);
	struct outer_curl from_words = {.groups = 0}, from_config = {.groups = 0};

	if (!line)
		return 0;
	memcpy(line, data, size);
	line[size] = '\0';
	outer_layer_read_curl_words(&from_words, (const char *)data, size, read_config, &from_words);
	outer_layer_read_curl_config(&from_config, (const char *)data, size);
	check_curl(from_words);
	check_curl(from_config);
	check_header(line);
	free(line);
	return 0;
}
