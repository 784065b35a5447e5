/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_CHECK_PRINT_H
#define TENACURL_CLI_CHECK_PRINT_H

#include "cli/check/report.h"

/* Both return false if standard output can't be written to. */
bool check_print_text(const struct check_report *report);
bool check_print_json(const struct check_report *report);

#endif
