/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_LAST_WORDS_H
#define TENACURL_CLI_LAST_WORDS_H

/* The engine's words as sentences for people. */

#include "engine/engine.h"

/* "the connection was refused or couldn't be made", to follow "failed: ". Never NULL. Pure. */
const char *last_failure_text(enum engine_class failure);

/* Why it ended, as a whole sentence. Never NULL. Pure. */
const char *last_reason_text(enum engine_reason reason);

#endif
