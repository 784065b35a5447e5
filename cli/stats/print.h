/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_STATS_PRINT_H
#define TENACURL_CLI_STATS_PRINT_H

/* The numbers of `tenacurl stats`: for people, as JSON, for Prometheus. */

#include <stdbool.h>
#include <stdio.h>

#include "cli/stats/gather.h"

/* Prints a table for people. Errors stay on the stream, also below. */
void stats_print_table(FILE *out, const struct stats *stats);

/* Prints one JSON object. Returns false without memory. */
bool stats_print_json(FILE *out, const struct stats *stats);

/* The same of --owners: whose retries they are, and how many operations were left to them. */
void owners_print_table(FILE *out, const struct stats *stats);
bool owners_print_json(FILE *out, const struct stats *stats);

/* Prints the text exposition format 0.0.4 of Prometheus. */
void stats_print_prometheus(FILE *out, const struct stats *stats);

#endif
