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

#include <stdbool.h>
#include <stddef.h>

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

enum policy_load_result {
	POLICY_LOADED,
	POLICY_UNCHANGED, /* policy_load_changed() only: these bytes are known */
	POLICY_INVALID,   /* the file was read and refused; the error says file, section, key, value and what is allowed
	                   */
	POLICY_ABSENT,    /* there is no such file */
	POLICY_UNREADABLE, /* it can't be looked at, or not be trusted (config/trusted_file.h): not regular, too large,
	                      writable by others, no permission, no descriptor, no memory, … */
};

/* One line for people, no newline at its end; filled for every result but POLICY_LOADED and POLICY_UNCHANGED. */
struct policy_error {
	char text[512];
	bool is_passing; /* the cause may go by itself: no descriptor or no memory at the moment */
};

/* Receives each warning (an unreachable value, say): one line, no newline. */
typedef void (*policy_warn)(void *context, const char *text);

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

/* Values from outside a file (TENACURL_MODE, TENACURL_LOG, --mode, --log); NULL: none. Not owned. */
struct policy_overrides {
	const char *mode;
	const char *log;
};

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

/*
 * Whether the policy is free of contradictions (min_try_ms over per_try_ms or deadline_ms; audit without a log); if
 * not, `error` tells the first. policy_load() and policy_load_with() did this already; it is for those who put
 * overrides on a copy of the built-in policy. Pure, no allocation.
 */
bool policy_check(const struct policy *policy, struct policy_error *error);

/*
 * Parses a value of `mode` or `log` that came from outside a file (TENACURL_MODE, TENACURL_LOG, --mode, --log) and
 * applies it to every section of `policy`: a mode replaces every section's but `off` in a file stays off (unless the
 * override is off, which wins everywhere); a log replaces the sink. Returns false, with `error` filled and the policy
 * untouched, if the value is not one the key takes. The policy must not be shared with other threads yet, nor be the
 * built-in one (policy_copy() makes one). Texts are copied.
 */
bool policy_override(struct policy *policy, const char *key, const char *value, struct policy_error *error);

/* Returns an own copy of `policy` for the caller to free with policy_free(), or NULL without memory. */
struct policy *policy_copy(const struct policy *policy);

#endif
