/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_PROGRESS_H
#define TENACURL_INTERPOSE_PROGRESS_H

/*
 * What the program sees of a transfer's progress. Its callbacks are lent while there are any, so that several attempts
 * look like one transfer: of a response that is withheld nothing is told, and no number of a later attempt is less than
 * the program has seen. libcurl's own meter can't be told other numbers; it is switched off while a response is
 * withheld.
 */

#include <stdbool.h>

#include "interpose/curl_abi.h"

struct handle;
struct operation;

/* Lives in struct operation: what the program was told last. */
struct progress {
	curl_off_t download_total, download_now, upload_total, upload_now;
};

/*
 * Lends the program's progress callbacks, or gives their data back if there are none any more: when the write callback
 * is lent, and when the program sets one of them afterwards.
 */
void progress_lend(struct handle *handle);

/* Makes a copy's callbacks the copy's. Returns false if libcurl refuses. */
bool progress_adopt_duplicate(struct handle *copy);

/* Gives a copy's callbacks back to the program, from what its source has. */
void progress_give_back_duplicate(const struct handle *source, CURL *copy);

/* Whether there is a callback to call. */
bool progress_is_wanted(const struct handle *handle);

/*
 * Calls the program with what it was told last, while no transfer runs. Returns whether it lets us go on. It may do
 * anything with its handle meanwhile.
 */
bool progress_report(const struct operation *operation);

/* An attempt begins, whose numbers begin anew. */
void progress_begin_attempt(struct operation *operation);

/*
 * After a response that was held to its end has been shown: so are its numbers, if they weren't. Returns whether the
 * program lets us go on, as progress_report() does.
 */
bool progress_catch_up(struct operation *operation);

/* The response at hand won't be shown: nor is it by libcurl's meter. */
void progress_hide_meter(struct operation *operation);

/* The next attempt begins, or the response is shown after all. */
void progress_show_meter(struct handle *handle);

/* Corrects what getinfo told the program of a download that is withheld, while an operation runs. */
void progress_correct_info(const struct handle *handle, CURLINFO info, void *value);

#endif
