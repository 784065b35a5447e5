/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_PROBE_H
#define TENACURL_BASE_PROBE_H

/*
 * Hosts that are asked to find out where one is: a cloud's metadata service, and whatever else has a link-local
 * address. That nobody answers there is an answer, and programs wait for it at their start. Pure; any context.
 */

#include <stdbool.h>

#include "base/url.h"

/*
 * Whether the URL's host is such a one, by its address or by a name that clouds give it, and host_glob (NULL: none), by
 * which its section of the policy was chosen, isn't about it: "169.254.*", "metadata.google.*" and "metadata" are, "*"
 * and "*.internal" aren't.
 */
bool probe_is_made_once(const struct url *url, const char *host_glob);

#endif
