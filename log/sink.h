/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_LOG_SINK_H
#define TENACURL_LOG_SINK_H

/*
 * Where records go. Every write opens, writes once and closes: the host program may close any descriptor it didn't open
 * itself, and reuse the number. Nothing here blocks on a full disk or a slow reader, raises a signal, or leaves one
 * blocked.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/policy.h"
#include "log/stderr.h"

#define LOG_SYSLOG_SOCKET "/dev/log"

/*
 * Writes `line` (whole, newline included) to the sink that the rules name. Returns false if it was not written: the
 * caller counts it as lost. Files are created with mode 0600, must be regular and are opened
 * O_APPEND|O_CLOEXEC|O_NOFOLLOW|O_NONBLOCK; %u in their path stands for the effective user id; a write that would pass
 * RLIMIT_FSIZE is skipped. Syslog gets its own datagram. errno is kept; allocates only to
 * expand a path with %u; any thread, with 2 KiB of stack left.
 */
bool log_write(const struct policy_rules *rules, const struct log_stderr_identity *identity, const char *line,
               size_t line_bytes);

/* Writes the path of a log file with the effective user id for each %u. Returns false if it doesn't fit. errno is kept.
 */
bool log_expand_path(const char *pattern, char *out, size_t out_bytes);

/*
 * Sends one line to syslog (facility user, the given severity 0..7), tag "tenacurl". For the few words tenacurl has to
 * say when there is no policy to name a log. Returns false if nobody took it. errno is kept.
 */
bool log_syslog(int severity, const char *text, size_t text_bytes);

#endif
