/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_OS_ERRNO_H
#define TENACURL_INTERPOSE_OS_ERRNO_H

/*
 * CURLINFO_OS_ERRNO: before 8.8 a perform doesn't clear it, so after a retry it would still be the errno of an attempt
 * that the program never heard of. Nothing but getinfo reads it, and nothing sets it back.
 */

#include <stdbool.h>

#include "interpose/handle/handle.h"

/* The attempt at hand is going to be retried. */
void os_errno_disown(struct handle *handle);

/* A perform ended so: whether what libcurl has now is its own. */
void os_errno_settle(struct handle *handle, CURLcode result);

/* Takes a disowned errno out of what getinfo answered. */
void os_errno_correct(const struct handle *handle, CURLINFO info, long *value);

#endif
