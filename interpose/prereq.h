/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_PREREQ_H
#define TENACURL_INTERPOSE_PREREQ_H

/*
 * Counts what really goes out. libcurl (7.80 and later) calls the prereq function before each request that it sends,
 * its own silent resends on a reused connection that had died included (lib/transfer.c, Curl_retry_request). A call
 * without a response header since the last one is such a resend: it counts as an attempt does, and the policy's
 * `resend = forbid` ends the attempt there.
 *
 * `data` is the struct handle. The program's own prereq function is called as it would be without us.
 */
int prereq_callback(void *data, char *remote_address, char *local_address, int remote_port, int local_port);

#endif
