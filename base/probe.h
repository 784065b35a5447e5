/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_PROBE_H
#define TENACURL_BASE_PROBE_H

/*
 * Hosts that are asked to find out where one is: a cloud's metadata service, and whatever else has a link-local
 * address. That nobody answers there is an answer, and programs wait for it at their start. Pure; any context.
 */

#include <stdbool.h>

#include "base/url.h"

/* Whether the URL's host is such a one: by its address, or by a name that clouds give it. */
bool probe_is_asked(const struct url *url);

/*
 * Whether a pattern of `match` (its host glob) is about one host or network by name: "169.254.*", "metadata.google.*"
 * and "metadata" are, "*" and "*.internal" aren't.
 */
bool probe_is_named(const char *host_glob);

#endif
