/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_CONDUCT_H
#define TENACURL_INTERPOSE_CONDUCT_H

/* Drives an operation on the thread that called curl_easy_perform, and is told what the program does meanwhile. */

#include <stdbool.h>
#include <stdint.h>

#include "interpose/handle/handle.h"

/*
 * Performs an operation that begins at now_ms on a handle whose callbacks are lent, as the section's rules say, and
 * returns what curl_easy_perform returns.
 */
CURLcode conduct_operation(struct handle *handle, const struct policy *policy, const struct policy_section *section,
                           int64_t now_ms);

/*
 * The program has set an option, which is noted (interpose/parts/options.h), in a callback of the handle's own
 * operation: one that shapes the request ends the operation's retries.
 */
void conduct_note_option(struct operation *operation, CURLoption option);

/* ... has reset the handle. */
void conduct_note_reset(struct operation *operation);

/* ... has called curl_easy_pause() while no transfer runs; receives: it takes the response. */
void conduct_note_unpause(struct operation *operation, bool receives);

/* Corrects what getinfo tells the program of a download that is withheld. */
void conduct_correct_info(const struct operation *operation, CURLINFO info, void *value);

#endif
