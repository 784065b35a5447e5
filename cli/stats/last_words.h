/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_STATS_LAST_WORDS_H
#define TENACURL_CLI_STATS_LAST_WORDS_H

/* The engine's words as sentences for people. */

#include "engine/engine.h"
#include "state/flight.h"

/* "the connection was refused or couldn't be made", to follow "failed: ". Never NULL. Pure. */
const char *last_failure_text(enum engine_class failure);

/* Why it ended, as a whole sentence. Never NULL. Pure. */
const char *last_reason_text(enum engine_reason reason);

/* "curl was told to --retry": why it was left to its caller. Never NULL. Pure. */
const char *last_evidence_text(enum state_evidence evidence);

/* "curl", for programs. Never NULL. Pure. */
const char *last_evidence_name(enum state_evidence evidence);

#endif
