/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_COMPLAINT_H
#define TENACURL_CONFIG_COMPLAINT_H

/*
 * How a policy file's faults are told: one line that names file, line, section, key and value, what is wrong, and what
 * is allowed.
 */

#include <stdint.h>

#include "config/load_result.h"

/* Where a fault is. Parts that don't apply are NULL or 0 and left out. Nothing is owned. */
struct complaint_place {
	const char *path;
	uint32_t line;
	const char *section; /* "policy", or NAME of an upstream section */
	bool is_upstream;
	const char *key;
	const char *value;
};

/*
 * Writes "PATH:LINE: [section] key = value: " and then the formatted text into `error`. The text comes from a file that
 * may hold anything: bytes that aren't printable ASCII become "?", a long path loses its middle, a long value its end.
 * Always fits. Any thread, no allocation.
 */
void complain(struct policy_error *error, const struct complaint_place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes that there is no memory to read the file at `path`, which is a passing cause. */
void complain_of_memory(struct policy_error *error, const char *path);

#endif
