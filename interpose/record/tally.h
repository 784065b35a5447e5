/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_TALLY_H
#define TENACURL_INTERPOSE_TALLY_H

/*
 * What is counted of operations in the shared state, and which of them the flight recorder keeps: those that were
 * retried, stopped or failed. No lock, no system call (but one for the first flight of a process); errno is kept.
 */

#include "interpose/record/operation.h"

/* Counts the retry that is about to be made. */
void tally_retry(const struct operation *operation);

/* Writes what of the URL behind its origin may be told, as log records have it; "" for nothing. */
void tally_put_path(const struct operation *operation, char *out, size_t out_bytes);

/* Counts the operation, which is over. */
void tally_operation(const struct operation *operation, CURLcode result);

#endif
