/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_SCAN_H
#define TENACURL_CONFIG_SCAN_H

/* A look at a policy file's raw bytes before iniparser sees them; scan.c tells why. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/arena.h"
#include "config/load_result.h"

/* Bounds that keep later work small whatever the file holds. */
#define SCAN_SECTIONS_MAX   256
#define SCAN_LINE_BYTES_MAX 1022 /* without its line end; iniparser's buffer takes no more */
#define SCAN_NAME_BYTES_MAX 64   /* of an upstream's NAME */

/* One "key = value" line. */
struct scan_entry {
	uint32_t line;
	const char *key;   /* folded, as iniparser knows it */
	const char *value; /* without quotes and comment, as iniparser must read it */
};

struct scan_section {
	uint32_t line;
	const char *title; /* folded, as iniparser knows it: "policy", "upstream api" */
	const char *name;  /* as written: "policy", or NAME */
	bool is_upstream;
	size_t first_entry; /* its entries are consecutive */
	size_t entry_count;
};

struct scan {
	struct scan_section *sections; /* in file order; [policy] need not be the first, nor be there */
	size_t section_count;
	struct scan_entry *entries;
	size_t entry_count;
};

/*
 * Takes the file apart and refuses what iniparser would read differently from what a person sees. `bytes` must have a
 * spare byte after its end; it is changed, and the texts in `scan` point into it. The arrays come from `arena`. Returns
 * POLICY_LOADED, POLICY_INVALID (error filled: path, line, fault), or POLICY_UNREADABLE without memory.
 */
enum policy_load_result scan_bytes(char *bytes, size_t length, const char *path, struct arena *arena, struct scan *scan,
                                   struct policy_error *error);

#endif
