/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_CALLBACKS_H
#define TENACURL_INTERPOSE_CALLBACKS_H

/*
 * What is lent to libcurl in place of the program's callbacks. Without an operation each is what the program set.
 *
 * The prereq function counts what really goes out. libcurl (7.80 and later) calls it before each request that it sends,
 * its own silent resends on a reused connection that had died included (lib/transfer.c, Curl_retry_request). A call
 * without a response header since the last one is such a resend: it counts as an attempt does, and the policy's
 * `resend = forbid` ends the attempt there.
 */

#include "interpose/handle/handle.h"

extern const struct lendings callbacks;

#endif
