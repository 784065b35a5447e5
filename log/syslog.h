/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_LOG_SYSLOG_H
#define TENACURL_LOG_SYSLOG_H

#include <stdbool.h>
#include <stddef.h>

/* A message longer than this is cut: what syslog daemons take in one datagram by default. */
#define LOG_SYSLOG_BYTES_MAX 8000

/*
 * Sends one message in the format of RFC 3164 to the datagram socket at socket_path: facility user, tag "tenacurl" and
 * the pid, the time in UTC (daemons use their own for local messages). A line end at the end of text is left out; text
 * is not owned and need not be terminated.
 *
 * Opens, sends, closes; never blocks; raises no signal. Returns false if nobody took the message. May change errno.
 * Any thread; async-signal-safe.
 */
bool log_send_datagram(const char *socket_path, int severity, const char *text, size_t text_bytes);

#endif
