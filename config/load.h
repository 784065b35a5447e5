/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_LOAD_H
#define TENACURL_CONFIG_LOAD_H

/*
 * Reading a policy file.
 *
 * iniparser parses; we guard what it would misread in silence (config/scan.c) and turn texts into values
 * (config/schema.c). Its functions come in as a table: the CLI is linked to iniparser, the preloaded object has one in
 * itself, which takes its memory elsewhere (interpose/host/ini.c).
 */

#include "config/load_result.h"
#include "config/override.h"
#include "config/policy.h"

struct _dictionary_; /* iniparser's dictionary */

/* iniparser's functions, as iniparser.h declares them. */
struct ini_functions {
	struct _dictionary_ *(*load)(const char *path);
	void (*free_dictionary)(struct _dictionary_ *dictionary);
	int (*section_count)(const struct _dictionary_ *dictionary);
	const char *(*section_name)(const struct _dictionary_ *dictionary, int index);
	const char *(*get_string)(const struct _dictionary_ *dictionary, const char *key, const char *fallback);
	void (*set_error_callback)(int (*report)(const char *format, ...)); /* NULL where iniparser has none */
};

/*
 * Reads, checks and copies the policy file at `path`.
 *
 * path:   absolute or relative, not owned. A regular file of at most 64 KiB, as config/trusted_file.h says.
 * ini:    iniparser's functions.
 * warn:   NULL to ignore warnings.
 * policy: set on POLICY_LOADED to a policy that the caller owns (policy_free()), untouched otherwise.
 *
 * Allocates; opens and closes descriptors; never prints. Not reentrant, since iniparser's error callback is global:
 * callers hold one lock around it.
 */
enum policy_load_result policy_load(const char *path, const struct ini_functions *ini, policy_warn warn,
                                    void *warn_context, const struct policy **policy, struct policy_error *error);

/*
 * The same with overrides, which are applied by policy_override() after the file was read and before its contradictions
 * are looked for: a file that says `mode = audit` may leave its log to TENACURL_LOG. overrides may be NULL.
 */
enum policy_load_result policy_load_with(const char *path, const struct ini_functions *ini,
                                         const struct policy_overrides *overrides, policy_warn warn, void *warn_context,
                                         const struct policy **policy, struct policy_error *error);

/*
 * The same for a policy that is to replace another, whose hash is `known_hash`: of a file with that very hash nothing
 * is loaded, and POLICY_UNCHANGED returned. One without a section, which would be a policy of defaults, is
 * POLICY_INVALID: files are emptied before they are written, and by full disks.
 */
enum policy_load_result policy_load_changed(const char *path, const char *known_hash, const struct ini_functions *ini,
                                            const struct policy_overrides *overrides, const struct policy **policy,
                                            struct policy_error *error);

#endif
