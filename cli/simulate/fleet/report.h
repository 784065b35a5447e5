/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SIMULATE_FLEET_REPORT_H
#define TENACURL_CLI_SIMULATE_FLEET_REPORT_H

/* The results of a fleet's simulation for people, for programs, and as a picture. */

#include <stdio.h>

#include "cli/simulate/fleet/run.h"

/* Prints a table, a column per policy. results: one per enum fleet_policy. Errors stay on the stream. */
void fleet_print_table(FILE *stream, const struct fleet_scenario *scenario, const struct fleet_result *results);

/* Prints one JSON object: the scenario, and per policy its numbers and what happened in each span. */
bool fleet_print_json(FILE *stream, const struct fleet_scenario *scenario, const struct fleet_result *results);

/* Draws the load on the server and the operations that succeed over time, a line per policy. SVG 1.1. */
void fleet_draw_svg(FILE *stream, const struct fleet_scenario *scenario, const struct fleet_result *results);

#endif
