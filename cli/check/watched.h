/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_CHECK_WATCHED_H
#define TENACURL_CLI_CHECK_WATCHED_H

#include "cli/check/report.h"
#include "cli/check/watch_file.h"

/*
 * Puts what was seen in the place of what was predicted: the report's uses become the calls of the log, and its reason
 * stays only if there was none. Returns false without memory.
 */
bool check_report_watched(const struct watch_log *log, struct check_report *report);

#endif
