/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_DEADLINE_TEXT_H
#define TENACURL_BASE_DEADLINE_TEXT_H

/*
 * TENACURL_DEADLINE: the deadline that `tenacurl run --deadline` hands down a process tree, as
 *
 *     <boot id>:<milliseconds of CLOCK_MONOTONIC>:<launcher's pid>:<launcher's start time>[:<its pid namespace>]
 *
 * An instant of a monotonic clock means something only within one boot, and only while the launcher lives whose
 * patience it is; the other fields let a reader check both (base/launcher.h). Both times are by the host's clocks,
 * since a process further down may be in a time namespace, which has others.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/boot_id.h"

#define DEADLINE_TEXT_BYTES_MAX 120

struct deadline_text {
	char boot_id[BOOT_ID_BYTES + 1];
	int64_t deadline_ms;     /* instant of CLOCK_MONOTONIC */
	int64_t launcher_pid;    /* above 0 */
	uint64_t launcher_start; /* field 22 of /proc/PID/stat (proc(5)): clock ticks after boot */
	uint64_t pid_namespace;  /* inode of /proc/PID/ns/pid (namespaces(7)); 0: not told, taken for the reader's */
};

/* Writes the text of `deadline`, terminated. boot_id must have its 36 characters. Pure, async-signal-safe. */
void deadline_text_format(const struct deadline_text *deadline, char out[static DEADLINE_TEXT_BYTES_MAX]);

/*
 * Reads what deadline_text_format() wrote. Returns false, with `deadline` untouched, for anything else: NULL, missing
 * or additional fields, signs, numbers out of range. Pure, async-signal-safe.
 */
bool deadline_text_parse(const char *text, struct deadline_text *deadline);

#endif
