/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_STATS_LOST_RECORDS_H
#define TENACURL_CLI_STATS_LOST_RECORDS_H

/* What the state counts of log records that no sink took. */

#include <stdint.h>
#include <stdio.h>

/* Prints a line about `count` of them, of this user (NULL: one's own); nothing for 0. */
void lost_records_print(FILE *out, uint64_t count, const char *user);

/* Prints one about the caller's own, if there is a state that can be read. */
void lost_records_print_own(FILE *out);

#endif
