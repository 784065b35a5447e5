/* SPDX-License-Identifier: MIT */
/*
 * The policy loader on arbitrary files, iniparser included: whatever the bytes are, it returns, leaks nothing, says why
 * it refuses, and what it accepts can be copied, printed and asked about.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iniparser/iniparser.h>

#include "config/load.h"
#include "config/schema.h"
#include "config/source.h"
#include "config/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static const struct ini_functions ini = {
    .load = iniparser_load,
    .free_dictionary = iniparser_freedict,
    .section_count = iniparser_getnsec,
    .section_name = iniparser_getsecname,
    .get_string = iniparser_getstring,
    .set_error_callback = iniparser_set_error_callback,
};

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void take_warning(void *context, const char *text)
{
	(void)context;
	require(text[0] != '\0');
}

/* Values that were accepted, printed and parsed again, are the same values. */
static void check_round_trip(const struct policy_section *section)
{
	struct policy_rules again = section->rules;
	struct value_fault fault;
	struct arena arena = {NULL};
	char text[4096];
	char repeated[4096];

	for (size_t i = 0; i < schema_key_count(); i++) {
		const struct schema_key *key = schema_key_at(i);
		if (key->type == SCHEMA_MATCH && section->rules.match.host_glob == NULL)
			continue;
		value_print(key, &section->rules, text, sizeof text);
		require(value_parse(key, text, &arena, &again, &fault) == VALUE_TAKEN);
		value_print(key, &again, repeated, sizeof repeated);
		require(strcmp(text, repeated) == 0);
	}
	arena_free(&arena);
}

static void use(const struct policy *policy)
{
	struct policy *copy = policy_copy(policy);

	require(copy != NULL);
	policy_free(policy);
	struct url url;
	require(url_read("https://me@api.example:443/v1?x#y", "", &url));
	require(policy_select(copy, &url) != NULL);
	for (size_t i = 0; i < copy->section_count; i++)
		check_round_trip(&copy->sections[i]);
	policy_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	const struct policy *policy = NULL;
	struct policy_error error = {.text = ""};
	char path[32];
	int fd = memfd_create("policy", MFD_CLOEXEC);

	require(fd >= 0);
	/* A memfd is born writable by all. */
	require(fchmod(fd, 0600) == 0);
	require(write(fd, bytes, length) == (ssize_t)length);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);

	enum policy_load_result result = policy_load(path, &ini, take_warning, NULL, &policy, &error);
	if (result == POLICY_LOADED)
		use(policy);
	else
		require(error.text[0] != '\0' && policy == NULL);
	/* A file of lawful size is unreadable only if iniparser reads it differently from the scan. */
	require(result != POLICY_UNREADABLE || length > SOURCE_BYTES_MAX);
	close(fd);
	return 0;
}
