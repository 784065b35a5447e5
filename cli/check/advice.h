/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_CHECK_ADVICE_H
#define TENACURL_CLI_CHECK_ADVICE_H

#include <stdbool.h>

#include "cli/check/report.h"

/* Whether what the reason says of a running process is cured by lines in its service's unit. */
bool check_advice_is_for(const struct check_report *report, enum check_reason reason);

/* Prints those lines to standard output; nothing if the object can't be found. */
void check_print_advice(const struct check_report *report, enum check_reason reason);

#endif
