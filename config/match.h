/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_MATCH_H
#define TENACURL_CONFIG_MATCH_H

/* Patterns of `match`: [scheme://]host-glob[:port][/path-glob]. */

#include <stdbool.h>
#include <stddef.h>

#include "base/url.h"
#include "config/arena.h"
#include "config/policy.h"

/*
 * Takes a pattern apart. In globs "*" stands for any run of bytes, "/" included, and "?" for one byte; nothing else is
 * special. Hosts fold case; addresses are compared as such, an IPv6 literal stands in brackets. Texts are copied into
 * `arena`. Returns false with *wrong set to what is wrong with the pattern (static), or NULL without memory.
 */
bool match_parse(const char *pattern, struct arena *arena, struct policy_match *match, const char **wrong);

/* Whether the glob fits the whole of the text. Pure, no allocation, at most pattern bytes times text bytes steps. */
bool match_glob(const char *glob, const char *text, size_t text_length);

/* Whether the pattern fits the URL. Pure, no allocation. */
bool match_url(const struct policy_match *match, const struct url *url);

#endif
