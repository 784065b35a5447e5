/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_SCHEMA_H
#define TENACURL_CONFIG_SCHEMA_H

/*
 * The schema: one row per policy key, and the only place that knows its type, unit, range, default and meaning. The
 * parser, the built-in policy's test, `tenacurl policy explain`, `tenacurl policy keys` and the man page are all fed
 * from it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/policy.h"

enum schema_type {
	SCHEMA_CHOICE, /* one word of schema_key.choices */
	SCHEMA_MILLISECONDS,
	SCHEMA_COUNT,
	SCHEMA_PERCENT,
	SCHEMA_BYTES,
	SCHEMA_DECIMAL,   /* a number that may have a fraction */
	SCHEMA_YES_NO,    /* bool */
	SCHEMA_STATUSES,  /* struct policy_status_set */
	SCHEMA_ERRORS,    /* a set of enum policy_error_class */
	SCHEMA_TEXT,      /* any text; nothing is NULL */
	SCHEMA_HEADER,    /* one header name */
	SCHEMA_HEADERS,   /* struct policy_list of header names, at least one unless may_be_empty */
	SCHEMA_GLOBS,     /* struct policy_list of shell globs, may be empty */
	SCHEMA_DIRECTORY, /* an absolute path; nothing is NULL */
	SCHEMA_SINK,      /* log and log_path together */
	SCHEMA_MATCH      /* struct policy_match */
};

enum schema_scope { SCHEMA_ANYWHERE, SCHEMA_POLICY_ONLY, SCHEMA_UPSTREAM_ONLY };

struct schema_key {
	const char *name;
	enum schema_type type;
	enum schema_scope scope;
	bool zero_is_off;
	bool may_be_empty;          /* for SCHEMA_HEADERS */
	size_t offset;              /* of its field in struct policy_rules */
	int64_t least;              /* range, in the key's unit; for the numeric types */
	int64_t most;               /* the same; inclusive */
	const char *const *choices; /* NULL-terminated, in the order of the field's enum; for SCHEMA_CHOICE */
	const char *default_text;   /* as it would stand in a file; "" is an empty value */
	const char *doc;            /* one line */
};

/* Longest text that schema_allowed() writes, its end included. */
#define SCHEMA_ALLOWED_BYTES 160

/* Longest default_text, its end included. */
#define SCHEMA_DEFAULT_BYTES 256

/* The number of keys. Pure. */
size_t schema_key_count(void);

/* The key at `index`, in the reference's order; index must be below schema_key_count(). Pure, static, never NULL. */
const struct schema_key *schema_key_at(size_t index);

/* The index of the key with this name (case folded), or -1. Pure. */
int schema_find(const char *name);

/*
 * The index of the key whose name is nearest to `name`, for "did you mean", or -1 if none is near. Near means an edit
 * distance of at most a third of the name's length, 3 at most. Pure.
 */
int schema_nearest(const char *name);

/* Writes what the key takes, for people ("whole milliseconds from 0 to 86400000, 0 means off"). Any thread. */
void schema_allowed(const struct schema_key *key, char out[static SCHEMA_ALLOWED_BYTES]);

/* The unit of the key's values as the reference names it ("milliseconds", "list of HTTP statuses", …). Pure. */
const char *schema_unit(const struct schema_key *key);

/*
 * The words of retry_errors, in the order of enum policy_error_class's bits: word i stands for 1 << i.
 * NULL-terminated.
 */
extern const char *const schema_error_words[];

#endif
