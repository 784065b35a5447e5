/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BUDGET_TABLE_H
#define TENACURL_INTERPOSE_BUDGET_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "config/policy.h"

/*
 * The retry budgets of this process, one per origin and policy section. Lock-free; a bucket comes into being with the
 * first retry, so a process in which nothing fails never touches the table. When the table is full further origins
 * share one bucket.
 */

/* Takes a token for a retry of `url`. Returns false if the budget is empty. */
bool budget_table_take(const char *url, const struct policy_section *section, int64_t now_ms);

/* Gives back what a success earns. */
void budget_table_give(const char *url, const struct policy_section *section);

#endif
