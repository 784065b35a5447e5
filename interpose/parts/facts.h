/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_FACTS_H
#define TENACURL_INTERPOSE_FACTS_H

/*
 * Asks libcurl what an attempt did (engine/facts.h). While the attempt's perform runs, or after it until the next one;
 * allowed inside callbacks. No allocation.
 */

#include <stdbool.h>

#include "engine/facts.h"
#include "interpose/handle/handle.h"
#include "interpose/parts/sends.h"

/* Fills in what the attempt at hand did so far. */
void facts_ask(const struct handle *handle, const struct sends *sends, struct engine_facts *facts);

/*
 * Whether the attempt at hand spoke HTTP(S) to the end. Both are asked, since neither tells all: the URL that it ended
 * at, because the protocol that libcurl gives (7.52 and later) is that of the last connection that was made, and none
 * was to a host that refused it; and the protocol, because a URL's may be a guess.
 */
bool facts_spoke_http(const struct handle *handle);

/*
 * Once the attempt is over: counts the connections that it may have left for later ones, and the sends that nobody
 * counted.
 */
void facts_note_kept(struct handle *handle, struct sends *sends);

/* The same for a perform that isn't asked, or that never came back: nobody knows what it leaves. */
void facts_note_unknown(struct handle *handle);

#endif
