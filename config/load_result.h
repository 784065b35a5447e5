/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_LOAD_RESULT_H
#define TENACURL_CONFIG_LOAD_RESULT_H

/* How the load of a policy ended, and what is told of it. */

#include <stdbool.h>

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

#endif
