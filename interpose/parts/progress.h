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

#include "interpose/handle/handle.h"

struct progress_numbers {
	curl_off_t download_total, download_now, upload_total, upload_now;
};

/* Of one operation; zero at its begin. */
struct progress {
	struct progress_numbers shown;        /* what the program was told last */
	struct progress_numbers real;         /* of this attempt: libcurl's numbers */
	struct progress_numbers shown_before; /* of those before it, which this one hasn't reached yet */
	bool hides;                           /* the program was told less than libcurl's numbers */
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
 * Calls the program, as libcurl chooses between its two functions, and returns what it says; 0 without one. It may do
 * anything with its handle meanwhile.
 */
int progress_tell(const struct handle *handle, const struct progress_numbers *numbers);

/* As progress_tell() with what was told last, while no transfer runs. Returns whether the program lets us go on. */
bool progress_report(const struct handle *handle, const struct progress *progress);

/* An attempt begins, whose numbers begin anew. */
void progress_begin_attempt(struct progress *progress);

/* Makes of libcurl's numbers what the program is to be told; `withheld`: the download is none that it gets so far. */
void progress_filter(struct progress *progress, struct progress_numbers *numbers, bool withheld);

/*
 * After a response that was held to its end has been shown: so are its numbers, if they weren't. Returns whether the
 * program lets us go on, as progress_report() does.
 */
bool progress_catch_up(const struct handle *handle, struct progress *progress);

/* The response at hand won't be shown: nor is it by libcurl's meter. */
void progress_hide_meter(struct handle *handle);

/* The next attempt begins, or the response is shown after all. */
void progress_show_meter(struct handle *handle);

/* Corrects what getinfo told the program of a download that is withheld. */
void progress_correct_info(CURLINFO info, void *value);

#endif
