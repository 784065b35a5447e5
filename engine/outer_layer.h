/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_ENGINE_OUTER_LAYER_H
#define TENACURL_ENGINE_OUTER_LAYER_H

/*
 * Retry layers above us that show themselves: what they write on a request, what they are called, and which failures
 * they retry. One table (outer_layer.c; outer_curl.c for curl), and how to read it. Pure; no allocation.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/policy.h"
#include "engine/types.h"

/* How a layer retries. */
struct outer_layer {
	uint32_t failures;   /* set of 1 << enum engine_class */
	const int *statuses; /* 0 at the end; NULL: every status that we would retry */
};

/* Every failure that we would retry: what is assumed of a layer that only the policy knows. */
extern const struct outer_layer outer_layer_unknown;

/* Whether the layer retries such a failure. status counts for ENGINE_CLASS_STATUS only. */
bool outer_layer_retries(const struct outer_layer *layer, enum engine_class failure, int status);

/* What one request header says. */
struct outer_header {
	const struct outer_layer *layer; /* NULL: nothing of an outer layer that retries; there may be an invocation */
	const char *name;                /* of the header, as the table or the policy spells it */
	bool once;                       /* the sender makes one attempt only, whatever its other headers look like */
	uint64_t invocation; /* hash of an id that all attempts of one invocation carry; 0: there is none in it */
};

/*
 * Reads one line of CURLOPT_HTTPHEADER ("Name: value"). `names` are the policy's nested_headers: only those count; one
 * that the table doesn't know counts with any value. A layer that says it makes one attempt only (amz-sdk-request:
 * attempt=1; max=1) is none.
 */
struct outer_header outer_layer_of_header(const char *line, const struct policy_list *names);

/*
 * The layer of a program, script, job or library by its name ("s3fs", "libcurl-retry.so.1"), if one of the policy's
 * nested_programs (shell globs) fits it; else NULL. One that the table doesn't know is outer_layer_unknown.
 */
const struct outer_layer *outer_layer_of_program(const char *name, const struct policy_list *globs);

/* What one group of curl's options says; --next begins another one. */
struct outer_curl_group {
	bool has_url;
	bool retries;     /* --retry N, N > 0 */
	bool all_errors;  /* --retry-all-errors */
	bool connrefused; /* --retry-connrefused */
};

/* What curl's command line and config files say of --retry, over all URLs of it. Zero: nothing was read yet. */
struct outer_curl {
	struct outer_curl_group last; /* the group that is being read; the rest is about those before it */
	int groups;
	int groups_retry; /* of those, with --retry */
	bool all_errors;  /* --retry-all-errors in all groups that retry, … */
	bool connrefused; /* --retry-connrefused, likewise */
	bool from_config; /* the last --retry N, N > 0, stands in a config file */
};

/*
 * Reads curl's arguments (argv without its first word; `words` is `bytes` long, each word ends with NUL, as in
 * /proc/PID/cmdline). open_config, which may be NULL, is called for each -K FILE with the file's name, and before all
 * else with NULL for curlrc, unless -q as the first argument says that curl doesn't read it. It is to pass the text to
 * outer_layer_read_curl_config().
 */
void outer_layer_read_curl_words(struct outer_curl *curl, const char *words, size_t bytes,
                                 void (*open_config)(void *context, const char *path), void *context);

/* Reads the text of a curl config file (curlrc; curl(1), -K). -K FILE in it isn't followed. */
void outer_layer_read_curl_config(struct outer_curl *curl, const char *text, size_t bytes);

/*
 * The layer that those make of a curl of this version (0x075801 is 7.88.1; releases differ in what they retry); NULL:
 * it doesn't retry, or not all of its URLs.
 */
const struct outer_layer *outer_layer_of_curl(const struct outer_curl *curl, unsigned int version_number);

#endif
